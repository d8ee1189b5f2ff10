//! The parts of each mechanism's programs: `templates/mechanisms.toml`, read once.

use crate::{Language, NoProgram};
use furlong_model::{Links, Pattern, Wait, format_bytes};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The entry of one mechanism in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Recipe {
    /// A description of the mechanism, for the first line of the program.
    pub is: String,
    /// The template file in the directory of each language.
    pub template: String,
    /// The properties that the templates query.
    pub traits: Vec<String>,
    c: Vec<String>,
    rust: Vec<String>,
    python: Vec<String>,
    /// The limits of the mechanism on a machine.
    pub limits: String,
    /// Whether the mechanism only notifies and carries no data.
    no_data: bool,
    /// The reason why there is no program in any language, and a close alternative.
    none: Option<String>,
    /// The reason why a stream of messages makes no sense.
    drops: Option<String>,
    max_bytes: Option<usize>,
    max_why: String,
    /// The reason why a program is missing, and a close alternative, by wait strategy or by language.
    instead: BTreeMap<String, String>,
}

static RECIPES: LazyLock<BTreeMap<String, Recipe>> = LazyLock::new(|| {
    // A test reads the same bytes, so this cannot fail at run time.
    toml::from_str(include_str!("../templates/mechanisms.toml")).unwrap_or_default()
});

/// Bytes of the largest message, because a program stores a whole message in a private buffer.
const LARGEST_BYTES: usize = 1 << 30;

/// Returns every recipe with its mechanism.
pub(crate) fn recipes() -> impl Iterator<Item = (&'static str, &'static Recipe)> {
    RECIPES.iter().map(|(name, recipe)| (name.as_str(), recipe))
}

impl Recipe {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.traits.iter().any(|known| known == name)
    }

    /// Returns the wait strategies for which there is a program in `language`.
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

/// Returns the recipe of a program.
///
/// # Errors
/// Returns the reason and a close alternative if there is no such program.
pub(crate) fn recipe(
    mechanism: &str,
    wait: Wait,
    pattern: Pattern,
    size_bytes: usize,
    language: Language,
) -> Result<&'static Recipe, NoProgram> {
    let no = |why: String| Err(NoProgram::new(why));
    let Some(recipe) = RECIPES.get(mechanism) else {
        return no(format!("there is no program for {mechanism}"));
    };
    if recipe.no_data {
        return no(format!("{mechanism} carries no data: it only wakes a process"));
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
            false => format!("there are programs for {mechanism} with {known}, but not with {wait}"),
        });
    }
    match pattern.facts().links {
        Links::PerMessage => {
            return no("programs are printed for a persistent link; use round-trip".into());
        }
        Links::Watched => return no("programs are printed for one link; use round-trip".into()),
        Links::Shared => {
            return no("programs are printed for one sender and one receiver; use one-way".into());
        }
        Links::PerParty => {}
    }
    if let (true, Some(why)) = (pattern.is_stream(), &recipe.drops) {
        return no(why.clone());
    }
    if size_bytes == 0 {
        return no("a message of 0 bytes carries nothing that could be verified; use 1 byte or more".into());
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
