//! One fault: the action, its means, and the required outcome.

/// A fault.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Number in the list of faults: D death and stop, R resources, E environment, F files, S security.
    pub number: &'static str,
    /// Description of the action.
    pub what: String,
    /// System feature or program that causes the fault.
    pub means: &'static str,
    /// Required outcome, in addition to the conditions for all cells.
    pub must: &'static str,
    /// Programs that the fault needs.
    pub needs: &'static [&'static str],
    /// Implementation of the fault.
    pub act: Act,
    /// Whether the quick part includes the fault.
    pub quick: bool,
    /// Whether a few mechanisms stand for all, because the fault meets code that all of them share.
    pub of_few: bool,
}

/// Implementation of a fault.
#[derive(Debug, Clone)]
pub enum Act {
    /// Measures one benchmark and another one with these options, and runs shell commands while the roles of the
    /// first are at work. `$run`, `$initiator`, `$responder` and `$last`, the last of all roles, are PIDs.
    Role {
        /// Options, roles and the other benchmark.
        setting: Setting,
        /// Phase of the disturbance.
        moment: Moment,
        /// Shell commands that disturb the role.
        then: String,
        /// Required outcome of the benchmark.
        row: RowMust,
        /// Required exit status of furlong.
        code: i32,
    },
    /// Measures all benchmarks in one run that shell commands start.
    Rows {
        /// Shell words before the command of the run.
        before: String,
        /// Reasons for skipping; a benchmark that is not measured must report one of them.
        says: Vec<String>,
        /// Options of `furlong run`.
        options: &'static str,
        /// Whether benchmarks may fail, because a missing resource shows only while they run.
        may_fail: bool,
    },
    /// Separate script, which prints `bad:` with a description of each violation.
    Script(String),
}

/// Options of a run, and the benchmark that is measured in addition to the disturbed one.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Options of `furlong run`. furlong itself decides which benchmarks these options exclude, and reports why.
    pub options: &'static str,
    /// Number of role processes.
    pub roles: usize,
    /// Number of pairs, receivers, senders or workers, unless it is one pair.
    pub parties: Option<u64>,
    /// The other benchmark, and its replacement if the disturbed benchmark has the same mechanism.
    pub others: [&'static str; 2],
}

impl Setting {
    /// A pair of processes on this machine.
    pub const PAIR: Setting =
        Setting { options: "", roles: 2, parties: None, others: ["pipe/block", "unix-stream/block"] };

    /// Returns the benchmark that is measured in addition to this one.
    pub fn other(&self, row: &str) -> &'static str {
        let mechanism = |row: &str| row.split('/').next().map(str::to_owned);
        self.others[usize::from(mechanism(self.others[0]) == mechanism(row))]
    }
}

/// Phase in which a role is disturbed.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Name of the phase. The roles of an adapter's program wait in it until the disturbance is done.
    pub phase: &'static str,
    /// Options of `furlong run` that keep other benchmarks in the phase for the time `$LONG`.
    pub options: &'static str,
}

/// Required outcome of the benchmark whose role is disturbed.
#[derive(Debug, Clone, Copy)]
pub enum RowMust {
    /// The benchmark failed. Its reason names the role, the phase and the cause.
    Fail {
        /// Role; empty if it is not known.
        who: &'static str,
        /// Cause that the reason must contain.
        what: &'static str,
    },
    /// The benchmark was measured.
    Measure,
    /// No requirement, because the run was ended.
    End,
}

/// Options of a short run.
pub const SHORT: &str = "--trials 1 --budget 2ms --warm-up 100us --no-save --no-progress --format json";

/// Creates a fault that disturbs a benchmark while its roles are at work.
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
    Fault { number, what: what.to_owned(), means: "kill", must, needs: &[], act, quick: true, of_few: false }
}

impl Fault {
    /// Replaces the setting of a role fault.
    pub fn among(mut self, others: Setting) -> Fault {
        if let Act::Role { setting, .. } = &mut self.act {
            *setting = others;
        }
        self
    }

    /// Tries the fault with a few mechanisms.
    pub fn with_few_mechanisms(self) -> Fault {
        Fault { of_few: true, ..self }
    }

    /// The same, left out of the quick part.
    pub fn slow(self) -> Fault {
        Fault { quick: false, ..self }
    }
}

/// Creates a fault under which all benchmarks are measured.
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
        must: "benchmarks that need it report it, the others are measured",
        needs: &[],
        act: Act::Rows {
            before: before.to_owned(),
            says: says.iter().map(|word| (*word).to_owned()).collect(),
            options: "",
            may_fail: true,
        },
        quick,
        of_few: false,
    }
}

/// Creates a fault with a separate script.
pub fn script(
    number: &'static str,
    what: &str,
    means: &'static str,
    must: &'static str,
    needs: &'static [&'static str],
    text: String,
    quick: bool,
) -> Fault {
    Fault { number, what: what.to_owned(), means, must, needs, act: Act::Script(text), quick, of_few: false }
}
