//! One fault: what is done, by which means, and what must come of it.

/// One fault.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Its number in the list of what can break: D death and stop, R resources, E environment, F files, S security.
    pub number: &'static str,
    /// What is done.
    pub what: String,
    /// By which means.
    pub means: &'static str,
    /// What must come of it, beside what holds for all cells.
    pub must: &'static str,
    /// Programs that it takes.
    pub needs: &'static [&'static str],
    /// How it is done.
    pub act: Act,
    /// Whether it is tried in the quick part.
    pub quick: bool,
}

/// How a fault is made.
#[derive(Debug, Clone)]
pub enum Act {
    /// One row and another one are measured with these options, and this is done in shell while the roles of the row are at
    /// work: `$run`, `$initiator`, `$responder` and `$last`, the last of all roles, are processes.
    Role {
        /// Who is measured.
        setting: Setting,
        /// When.
        moment: Moment,
        /// What is done.
        then: String,
        /// What must come of the row.
        row: RowMust,
        /// With which code furlong must end.
        code: i32,
    },
    /// All rows are measured in one run, which is started by these words of shell.
    Rows {
        /// What comes before the words of the run.
        before: String,
        /// A row that is not measured must say one of these.
        says: Vec<String>,
        /// Options of `furlong run`.
        options: &'static str,
        /// Whether rows may have failed, where what is missing shows only once they are at work.
        may_fail: bool,
    },
    /// A script of its own, which says `bad:` and what is wrong.
    Script(String),
}

/// Who is measured, and which other row beside.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Options of `furlong run`. It is left to furlong which rows it refuses then, and why.
    pub options: &'static str,
    /// Processes at work.
    pub roles: usize,
    /// How many pairs, receivers, senders or workers, where it is not one pair.
    pub parties: Option<u64>,
    /// The other row, and which one where the first is of the same mechanism as the row that is disturbed.
    pub others: [&'static str; 2],
}

impl Setting {
    /// A pair of processes of this machine.
    pub const PAIR: Setting =
        Setting { options: "", roles: 2, parties: None, others: ["pipe/block", "unix-stream/block"] };

    /// The row that stands beside this one.
    pub fn other(&self, row: &str) -> &'static str {
        let mechanism = |row: &str| row.split('/').next().map(str::to_owned);
        self.others[usize::from(mechanism(self.others[0]) == mechanism(row))]
    }
}

/// When a role is disturbed.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// The phase, in which the roles of an adapter's program stand until it is done.
    pub phase: &'static str,
    /// Options of `furlong run` that make other rows stay in it, for the time $LONG.
    pub options: &'static str,
}

/// What must come of the row whose role is disturbed.
#[derive(Debug, Clone, Copy)]
pub enum RowMust {
    /// It has failed, and says who in which phase, and this.
    Fail {
        /// Who; empty where that is not known.
        who: &'static str,
        /// What.
        what: &'static str,
    },
    /// It was measured.
    Measure,
    /// Nothing: the run was ended.
    End,
}

/// Soon over.
pub const SHORT: &str = "--trials 1 --budget 2ms --warm-up 100us --no-save --no-progress --format json";

/// One that is done to a row whose roles are at work.
pub fn role_fault(
    number: &'static str,
    what: &str,
    moment: Moment,
    then: &str,
    row: RowMust,
    code: i32,
    must: &'static str,
) -> Fault {
    let act = Act::Role { setting: Setting::PAIR, moment, then: then.to_owned(), row, code };
    Fault { number, what: what.to_owned(), means: "kill", must, needs: &[], act, quick: true }
}

impl Fault {
    /// The same where others are measured.
    pub fn among(mut self, others: Setting) -> Fault {
        if let Act::Role { setting, .. } = &mut self.act {
            *setting = others;
        }
        self
    }

    /// The same, left out of the quick part.
    pub fn slow(self) -> Fault {
        Fault { quick: false, ..self }
    }
}

/// One in which all rows are measured.
pub fn rows_fault(
    number: &'static str,
    what: &str,
    means: &'static str,
    before: &str,
    says: &[&str],
    quick: bool,
) -> Fault {
    Fault {
        number,
        what: what.to_owned(),
        means,
        must: "rows that need it say so, the others are measured",
        needs: &[],
        act: Act::Rows {
            before: before.to_owned(),
            says: says.iter().map(|word| (*word).to_owned()).collect(),
            options: "",
            may_fail: true,
        },
        quick,
    }
}

/// A script of its own.
pub fn script(
    number: &'static str,
    what: &str,
    means: &'static str,
    must: &'static str,
    needs: &'static [&'static str],
    text: String,
    quick: bool,
) -> Fault {
    Fault { number, what: what.to_owned(), means, must, needs, act: Act::Script(text), quick }
}
