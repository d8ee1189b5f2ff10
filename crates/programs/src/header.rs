//! The comment at the top of a program: its purpose, how to build and run it, and which failures it handles.

use crate::Language;
use crate::admission::Admission;
use crate::mechanisms::Recipe;
use furlong_model::{Pattern, Wait};

/// Maximum bytes of the short message of a request.
pub(crate) const REQUEST_BYTES: usize = 8;

/// Columns of a program's comment, without its marks.
const WIDTH: usize = 96;

/// The properties of a program that its comment describes.
pub(crate) struct HeaderFacts<'a> {
    pub mechanism: &'a str,
    pub wait: Wait,
    pub pattern: Pattern,
    pub size_bytes: usize,
    pub admission: Admission<'a>,
    pub language: Language,
    pub recipe: &'a Recipe,
    pub build: Option<&'a str>,
    pub run: &'a [String],
}

/// Returns the words of `text` in lines. Continuation lines are indented by the length of `label`.
fn wrapped(label: &str, text: &str) -> Vec<String> {
    let mut lines = vec![label.to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last_mut();
        match last {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                if !line.ends_with(' ') && !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(" ".repeat(label.chars().count()) + word),
        }
    }
    lines
}

impl HeaderFacts<'_> {
    fn what(&self) -> String {
        let messages = self.pattern.exchanged(self.size_bytes, REQUEST_BYTES.min(self.size_bytes));
        format!("{}/{}: {}; {messages}.", self.mechanism, self.wait, self.recipe.is)
    }

    fn handles(&self) -> String {
        let recipe = self.recipe;
        let has_patience = recipe.has("sockets") || recipe.has("library");
        let mut handled = vec![match (has_patience, recipe.has("memory") || recipe.has("meets")) {
            (_, true) => "a peer that dies or stays silent (its end is seen on a socket)",
            (true, _) => "a peer that dies or stays silent",
            _ => "a peer that dies",
        }];
        if recipe.has("roles") {
            handled.push("either end started first");
        }
        if recipe.has("cleans") || self.admission.meeting_folder() {
            handled.push(
                "stale names of a killed run, and the removal of its names at the end, on an error and on a signal",
            );
        }
        if !recipe.has("memory") {
            handled.push("interrupted calls");
        }
        if !recipe.has("boundaries") && !recipe.has("memory") && !recipe.has("meets") {
            handled.push("partial reads and writes");
        }
        handled.push("corrupted messages");
        handled.join(", ") + "."
    }

    fn leaves(&self) -> String {
        let mut left = vec!["more than one peer at a time", "what your messages mean"];
        if self.wait == Wait::Spin {
            left.push("a CPU for each end, which busy-waits");
        }
        if self.recipe.has("memory") {
            left.push("more than one message in flight (a ring of slots)");
        }
        left.join(", ") + "."
    }

    fn needs(&self) -> &'static str {
        match (self.language, self.wait) {
            (Language::C, _) => "Linux and the GNU C library",
            (Language::Rust, _) => "Linux with the GNU C library 2.34 (x86-64 or AArch64), Rust 1.84",
            (Language::Python, Wait::Eventfd) => "Linux, Python 3.10 (os.eventfd)",
            (Language::Python, _) => "Linux, Python 3.9",
        }
    }

    fn how_to_run(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.run.iter().map(|run| format!("        {run} [COUNT]")).collect();
        lines[0].replace_range(..8, "Run:    ");
        if self.recipe.has("roles") {
            let has_name = ["cleans", "meets", "library"].iter().any(|name| self.recipe.has(name));
            let variable = match has_name {
                true => "PAIR_NAME in the environment names the pair; set it for more than one pair.",
                false => "PAIR_PORT in the environment is the port; set it for more than one pair.",
            };
            let hint = "in two terminals, in any order, with the same COUNT of messages (10).";
            lines.extend([format!("        {hint}"), format!("        {variable}")]);
            let meanings = self.admission.meanings();
            lines.extend(meanings.iter().map(|meaning| format!("        {meaning}")));
        } else {
            lines.push("        It starts both ends. COUNT is the number of messages (10).".to_owned());
        }
        if self.admission.lets_in().is_none() {
            let server = if self.run.len() == 1 { " --program ''" } else { "" };
            let programs = self.run.iter().map(|run| format!(" --program '{run} COUNT'"));
            lines.push(format!("Time:   furlong run{server}{}", programs.collect::<String>()));
        }
        lines
    }

    /// Returns the lines of the comment, without comment marks.
    fn lines(&self) -> Vec<String> {
        let mut lines = wrapped("", &self.what());
        lines.push(String::new());
        let build = self.build.map_or_else(String::new, |build| format!("Build:  {build}"));
        lines.extend(build.lines().map(str::to_owned));
        lines.extend(self.how_to_run());
        lines.push(String::new());
        lines.extend(wrapped("Handles: ", &self.handles()));
        if let Some(who) = self.admission.lets_in() {
            lines.extend(wrapped("Lets in: ", who));
        }
        lines.extend(wrapped("Left to you: ", &self.leaves()));
        lines.extend(wrapped("Limits: ", &self.recipe.limits));
        lines.push(format!("Needs: {}.", self.needs()));
        if self.recipe.has("library") {
            let package = if self.language == Language::C { "furlong-channel-c" } else { "furlong-channel" };
            let how = format!(
                "{package}, not published yet. FURLONG in the environment is a checkout of furlong, in which you \
                 have run 'cargo build --release -p {package}'."
            );
            lines.extend(wrapped("Library: ", &how));
        }
        lines
    }

    /// Returns the comment.
    pub(crate) fn text(&self) -> String {
        let (open, mark, close) = match self.language {
            Language::C => ("/*\n", " * ", "\n */"),
            Language::Rust => ("", "//! ", ""),
            Language::Python => ("#!/usr/bin/env python3\n", "# ", ""),
        };
        let lines: Vec<_> =
            self.lines().iter().map(|line| format!("{mark}{line}").trim_end().to_owned()).collect();
        format!("{open}{}{close}", lines.join("\n"))
    }
}
