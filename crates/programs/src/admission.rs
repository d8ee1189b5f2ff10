//! Who is let in across what lies between the two ends, and by which variables that is said.

use crate::Between;
use crate::mechanisms::Recipe;

/// How the programs of a recipe let each other in.
#[derive(Clone, Copy)]
pub(crate) struct Admission<'a> {
    pub between: Between,
    pub recipe: &'a Recipe,
}

impl Admission<'_> {
    /// Whether the meeting place is a path: an abstract address is another one in another network namespace, and says
    /// nothing of who may come.
    pub(crate) fn meeting_folder(self) -> bool {
        self.between.apart() && self.recipe.has("meets")
    }

    /// Whether each end has a folder of its own: what has no connection says in no other way whose it is.
    pub(crate) fn two_folders(self) -> bool {
        self.between.apart() && self.recipe.has("unix") && self.recipe.has("connectionless")
    }

    /// Whether names lie in a folder, and not at a port.
    fn has_names(self) -> bool {
        self.recipe.has("cleans") || self.recipe.has("meets")
    }

    /// What is set in the environment of both ends, in the words of a shell.
    pub(crate) fn variables(self) -> String {
        let Between { users, files, networks, .. } = self.between;
        let variables = [
            (networks && !self.has_names(), "PAIR_ADDRESS=ADDRESS "),
            (users && self.has_names(), "PAIR_PEER=$(id -u OTHER_USER) "),
            (files && self.has_names(), "PAIR_FOLDER=/SHARED_FOLDER "),
        ];
        variables.iter().filter(|(used, _)| *used).map(|(_, text)| *text).collect()
    }

    /// What these variables mean.
    pub(crate) fn meanings(self) -> &'static [&'static str] {
        match (self.between.apart(), self.has_names()) {
            (false, _) => &[],
            (true, true) => &[
                "PAIR_PEER is the number of the other end's user, as this end sees it (its own without it).",
                "PAIR_FOLDER is a folder that both ends see (/tmp without it): names lie in it.",
            ],
            (true, false) => &["PAIR_ADDRESS is the serving end's IPv4 address (127.0.0.1 without it)."],
        }
    }

    /// Who is let in, if that is a question.
    pub(crate) fn lets_in(self) -> Option<&'static str> {
        let known = self.recipe.has("unix") || self.recipe.has("meets");
        let who = match (known, self.has_names()) {
            (true, _) => "the user PAIR_PEER, and nobody else.",
            (false, true) => {
                "until both ends are open, every user, if PAIR_PEER is another one: a FIFO does not say who opens it."
            }
            (false, false) => "everybody who reaches the port: a network does not say whose process it is.",
        };
        self.between.apart().then_some(who)
    }
}
