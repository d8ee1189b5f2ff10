//! Processes that die or stop: roles, the supervisor, and all at once.

use crate::faults::fault::{Fault, Moment, RowMust, SHORT, Setting, role_fault, script};

/// A long warm-up.
const WARM_UP: Moment = Moment { phase: "warm-up", options: "--warm-up $LONG --budget 5ms --timeout 2s" };
/// A long measured part.
pub(super) const TIMED: Moment =
    Moment { phase: "timed", options: "--warm-up 1ms --budget $LONG --timeout 2s" };
/// Moment of a benchmark whose processes are stopped for longer than the timeout.
pub(super) const MEASURED: Moment =
    Moment { phase: "timed", options: "--warm-up 1ms --budget $LONG --timeout 1s" };
/// Moment of a role that is stopped and continued.
const CONTINUED: Moment = Moment { phase: "timed", options: "--warm-up 1ms --budget $LONG --timeout 10s" };
/// A process whose threads are both roles.
const THREADS: Setting = Setting { options: "--isolation thread", roles: 1, ..Setting::PAIR };

/// Returns faults of roles that are killed or stopped.
pub(super) fn roles() -> Vec<Fault> {
    let mut faults = Vec::new();
    for role in ["initiator", "responder"] {
        for (moment, phase) in [(WARM_UP, "warm-up"), (TIMED, "measured part")] {
            faults.push(role_fault(
                "D1",
                &format!("SIGKILL to the {role} in its {phase}"),
                moment,
                &format!("kill -KILL ${role}"),
                RowMust::Fail { who: role, what: "killed by SIGKILL" },
                1,
                "the benchmark fails, with role, phase and signal",
            ));
        }
    }
    for (whom, then) in [("process", "kill -KILL $initiator"), ("last thread", "kill -KILL $(last_thread)")] {
        let fault = role_fault(
            "D1",
            &format!("SIGKILL to the {whom} of two roles that are threads"),
            TIMED,
            then,
            RowMust::Fail { who: "initiator", what: "killed by SIGKILL; the other roles are threads of" },
            1,
            "the benchmark fails, with role, phase and signal, and the death of both roles",
        );
        faults.push(fault.among(THREADS).with_few_mechanisms());
    }
    for (signal, words) in [("SEGV", "killed by SIGSEGV"), ("ABRT", "killed by SIGABRT")] {
        let fault = role_fault(
            "D6",
            &format!("SIG{signal} to the responder"),
            TIMED,
            // The standard library's handler takes the first one of a fault for the thread's stack.
            &format!(
                "kill -{signal} $responder; for again in 1 2 3; do sleep 0.05; kill -{signal} $responder 2> kill.err; done"
            ),
            RowMust::Fail { who: "responder", what: words },
            1,
            "the failure names the signal",
        );
        faults.push(fault.with_few_mechanisms());
    }
    let zombie = role_fault(
        "D7",
        "SIGKILL to the responder while the supervisor is stopped and cannot reap it",
        TIMED,
        "kill -STOP $run; kill -KILL $responder; sleep 0.2
         grep -q '^State:.Z' \"/proc/$responder/status\" || echo 'bad: it is no zombie'
         kill -CONT $run",
        RowMust::Fail { who: "responder", what: "killed by SIGKILL" },
        1,
        "a zombie counts as dead",
    );
    faults.push(zombie.with_few_mechanisms());
    faults.push(role_fault(
        "D5",
        "SIGSTOP to the responder, without SIGCONT",
        MEASURED,
        "kill -STOP $responder",
        RowMust::Fail { who: "responder", what: "stopped by a signal" },
        1,
        "the failure says stopped, and not dead or slow",
    ));
    faults.push(role_fault(
        "D5",
        "SIGSTOP and SIGCONT to the initiator, 300 ms apart",
        CONTINUED,
        "kill -STOP $initiator; sleep 0.3; kill -CONT $initiator",
        RowMust::Measure,
        0,
        "the trial is measured again",
    ));
    faults.push(role_fault(
        "D5",
        "SIGSTOP to all processes, for longer than the timeout",
        MEASURED,
        "all=\"$run $(furlongs)\"; kill -STOP $all; sleep $STANDSTILL; kill -CONT $all",
        RowMust::Measure,
        0,
        "it counts as a pause of the machine, not as a failure",
    ));
    faults
}

/// Returns faults of runs that have changed the machine.
pub(super) fn changes() -> Vec<Fault> {
    let what = "SIGKILL, SIGINT and SIGTERM to a run that has changed settings, huge pages, control groups and namespaces";
    let must = "the machine is as before, with the cleanup process or with doctor";
    let text = include_str!("put_back.sh").to_owned();
    vec![script("D12", what, "kill", must, &[], text, true)]
}

