//! Folders of this user.

use std::path::PathBuf;

/// Where furlong keeps what it has for its user: `$XDG_DATA_HOME/furlong`, else `~/.local/share/furlong`.
pub fn data_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data =
        absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("furlong"))
}
