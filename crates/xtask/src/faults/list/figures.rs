//! Faults that make figures wrong or doubtful.

use crate::faults::fault::{Fault, SHORT, rows_fault, script};

/// Returns faults that make figures wrong or doubtful.
pub(super) fn figures() -> Vec<Fault> {
    let busy = |by: &str| format!("BY={by}\n{}", include_str!("busy.sh"));
    let must = "the machine is reported as unreliable, with the reason";
    let spinners =
        script("H2", "a busy-waiting process on each CPU", "taskset", must, &[], busy("spinners"), true);
    let what = "a cgroup with a tenth of a CPU";
    let quota = script("H2", what, "cgroup cpu", must, &[], busy("quota"), true);
    let clock = "cc -O2 -shared -fPIC -o clock.so \"$ROOT/crates/xtask/src/faults/list/clock.c\" || echo 'bad: clock.c cannot be compiled'";
    let jumps = rows_fault(
        "H6",
        "the real-time clock is ten years behind and jumps by an hour",
        "LD_PRELOAD",
        &format!("{clock}; LD_PRELOAD=$here/clock.so"),
        &[],
        false,
    );
    let back = format!(
        "{clock}
         expect 1 env LD_PRELOAD=\"$here/clock.so\" GOES_BACK=yes \"$FURLONG\" run pipe posix-shm/spin {SHORT}
         says 'the monotonic clock went back'
         nothing_left"
    );
    let must = "it is reported, and nothing is timed with this clock";
    let back = script("H6", "the monotonic clock goes back", "LD_PRELOAD", must, &["cc"], back, true);
    vec![spinners, quota, Fault { needs: &["cc"], ..jumps }, back]
}
