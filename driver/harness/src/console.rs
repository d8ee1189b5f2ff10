//! Finds the kernel's fault reports in its messages.

/// Texts in the first line of a report, in their exact case. A call trace alone is not a report, because a full
/// memory cgroup, which a test causes, also prints one.
const REPORTS: [&str; 19] = [
    "BUG:",
    "BUG ",
    "kernel BUG at",
    "WARNING:",
    "Oops",
    "KASAN",
    "UBSAN",
    "KFENCE",
    "KCSAN",
    "possible circular",
    "INFO: task",
    "INFO: Slab",
    "suspicious RCU",
    "detected stalls",
    "refcount_t",
    "general protection fault",
    "Kernel panic",
    "page allocation failure",
    "unreferenced object",
];

/// Returns the lines in which the kernel reports a fault.
pub fn reports(messages: &str) -> Vec<&str> {
    messages.lines().filter(|line| REPORTS.iter().any(|report| line.contains(report))).collect()
}

/// Returns the last lines of a text, because its end is the most informative part.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_found_among_messages() {
        for line in [
            "[    1.2] BUG: kernel NULL pointer dereference, address: 0000000000000000",
            "[    1.2] BUG kmalloc-64 (Tainted: G           OE     ): Right Redzone overwritten",
            "[    1.2] WARNING: CPU: 0 PID: 60 at drivers/base/core.c:1 device_del+0x1/0x2",
            "[    1.2] WARNING: possible circular locking dependency detected",
            "[    1.2] refcount_t: underflow; use-after-free.",
            "[    1.2] INFO: task reader:77 blocked for more than 120 seconds.",
            "[    1.2] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
        ] {
            assert_eq!(reports(&format!("[    1.1] before\n{line}\n[    1.3] after")), [line]);
        }
    }

    #[test]
    fn what_every_boot_says_is_no_report() {
        let boot = "[    0.0] Linux version 6.1.0-56-cloud-amd64\n\
                    [    0.1] Spectre V2 : WARN: nothing\n\
                    [    0.2] SLUB: HWalign=64, Order=0-3, MinObjects=0, CPUs=2, Nodes=1\n\
                    [    0.3] Memory cgroup out of memory: Killed process 90 (access)\n\
                    [    0.3] Call Trace:\n\
                    [    1.0] furlong: loading out-of-tree module taints kernel.\n\
                    [    1.0] furlong: module verification failed: signature and/or required key missing\n";
        assert!(reports(boot).is_empty(), "{:?}", reports(boot));
        assert_eq!(last_lines("a\nb\nc", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
    }
}
