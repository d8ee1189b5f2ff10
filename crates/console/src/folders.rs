//! Directories of this user.

use std::path::PathBuf;

/// The environment variables for messages. At least one of them must be set.
pub const DATA_FOLDER_VARIABLES: &str = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_DATA_HOME or HOME" };

/// Returns furlong's data directory for its user: `$XDG_DATA_HOME/furlong`, otherwise `~/.local/share/furlong`; on
/// Windows `%LOCALAPPDATA%\\furlong` instead of the latter. `None` if none of the variables holds an absolute path.
pub fn data_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = || match cfg!(windows) {
        true => absolute("LOCALAPPDATA"),
        false => absolute("HOME").map(|home| home.join(".local/share")),
    };
    let data = absolute("XDG_DATA_HOME").or_else(usual)?;
    Some(data.join("furlong"))
}
