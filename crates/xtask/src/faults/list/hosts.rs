//! Faults between hosts: a side dies or stops, the shell dies, the cable is cut. The other host is a shell of this
//! one, or a network namespace at the end of a virtual cable.

use super::processes::TIMED;
use crate::faults::fault::{Fault, Moment, RowMust, Setting, role_fault, script};

/// The initiator runs here and the responder on the other host. The third process is the local proxy of the
/// responder.
const HOSTS: Setting = Setting {
    options: "--peer command:sh --peer-address 127.0.0.1",
    roles: 3,
    parties: None,
    others: ["tcp/block", "udp/block"],
};

/// Returns faults between hosts.
pub(super) fn hosts() -> Vec<Fault> {
    let fault = |number, what, moment: Moment, then: &str, row, code, must| {
        let then = format!("{}\n{then}", include_str!("hosts.sh"));
        role_fault(number, what, moment, &then, row, code, must).among(HOSTS).slow()
    };
    let fails = |what, then: &str, who, said| {
        let must = "the benchmark fails and reports the lost connection; nothing is left on either host";
        fault("D1", what, TIMED, then, RowMust::Fail { who, what: said }, 1, must)
    };
    let ended =
        |number, what, then: &str, code, must| fault(number, what, TIMED, then, RowMust::End, code, must);
    let connection = "the connection to the other host has ended";
    vec![
        fails(
            "SIGKILL to the responder on the other host",
            "kill -KILL $responder",
            "responder",
            "killed by SIGKILL",
        ),
        fails(
            "SIGKILL to the initiator of two hosts",
            "kill -KILL $initiator",
            "initiator",
            "killed by SIGKILL",
        ),
        fails("SIGKILL to furlong on the other host", "kill -KILL $agent", "responder", connection),
        fault(
            "D1",
            "SIGKILL to the shell on the other host, which furlong there survives",
            TIMED,
            "kill -KILL $there",
            RowMust::Measure,
            0,
            "the benchmark continues, and furlong reconnects for the next one",
        ),
        fault(
            "D5",
            "SIGSTOP to furlong on the other host",
            Moment { phase: "timed", options: "--warm-up 1ms --budget $LONG --timeout 1s" },
            // The end of the local shell that has started it may have ended it.
            "kill -STOP $agent; wait $run; ended=$?; kill -CONT $agent 2> kill.err",
            RowMust::Fail { who: "", what: "the other host hangs" },
            1,
            "the benchmark fails with that reason; the other host exits when it continues",
        ),
        ended(
            "D3",
            "SIGKILL to the supervisor of two hosts",
            "kill -KILL $run",
            137,
            "both hosts exit, and nothing is left",
        ),
        ended("D4", "SIGINT between two hosts", "kill -INT $run", 130, "a partial result"),
        script(
            "E5",
            "the link between two hosts is cut, or their network disappears, while benchmarks run",
            "ip link",
            "both benchmarks fail in time, and nothing is left",
            &["ip", "nsenter"],
            include_str!("cable.sh").to_owned(),
            false,
        ),
    ]
}
