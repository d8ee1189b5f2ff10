//! `furlong adapter new`: an adapter that works, to be changed into another.

use super::install::{build, missing};
use crate::arguments::AdapterNewOptions;
use crate::output;
use anyhow::Context;
use furlong_adapter_files::{Manifest, manifest, sources};
use furlong_bench::registry;
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing::NewFiles;
use std::path::Path;

/// Writes it into a new folder of its name.
pub fn new(options: &AdapterNewOptions) -> anyhow::Result<Outcome> {
    let AdapterNewOptions { lang, name } = options;
    let lang = if lang == "c++" { "cxx" } else { lang };
    let languages = sources::languages();
    if !languages.contains(&lang) {
        let why = format!("there is no template in '{lang}'; there are {}", languages.join(", "));
        return Err(Usage(why).into());
    }
    if !manifest::is_name(name) {
        let why = "a name has lower-case letters, digits and hyphens, and begins with a letter";
        return Err(Usage(format!("'{name}' is no name of an adapter: {why}")).into());
    }
    if registry().iter().any(|entry| entry.capabilities.name == name) {
        let why =
            "a mechanism of furlong has this name, and tables name mechanisms alone: choose another name";
        return Err(Usage(format!("'{name}': {why}")).into());
    }
    let folder = Path::new(name);
    if folder.exists() {
        return Err(Usage(format!("{name} is there already: choose another name")).into());
    }
    let mut made = NewFiles::default();
    made.note(folder.to_owned());
    sources::write_template(lang, name, folder).with_context(|| format!("write into {name}"))?;
    let manifest = Manifest::read(folder)?;
    let commands = manifest.build.iter().map(|command| command.join(" ")).collect::<Vec<_>>().join(" && ");
    let after = match missing(&manifest) {
        Some(missing) if commands.is_empty() => format!("It needs {missing}.\n"),
        Some(missing) => format!("It needs {missing}. Then, in its folder: {commands}\n"),
        None => {
            build(&manifest, &manifest.folder)?;
            if commands.is_empty() {
                String::new()
            } else {
                format!("After a change, in its folder: {commands}\n")
            }
        }
    };
    made.keep();
    output::print(&format!(
        "{name}: an adapter in {lang}, which sends messages through a UNIX socket\n{after}\n\
Next: furlong adapter check ./{name}         does it do what it claims?
      furlong run --adapter ./{name} pipe    its row beside a pipe\n"
    ))?;
    Ok(Outcome::Done)
}
