//! `adapter.toml`: the mechanisms of an adapter, its command and its requirements.

use serde::Deserialize;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Name of the manifest file.
pub const FILE: &str = "adapter.toml";

/// Maximum size of a manifest, in bytes.
const LONGEST: u64 = 1 << 20;

/// Contents of a manifest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name of the adapter, which is also the name of its directory.
    pub name: String,
    /// Licence of the library that the adapter wraps.
    pub licence: String,
    /// Commands that must be installed.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Commands that build the adapter, in this order.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// Command that starts the adapter, followed by the arguments of the mechanism.
    pub command: Vec<String>,
    /// Whether the runtime compiles while the program runs (V8, the JVM, PyPy). If so, a trial warms up for seconds.
    #[serde(default)]
    pub compiles_while_running: bool,
    /// Mechanisms of the adapter.
    pub rows: Vec<Row>,
    /// Directory that contains the manifest.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A command that an adapter needs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Name of the command.
    pub command: String,
    /// Shell command that installs it.
    pub get: String,
}

/// One mechanism of an adapter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the mechanism.
    pub name: String,
    /// Arguments that follow the adapter's command for this mechanism.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Work of the mechanism in addition to moving bytes.
    #[serde(default)]
    pub does: Vec<String>,
    /// Expected result.
    #[serde(default)]
    pub expectation: String,
}

/// Error of a manifest that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file does not exist or cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// Path of the manifest or directory.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The manifest is not a regular file, is too long or has invalid contents.
    #[error("{path}: {what}")]
    Wrong {
        /// Path of the manifest.
        path: PathBuf,
        /// Description of the error.
        what: String,
    },
}

impl Manifest {
    /// Reads the manifest at `path`, which is the file or its directory.
    ///
    /// # Errors
    /// Returns an error with the name of the file if it cannot be read, is not a regular file, is too long or is
    /// invalid.
    pub fn read(path: &Path) -> Result<Manifest, ManifestError> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        let unreadable = |error| ManifestError::Unreadable { path: file.clone(), error };
        let wrong = |what: String| ManifestError::Wrong { path: file.clone(), what };
        let file_path = fs::canonicalize(&file).map_err(unreadable)?;
        // Reading from a FIFO may block, and a device may have no end.
        if !fs::metadata(&file_path).map_err(unreadable)?.is_file() {
            return Err(wrong("it is not a regular file".to_owned()));
        }
        let mut text = String::new();
        let opened = fs::File::open(&file_path).map_err(unreadable)?;
        opened.take(LONGEST + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > LONGEST {
            return Err(wrong(format!("it is longer than {LONGEST} bytes")));
        }
        let folder = file_path.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Manifest { folder, ..Manifest::parse(&text).map_err(wrong)? })
    }

    /// Reads the text of a manifest, without its directory.
    ///
    /// # Errors
    /// Returns the first error of the text.
    pub fn parse(text: &str) -> Result<Manifest, String> {
        let manifest: Manifest = toml::from_str(text).map_err(|error| without_excerpt(text, &error))?;
        manifest.fault().map_or(Ok(manifest), Err)
    }

    /// Returns the first error in the contents.
    fn fault(&self) -> Option<String> {
        if self.command.first().is_none_or(String::is_empty) {
            return Some(
                "`command` is empty: name the program, as in [\"python3\", \"adapter.py\"]".to_owned(),
            );
        }
        if self.rows.is_empty() {
            return Some("it has no rows".to_owned());
        }
        if self.build.iter().any(|command| command.first().is_none_or(String::is_empty)) {
            return Some("a command of `build` is empty".to_owned());
        }
        let names = self.rows.iter().map(|row| &row.name).chain([&self.name]);
        names.into_iter().find(|name| !is_name(name)).map(|name| {
            format!(
                "'{name}' is not a valid name: use lower-case letters, digits and hyphens, and begin with a letter"
            )
        })
    }

    /// Returns the path of the command that starts the adapter, if the file exists.
    pub fn program(&self) -> Option<PathBuf> {
        find_command(&self.command[0], &self.folder)
    }

    /// Returns the requirements that are not installed.
    pub fn missing(&self) -> Vec<&Need> {
        self.needs.iter().filter(|need| find_command(&need.command, &self.folder).is_none()).collect()
    }
}

/// Returns the message and the line number of a TOML error, without the excerpt, because a line may have any length.
pub fn without_excerpt(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.as_bytes().get(..span.start));
    match before.map(|before| 1 + before.iter().filter(|byte| **byte == b'\n').count()) {
        Some(line) => format!("line {line}: {}", error.message()),
        None => error.message().to_owned(),
    }
}

/// Whether the text is a valid name of a mechanism, on the command line and in a file.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Returns the path of the program for a command. A command with a slash is relative to `folder`; others are searched
/// in PATH.
pub fn find_command(command: &str, folder: &Path) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| path.is_file();
    if command.contains('/') {
        return Some(folder.join(command)).filter(is_program);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(command)).find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Manifest, ManifestError> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), text).unwrap();
        Manifest::read(folder.path())
    }

    #[test]
    fn the_manifest_of_the_page_is_read() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/protocol.md");
        let page = fs::read_to_string(page).unwrap();
        let text = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let manifest = read(text).unwrap();
        assert_eq!((manifest.name.as_str(), manifest.rows[0].name.as_str()), ("python", "python-pipe"));
        assert!(!manifest.rows[0].expectation.is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_with_the_file() {
        let rest = "licence = \"MIT\"\n[[rows]]\nname = \"x\"\n";
        for (text, what) in [
            ("", "licence"),
            (&format!("name = \"x\"\ncommand = []\n{rest}"), "`command` is empty"),
            (&format!("name = \"x\"\ncommand = [\"\"]\n{rest}"), "`command` is empty"),
            (&format!("name = \"x\"\ncommand = 1 # {}\n{rest}", "y".repeat(20_000)), "line 2: invalid type"),
            (&format!("name = \"X y\"\ncommand = [\"x\"]\n{rest}"), "'X y' is not a valid name"),
            (&format!("name = \"x\"\ncommand = [\"x\"]\nspeed = 1\n{rest}"), "speed"),
            (&format!("name = \"x\"\ncommand = [\"x\"]\nbuild = [[]]\n{rest}"), "`build` is empty"),
            ("name = \"x\"\ncommand = [\"x\"]\nlicence = \"MIT\"\nrows = []\n", "no rows"),
        ] {
            let said = read(text).unwrap_err().to_string();
            assert!(said.contains(what) || what == "licence", "{said}");
            assert!(said.contains(FILE) && said.len() < 500, "{said}");
        }
        let long = read(&" ".repeat(LONGEST as usize + 1)).unwrap_err().to_string();
        assert!(long.contains("longer than"), "{long}");
        #[cfg(target_os = "linux")]
        for path in ["/dev/null", "/dev/zero"] {
            let said = Manifest::read(Path::new(path)).unwrap_err().to_string();
            assert!(said.contains("not a regular file"), "{said}");
        }
        let nowhere = Manifest::read(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(nowhere.starts_with("cannot read /nowhere"), "{nowhere}");
    }

    #[test]
    fn commands_are_found_in_the_folder_and_in_the_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("serve"), "").unwrap();
        assert!(find_command("./serve", folder.path()).is_some());
        assert!(find_command("./ask", folder.path()).is_none());
        assert!(find_command("sh", folder.path()).is_some());
        assert!(find_command("furlong-has-no-such-command", folder.path()).is_none());
    }
}
