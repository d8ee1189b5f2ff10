//! The peers that a program accepts across the boundaries between its ends, and the variables that name them.

use crate::EndBoundaries;
use crate::mechanisms::Recipe;

/// How the programs of a recipe accept each other.
#[derive(Clone, Copy)]
pub(crate) struct Admission<'a> {
    pub between: EndBoundaries,
    pub recipe: &'a Recipe,
}

impl Admission<'_> {
    /// Returns whether the ends meet at a path. An abstract address differs between network namespaces, and any user
    /// may connect to it.
    pub(crate) fn meeting_folder(self) -> bool {
        self.between.apart() && self.recipe.has("meets")
    }

    /// Returns whether each end has a separate directory. Without a connection, only the owner of a directory
    /// identifies the peer.
    pub(crate) fn two_folders(self) -> bool {
        self.between.apart() && self.recipe.has("unix") && self.recipe.has("connectionless")
    }

    /// Returns whether the ends have names in a directory instead of a port.
    fn has_names(self) -> bool {
        self.recipe.has("cleans") || self.recipe.has("meets")
    }

    /// Returns the environment variables of both ends, in shell syntax.
    pub(crate) fn variables(self) -> String {
        let EndBoundaries { users, files, networks, .. } = self.between;
        let variables = [
            (networks && !self.has_names(), "PAIR_ADDRESS=ADDRESS "),
            (users && self.has_names(), "PAIR_PEER=$(id -u OTHER_USER) "),
            (files && self.has_names(), "PAIR_FOLDER=/SHARED_FOLDER "),
        ];
        variables.iter().filter(|(used, _)| *used).map(|(_, text)| *text).collect()
    }

    /// Returns the meanings of these variables.
    pub(crate) fn meanings(self) -> &'static [&'static str] {
        match (self.between.apart(), self.has_names()) {
            (false, _) => &[],
            (true, true) => &[
                "PAIR_PEER is the user ID of the other end, as this end sees it (default: its own user ID).",
                "PAIR_FOLDER is a directory that both ends see (default: /tmp). It contains the names.",
            ],
            (true, false) => &["PAIR_ADDRESS is the IPv4 address of the serving end (default: 127.0.0.1)."],
        }
    }

    /// Returns the accepted peers, if there is a boundary between the ends.
    pub(crate) fn lets_in(self) -> Option<&'static str> {
        let known = self.recipe.has("unix") || self.recipe.has("meets");
        let who = match (known, self.has_names()) {
            (true, _) => "only the user PAIR_PEER.",
            (false, true) => {
                "until both ends are open, every user, if PAIR_PEER is another user: a FIFO does not show its openers."
            }
            (false, false) => {
                "every process that reaches the port: a network does not show the user of a process."
            }
        };
        self.between.apart().then_some(who)
    }
}
