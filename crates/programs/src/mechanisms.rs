//! What each mechanism's programs are made of: `templates/mechanisms.toml`, read once.

use crate::{Language, NoProgram};
use furlong_model::{Links, Pattern, Wait, format_bytes};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One mechanism's part of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Recipe {
    /// What it is, for the program's first line.
    pub is: String,
    /// The file of templates, in each language's folder.
    pub template: String,
    /// What the templates ask about.
    pub traits: Vec<String>,
    c: Vec<String>,
    rust: Vec<String>,
    python: Vec<String>,
    /// What bounds it on a machine.
    pub limits: String,
    /// It is a bare notification.
    no_data: bool,
    /// Why there is none in any language, and what is near.
    none: Option<String>,
    /// Why a stream of messages makes no sense.
    drops: Option<String>,
    max_bytes: Option<usize>,
    max_why: String,
    /// Why something is missing and what is near, by wait or by language.
    instead: BTreeMap<String, String>,
}

static RECIPES: LazyLock<BTreeMap<String, Recipe>> = LazyLock::new(|| {
    // A test reads the same bytes: it is not the world that could make this fail.
    toml::from_str(include_str!("../templates/mechanisms.toml")).unwrap_or_default()
});

/// The largest message that a program holds in a buffer of its own.
const LARGEST_BYTES: usize = 1 << 30;

/// Every recipe, by mechanism.
pub(crate) fn recipes() -> impl Iterator<Item = (&'static str, &'static Recipe)> {
    RECIPES.iter().map(|(name, recipe)| (name.as_str(), recipe))
}

impl Recipe {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.traits.iter().any(|known| known == name)
    }

    /// The waits of which there is a program in `language`.
    pub(crate) fn waits(&self, language: Language) -> impl Iterator<Item = Wait> {
        let names = match language {
            Language::C => &self.c,
            Language::Rust => &self.rust,
            Language::Python => &self.python,
        };
        names.iter().filter_map(|name| name.parse().ok())
    }

    fn waits_text(&self, language: Language) -> String {
        self.waits(language).map(Wait::name).collect::<Vec<_>>().join(", ")
    }
}

/// The recipe of a program that there is.
///
/// # Errors
/// Why there is none, and what is near.
pub(crate) fn recipe(
    mechanism: &str,
    wait: Wait,
    pattern: Pattern,
    size_bytes: usize,
    language: Language,
) -> Result<&'static Recipe, NoProgram> {
    let no = |why: String| Err(NoProgram::new(why));
    let Some(recipe) = RECIPES.get(mechanism) else {
        return no(format!("nobody has written a program for {mechanism}"));
    };
    if recipe.no_data {
        return no(format!("{mechanism} carries no data: it is a wake-up for what lies elsewhere"));
    }
    if let Some(why) = &recipe.none {
        return no(why.clone());
    }
    if !recipe.waits(language).any(|known| known == wait) {
        if let Some(why) = recipe.instead.get(wait.name()).or_else(|| recipe.instead.get(language.name())) {
            return no(why.clone());
        }
        let known = recipe.waits_text(language);
        let elsewhere = recipe.waits(Language::C).any(|known| known == wait);
        return no(match elsewhere {
            true => format!(
                "{} has no {wait}: it has no atomic access to shared memory; {mechanism} works there with {known}",
                language.title()
            ),
            false => format!("there are programs for {mechanism} with {known}, and not with {wait}"),
        });
    }
    match pattern.facts().links {
        Links::PerMessage => {
            return no("programs are printed for a link that lasts; ask for round-trip".into());
        }
        Links::Watched => return no("programs are printed for one link; ask for round-trip".into()),
        Links::Shared => {
            return no("programs are printed for one sender and one receiver; ask for one-way".into());
        }
        Links::PerParty => {}
    }
    if let (true, Some(why)) = (pattern.is_stream(), &recipe.drops) {
        return no(why.clone());
    }
    if size_bytes == 0 {
        return no(
            "a message of 0 bytes carries nothing that could be verified; ask for 1 byte or more".into()
        );
    }
    if let Some(max) = recipe.max_bytes.filter(|max| size_bytes > *max) {
        return no(format!(
            "{} is more than {}: {}",
            format_bytes(size_bytes),
            format_bytes(max),
            recipe.max_why
        ));
    }
    if size_bytes > LARGEST_BYTES {
        return no(format!(
            "a program holds one message in memory as a whole, up to {}; send {} in parts",
            format_bytes(LARGEST_BYTES),
            format_bytes(size_bytes)
        ));
    }
    Ok(recipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_understood_and_every_wait_is_one() {
        let read: Result<BTreeMap<String, Recipe>, _> =
            toml::from_str(include_str!("../templates/mechanisms.toml"));
        for (name, recipe) in read.unwrap() {
            for (language, names) in
                [(Language::C, &recipe.c), (Language::Rust, &recipe.rust), (Language::Python, &recipe.python)]
            {
                assert_eq!(recipe.waits(language).count(), names.len(), "{name} in {language}");
            }
            let somewhere = Language::ALL.iter().any(|language| recipe.waits(*language).count() > 0);
            let nowhere = recipe.no_data || recipe.none.is_some();
            assert!(nowhere != somewhere, "{name} carries no data, has a reason, or has a program");
        }
    }
}