/// Returns faults of supervisors that are killed, or terminated by a signal.
pub(super) fn supervisors() -> Vec<Fault> {
    let ended = |number, what: &str, then: &str, code, must| {
        role_fault(number, what, TIMED, then, RowMust::End, code, must)
    };
    vec![
        ended(
            "D3",
            "SIGKILL to the supervisor",
            "kill -KILL $run",
            137,
            "roles and cleanup process exit, and nothing is left",
        ),
        ended("D4", "SIGINT", "kill -INT $run", 130, "a partial result"),
        ended("D4", "SIGTERM", "kill -TERM $run", 143, "a partial result").with_few_mechanisms(),
        ended(
            "D4",
            "SIGINT three times at once",
            "kill -INT $run; kill -INT $run; kill -INT $run",
            130,
            "a partial result",
        )
        .with_few_mechanisms(),
        ended("D10", "SIGHUP", "kill -HUP $run", 129, "a partial result").with_few_mechanisms(),
        ended(
            "D10",
            "SIGKILL to the supervisor and its cleanup process",
            "kill_all
             wait $run; ended=$?
             sleep 2.2
             expect 0 \"$FURLONG\" doctor --clean
             expect 0 \"$FURLONG\" doctor
             says 'nothing is left of dead runs'",
            137,
            "doctor finds and removes the leftovers",
        ),
    ]
}

/// Returns faults of process creation: processes that a wrong thread starts, and a parent that does not wait for
/// furlong.
pub fn parents() -> Vec<Fault> {
    // A program that replaced its shell with `exec` does not wait for children.
    let zombie = "sh -c '\"$FURLONG\" run fifo sysv-mq --trials 1 --budget 20s --no-save --no-progress > stdout 2> stderr & echo $! > run; exec sleep 60' &
         tries=0
         until [ \"$(roles | wc -l)\" = 2 ] || [ $tries -gt 500 ]; do tries=$((tries + 1)); sleep 0.02; done
         run=$(cat run)
         kill_all
         sleep 2.2
         grep -q '^State:.Z' \"/proc/$run/status\" || echo 'bad: it is no zombie'
         ls tmp | grep -q '^furlong-' || echo 'bad: nothing is left that could be removed'
         expect 0 \"$FURLONG\" doctor --clean
         expect 0 \"$FURLONG\" doctor
         says 'nothing is left of dead runs'
         nothing_left";
    let threads = format!(
        "expect 0 strace -ff -qq -o calls -e trace=clone,clone3,fork,vfork \"$FURLONG\" run pipe posix-shm anon-shm --count {SHORT}
         [ \"$(cat calls.* | grep -v CLONE_THREAD | grep -c '= [1-9]')\" -ge 6 ] || echo \"bad: no process was seen to start: $(cat calls.* | head -c 300)\"
         for thread in $(cat calls.* | sed -n '/CLONE_THREAD/s/.* = //p'); do
             grep -v CLONE_THREAD calls.$thread | grep '= [1-9]' | sed 's/^/bad: started by a thread: /'
         done
         nothing_left"
    );
    let must = "doctor treats a zombie's run as dead, and removes the leftovers";
    let zombie = script(
        "D7",
        "SIGKILL to a supervisor whose parent does not reap it",
        "kill",
        must,
        &[],
        zombie.to_owned(),
        true,
    );
    let must = "only the main thread, because a child is killed when the thread that started it exits";
    let threads = script("D11", "which thread starts processes", "strace", must, &["strace"], threads, true);
    vec![zombie, threads]
}

/// Returns faults of control groups: all processes are frozen at any moment of a run, or memory runs out.
pub fn groups() -> Vec<Fault> {
    let must = "it counts as a pause of the machine, not as a failure";
    let what = "a cgroup frozen for a second at each 30 ms of a run";
    let frozen = script("D5", what, "cgroup freezer", must, &[], include_str!("frozen.sh").to_owned(), false);
    let what = "a cgroup limited to a few MiB, messages of 64 MiB";
    let must = "the kill is reported with its reason, or the benchmark is rejected; the others are measured";
    let memory = script("D9", what, "cgroup memory", must, &[], include_str!("memory.sh").to_owned(), true);
    let what = "a role that gets 1 ms of CPU time per second";
    let must = "no message is lost: furlong waits, and after a limit reports the role as starved";
    let starved =
        script("D5", what, "cgroup cpu", must, &["chrt"], include_str!("starved.sh").to_owned(), true);
    vec![frozen, memory, starved]
}
