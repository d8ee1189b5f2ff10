//! Faults of several pairs, receivers, senders and workers: one of them dies or stops.

use super::processes::{MEASURED, TIMED};
use crate::faults::fault::{Fault, RowMust, Setting, role_fault};

/// Two pairs.
const PAIRS: Setting = Setting { options: "--pairs 2", roles: 4, parties: Some(2), ..Setting::PAIR };
/// A sender and three receivers.
const RECEIVERS: Setting =
    Setting { options: "-m fan-out --receivers 3", roles: 4, parties: Some(3), ..Setting::PAIR };
/// Three senders and a receiver; the other row is one whose ends can be shared.
const SENDERS: Setting = Setting {
    options: "-m fan-in --senders 3",
    roles: 4,
    parties: Some(3),
    others: ["pipe/block", "fifo/block"],
};
/// A sender and three workers.
const WORKERS: Setting = Setting { options: "-m work --workers 3", ..SENDERS };

/// Returns faults of runs with several parties, one of which is killed or stopped.
pub(super) fn parties() -> Vec<Fault> {
    let killed = |what, setting, whom: &str, who| {
        let must = RowMust::Fail { who, what: "killed by SIGKILL" };
        let then = format!("kill -KILL ${whom}");
        role_fault("D1", what, TIMED, &then, must, 1, "the benchmark fails, with role, number and signal")
            .among(setting)
            .slow()
    };
    let stopped = |what, setting, who| {
        let must = RowMust::Fail { who, what: "stopped by a signal" };
        let says = "the benchmark fails, with role and number";
        role_fault("D5", what, MEASURED, "kill -STOP $last", must, 1, says).among(setting).slow()
    };
    vec![
        killed("SIGKILL to the first initiator of two pairs", PAIRS, "initiator", "initiator 1")
            .with_few_mechanisms(),
        killed("SIGKILL to the second responder of two pairs", PAIRS, "last", "responder 2")
            .with_few_mechanisms(),
        stopped("SIGSTOP to the second responder of two pairs", PAIRS, "responder 2").with_few_mechanisms(),
        killed("SIGKILL to the first of three receivers", RECEIVERS, "responder", "responder 1")
            .with_few_mechanisms(),
        killed("SIGKILL to the sender of three receivers", RECEIVERS, "initiator", "initiator"),
        stopped("SIGSTOP to the third of three receivers", RECEIVERS, "responder 3").with_few_mechanisms(),
        killed("SIGKILL to the first of three senders", SENDERS, "initiator", "initiator 1"),
        killed("SIGKILL to the receiver of three senders", SENDERS, "last", "responder"),
        stopped("SIGSTOP to the receiver of three senders", SENDERS, "responder"),
        killed("SIGKILL to the third of three workers", WORKERS, "last", "responder 3"),
        killed("SIGKILL to the sender of three workers", WORKERS, "initiator", "initiator"),
    ]
}
