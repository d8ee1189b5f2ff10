//! The sentences about the boundaries between the roles: their composition, and the cause of their cost.

use furlong_analysis::{Row, Summary};
use furlong_model::Boundary;
use std::collections::BTreeSet;

/// Explains the boundaries of a run, each once; `None` if there were none.
pub(crate) fn boundaries(summary: &Summary) -> Option<String> {
    let measured: BTreeSet<_> =
        summary.rows.iter().filter_map(|row| row.case.conditions.boundary().cloned()).collect();
    let sentences: Vec<_> = measured.iter().map(|boundary| sentence(boundary, summary)).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn sentence(boundary: &Boundary, summary: &Summary) -> String {
    let text = match boundary {
        Boundary::None
        | Boundary::Fork
        | Boundary::IpcNamespace
        | Boundary::PidNamespace
        | Boundary::Host => "",
        Boundary::NetworkNamespace => {
            "Between network namespaces, TCP and UDP pass through a virtual Ethernet pair. Other mechanisms do not."
        }
        Boundary::Bridge => {
            "Across the bridge, each packet passes two virtual Ethernet pairs and the bridge, as between two containers in \
             Docker's default network."
        }
        Boundary::Proxy => {
            "The proxy is furlong's own relay: one thread per direction reads and writes. Each message is copied twice more \
             and wakes one more process, which is not pinned and whose CPU time is not in the table."
        }
        Boundary::Seccomp(_) => return seccomp(boundary, summary),
        Boundary::Landlock => {
            "Landlock is checked when an object is opened, so it adds nothing to most messages. It forbids opening files outside \
             the directory of the link, TCP connections, signals and access to the memory of the other process."
        }
        Boundary::User => {
            "The responder ran as another user. Permissions are checked when an object is opened, so they add nothing to \
             most messages."
        }
        Boundary::Container => {
            return format!(
                "Each role of the container has user, mount, PID, IPC and UTS namespaces, no capabilities, and Docker's \
                 seccomp filter. TCP and UDP cross a bridge. {}",
                seccomp(boundary, summary)
            );
        }
    };
    text.to_owned()
}

/// Reports the size of a filter, and the calls for which the kernel runs it.
fn seccomp(boundary: &Boundary, summary: &Summary) -> String {
    let filtered = |row: &&Row| row.case.conditions.boundary() == Some(boundary);
    let fact = |row: &Row, name: &str| row.effective.get(name).copied();
    let mut rows = summary.rows.iter().filter(filtered);
    let instructions = rows.clone().find_map(|row| fact(row, "seccomp-instructions")).unwrap_or_default();
    let evaluated = rows.find(|row| fact(row, "seccomp-evaluated-calls").is_some_and(|calls| calls > 0));
    let cause = match evaluated {
        None => "The kernel remembers that the calls of the measured benchmarks are always allowed (since Linux 5.11), and does \
                 not run the filter for them."
            .to_owned(),
        Some(row) => format!(
            "A rule tests arguments of calls of {}, so the kernel runs the filter for each of them.",
            row.case.mechanism
        ),
    };
    format!("The filter {boundary} has {instructions} instructions. {cause}")
}
