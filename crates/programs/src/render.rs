//! Renders the templates to the text of a program.

use crate::admission::Admission;
use crate::header::{HeaderFacts, REQUEST_BYTES};
use crate::mechanisms::Recipe;
use crate::{EndBoundaries, Language, NoProgram, Program, pieces};
use furlong_model::{Pattern, Wait};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The template files, under the names with which they include each other.
macro_rules! templates {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../templates/", $path, ".jinja")))),*]
    };
}

static TEMPLATES: &[(&str, &str)] = &templates![
    "c/base.c",
    "c/choose_paths.c",
    "c/fifo.c",
    "c/folder.c",
    "c/helpers.c",
    "c/library.c",
    "c/memory.c",
    "c/messages.c",
    "c/pages.c",
    "c/pair.c",
    "c/posix_queue.c",
    "c/socket.c",
    "c/stream.c",
    "c/sysv_queue.c",
    "python/base.py",
    "python/fifo.py",
    "python/helpers.py",
    "python/memory.py",
    "python/messages.py",
    "python/pages.py",
    "python/pair.py",
    "python/posix_queue.py",
    "python/socket.py",
    "python/stream.py",
    "python/sysv_queue.py",
    "rust/base.rs",
    "rust/fifo.rs",
    "rust/folder.rs",
    "rust/helpers.rs",
    "rust/library.rs",
    "rust/memory.rs",
    "rust/messages.rs",
    "rust/pages.rs",
    "rust/pair.rs",
    "rust/posix_queue.rs",
    "rust/socket.rs",
    "rust/stream.rs",
    "rust/sysv_queue.rs",
];

static ENVIRONMENT: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    // A property that a mechanism lacks is false. Printing an undefined variable is an error.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
});

/// Maximum total bytes of the messages in a POSIX queue, and maximum number of messages, because the queues of a user
/// share a limit.
const QUEUE_BYTES: usize = 128 << 10;
const QUEUE_DEPTH: usize = 8;

/// Compiler options for furlong-channel in the checkout that FURLONG names, and for its dependencies.
const C_LIBRARY: &str = " \\
        -I$FURLONG/crates/channel-c/include $FURLONG/target/release/libfurlong_channel_c.a -lgcc_s -lm";
const RUST_LIBRARY: &str = " -C panic=abort \\
        --extern furlong_channel=$FURLONG/target/release/libfurlong_channel.rlib -L $FURLONG/target/release/deps";

/// Returns the variables of the templates.
fn context(
    mechanism: &str,
    wait: Wait,
    pattern: Pattern,
    size_bytes: usize,
    admission: Admission,
) -> BTreeMap<String, Value> {
    let recipe = admission.recipe;
    let one_way = pattern.is_stream();
    let request = pattern.has_requests();
    let words =
        if one_way { ["receive", "send", "receive", "send_all"] } else { ["serve", "ask", "serve", "ask"] };
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    let mut say = |name: &str, value: Value| known.insert(name.to_owned(), value);
    recipe.traits.iter().for_each(|name| drop(say(name, true.into())));
    say("mechanism", mechanism.into());
    if admission.between.apart() {
        say("apart", true.into());
        say("two_folders", admission.two_folders().into());
        if admission.meeting_folder() {
            say("meeting_folder", true.into());
            say("cleans", true.into());
        }
        // An object with a descriptor is passed to the authenticated peer, so it needs no name.
        if recipe.has("object") {
            say("passes", true.into());
        }
    }
    say(if wait == Wait::PosixSemaphore { "semaphore" } else { wait.name() }, true.into());
    say("one_way", one_way.into());
    say("request", request.into());
    say("message_bytes", size_bytes.into());
    say("request_bytes", REQUEST_BYTES.min(size_bytes).into());
    say("request_name", if request { "REQUEST_BYTES" } else { "MESSAGE_BYTES" }.into());
    // A datagram that exceeds the buffer is truncated, so one additional byte detects it.
    say("room", if recipe.has("boundaries") { "MESSAGE_BYTES + 1" } else { "MESSAGE_BYTES" }.into());
    say("depth", (QUEUE_BYTES / size_bytes).clamp(1, QUEUE_DEPTH).into());
    for (name, word) in ["first", "second", "serve_function", "ask_function"].into_iter().zip(words) {
        say(name, word.into());
    }
    known
}

/// Returns the commands that build and run a program with this text.
fn commands(
    text: &str,
    pattern: Pattern,
    language: Language,
    admission: Admission,
) -> (Option<String>, Vec<String>) {
    let build = match language {
        Language::C => {
            // `-pthread` is for semaphores, `-lrt` for C libraries before glibc 2.34.
            let threads = if pieces::mentions(text, "sem_init(") { " -pthread" } else { "" };
            let realtime = ["mq_open(", "shm_open("].iter().any(|call| pieces::mentions(text, call));
            let realtime = if realtime { " -lrt" } else { "" };
            let library = if admission.recipe.has("library") { C_LIBRARY } else { "" };
            Some(format!("cc -std=c11 -O2 -Wall -Wextra{threads} pair.c -o pair{realtime}{library}"))
        }
        Language::Rust => {
            let library = if admission.recipe.has("library") { RUST_LIBRARY } else { "" };
            Some(format!("rustc --edition 2021 -O pair.rs{library}"))
        }
        Language::Python => None,
    };
    let program = if language == Language::Python { "python3 pair.py" } else { "./pair" };
    let start = format!("{}{program}", admission.variables());
    let roles: &[&str] = match (admission.recipe.has("roles"), pattern.is_stream()) {
        (false, _) => &[],
        (true, true) => &[" receive", " send"],
        (true, false) => &[" serve", " ask"],
    };
    let run = match roles {
        [] => vec![start],
        roles => roles.iter().map(|role| format!("{start}{role}")).collect(),
    };
    (build, run)
}

