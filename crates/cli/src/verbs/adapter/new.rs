//! `furlong adapter new`: writes a working adapter as a template.

use super::install::{build, missing};
use crate::arguments::AdapterNewOptions;
use crate::output;
use anyhow::Context;
use furlong_adapter_files::{Manifest, manifest, sources};
use furlong_bench::registry;
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing::NewFiles;
use std::path::Path;

/// Writes the template into a new directory with the adapter's name.
pub fn new(options: &AdapterNewOptions) -> anyhow::Result<Outcome> {
    let AdapterNewOptions { lang, name } = options;
    let lang = if lang == "c++" { "cxx" } else { lang };
    let languages = sources::languages();
    if !languages.contains(&lang) {
        let why = format!("no template for language '{lang}'; available: {}", languages.join(", "));
        return Err(Usage(why).into());
    }
    if !manifest::is_name(name) {
        let why = "use only lower-case letters, digits and hyphens; the first character must be a letter";
        return Err(Usage(format!("'{name}' is not a valid adapter name: {why}")).into());
    }
    if registry().iter().any(|entry| entry.capabilities.name == name) {
        let why = "a built-in mechanism has this name; choose another name";
        return Err(Usage(format!("'{name}': {why}")).into());
    }
    let folder = Path::new(name);
    if folder.exists() {
        return Err(Usage(format!("{name} already exists; choose another name")).into());
    }
    let mut made = NewFiles::default();
    made.note(folder.to_owned());
    sources::write_template(lang, name, folder).with_context(|| format!("cannot write into {name}"))?;
    let manifest = Manifest::read(folder)?;
    let commands = manifest.build.iter().map(|command| command.join(" ")).collect::<Vec<_>>().join(" && ");
    let after = match missing(&manifest) {
        Some(missing) if commands.is_empty() => format!("It requires {missing}.\n"),
        Some(missing) => {
            format!("It requires {missing}. After installing that, run in its directory: {commands}\n")
        }
        None => {
            build(&manifest, &manifest.folder)?;
            if commands.is_empty() {
                String::new()
            } else {
                format!("After each change, run in its directory: {commands}\n")
            }
        }
    };
    made.keep();
    output::print(&format!(
        "{name}: an adapter in {lang} that sends messages over a UNIX socket\n{after}\n\
Next: furlong adapter check ./{name}         test that it works as it claims
      furlong run --adapter ./{name} pipe    compare it with a pipe\n"
    ))?;
    Ok(Outcome::Done)
}
