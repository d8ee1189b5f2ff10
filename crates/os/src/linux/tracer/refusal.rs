//! Reasons why a process cannot be traced.

use std::io;

/// Adds the known reason why a process cannot be traced.
pub(super) fn explain(error: io::Error, pid: i32) -> io::Error {
    let field = |process: &str, name: &str| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let value = status.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap_or_default().trim().to_owned()
    };
    let (state, tracer) = (field(&pid.to_string(), "State:"), field(&pid.to_string(), "TracerPid:"));
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let mut kind = error.kind();
    let reason = if state.is_empty() || state.starts_with(['Z', 'X']) {
        kind = io::ErrorKind::NotFound;
        "it is dead".to_owned()
    } else if !tracer.is_empty() && tracer != "0" {
        format!("process {tracer} traces it already")
    } else if matches!(scope.trim(), "2" | "3") {
        format!("kernel.yama.ptrace_scope is {}, which forbids it", scope.trim())
    } else if field("self", "Seccomp:") == "2" {
        "the system call filter (seccomp) that this process runs under may forbid it".to_owned()
    } else {
        "the process belongs to another user, or a security module forbids it".to_owned()
    };
    io::Error::new(kind, format!("trace process {pid} (ptrace): {error}: {reason}"))
}