/// Returns the program of a recipe.
pub(crate) fn render(
    mechanism: &str,
    wait: Wait,
    pattern: Pattern,
    size_bytes: usize,
    between: EndBoundaries,
    language: Language,
    recipe: &Recipe,
) -> Result<Program, NoProgram> {
    let broken = |error: &dyn std::fmt::Display| {
        NoProgram::new(format!("the templates of {mechanism} in {} are broken: {error}", language.title()))
    };
    let environment = ENVIRONMENT.as_ref().map_err(|error| broken(error))?;
    let admission = Admission { between, recipe };
    let context = context(mechanism, wait, pattern, size_bytes, admission);
    let (folder, ending) = (language.name(), language.ending());
    let file = |name: &str| {
        let template = environment.get_template(&format!("{folder}/{name}.{ending}"));
        template.and_then(|template| template.render(&context)).map_err(|error| broken(&format!("{error:#}")))
    };
    let body = file(&recipe.template)?;
    let helpers = pieces::used(&file("helpers")?, &body);
    let (build, run) = commands(&body, pattern, language, admission);
    let about = HeaderFacts {
        mechanism,
        wait,
        pattern,
        size_bytes,
        admission,
        language,
        recipe,
        build: build.as_deref(),
        run: &run,
    };
    let gap = if language == Language::Python { 2 } else { 1 };
    let body = body.replace("@helpers@", &helpers.join(&"\n".repeat(gap + 1)));
    let text = with_imports(&body, language).replace("@header@", &about.text());
    let text = pieces::tidied(&text, gap);
    Ok(Program { text, file_name: language.file_name(), build, run, lets_in: admission.lets_in() })
}

/// Adds the declarations and imports that the language requires.
fn with_imports(text: &str, language: Language) -> String {
    match language {
        Language::C => {
            let headers = pieces::named(include_str!("../templates/c/includes.txt"), text);
            let lines: Vec<_> = headers.iter().map(|header| format!("#include <{header}>")).collect();
            text.replace("@includes@", &lines.join("\n"))
        }
        Language::Rust => {
            let functions =
                pieces::used(include_str!("../templates/rust/functions.rs.jinja"), text).join("\n");
            let items =
                pieces::used(include_str!("../templates/rust/items.rs.jinja"), &format!("{functions}{text}"));
            // A blank line goes before an item with a doc comment.
            let spaced =
                |item: &String| if item.starts_with("    ///") { format!("\n{item}") } else { item.clone() };
            let items: Vec<_> = items.iter().map(spaced).collect();
            let foreign = foreign_module(&items.join("\n"), &functions);
            let known = pieces::named(include_str!("../templates/rust/uses.txt"), text);
            text.replace("@foreign@", &foreign).replace("@uses@", &uses(&known))
        }
        Language::Python => {
            let modules = pieces::named(include_str!("../templates/python/imports.txt"), text);
            let lines: Vec<_> = modules.iter().map(|module| format!("import {module}")).collect();
            text.replace("@imports@", &lines.join("\n"))
        }
    }
}

/// Returns the module with the declarations of the C library; empty if the program uses none.
fn foreign_module(items: &str, functions: &str) -> String {
    if items.is_empty() && functions.is_empty() {
        return String::new();
    }
    let functions = match functions {
        "" => String::new(),
        functions => format!("\n\n    unsafe extern \"C\" {{\n{functions}\n    }}"),
    };
    let types = ["c_char", "c_int", "c_long", "c_uint", "c_ulong", "c_void"];
    let all = format!("{items}{functions}");
    let used: Vec<_> = types.into_iter().filter(|name| pieces::mentions(&all, name)).collect();
    let used = match used.as_slice() {
        [] => String::new(),
        [one] => format!("    use std::ffi::{one};\n\n"),
        several => format!("    use std::ffi::{{{}}};\n\n", several.join(", ")),
    };
    format!(
        "/// The C library's own, as it is on x86-64 and AArch64, so that this file needs nothing but rustc.\n\
         mod c {{\n{used}{items}{functions}\n}}"
    )
}

/// Returns the `use` lines of these sorted paths, one per module.
fn uses(paths: &[&str]) -> String {
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (module, name) in paths.iter().filter_map(|path| path.rsplit_once("::")) {
        modules.entry(module).or_default().push(name);
    }
    // A module that is imported together with one of its items is `self` in the line of that item.
    for path in paths.iter().filter(|path| paths.iter().any(|other| other.starts_with(&format!("{path}::"))))
    {
        if let (Some((module, name)), true) = (path.rsplit_once("::"), modules.contains_key(path)) {
            modules.entry(module).or_default().retain(|known| *known != name);
            modules.entry(path).or_default().insert(0, "self");
        }
    }
    modules.retain(|_, names| !names.is_empty());
    let line = |(module, names): (&&str, &Vec<&str>)| match names.as_slice() {
        [name] => format!("use {module}::{name};"),
        names => format!("use {module}::{{{}}};", names.join(", ")),
    };
    // Items of the library's root go last, because rustfmt sorts them so.
    let (root, others): (Vec<_>, Vec<_>) = modules.iter().partition(|(module, _)| !module.contains("::"));
    others.into_iter().chain(root).map(line).collect::<Vec<_>>().join("\n")
}
