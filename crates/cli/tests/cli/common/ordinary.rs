//! Furlong as an unprivileged user, started by root.

use super::Place;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

impl Place {
    /// Returns furlong with these arguments as UID 65534. It runs a copy in this place, because that user cannot
    /// access the build directory.
    pub fn furlong_as_nobody<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let program = self.path("furlong");
        fs::copy(env!("CARGO_BIN_EXE_furlong"), &program).expect("a copy of furlong");
        let modes = [("", 0o755), ("furlong", 0o755), ("tmp", 0o777), ("home", 0o777), ("data", 0o777)];
        for (name, mode) in modes {
            fs::set_permissions(self.path(name), Permissions::from_mode(mode)).expect("a place of our own");
        }
        let mut command = self.program("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(arguments);
        command
    }
}
