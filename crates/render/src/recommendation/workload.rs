//! The workload in sentences, and the words and factors that depend on it.

use super::super::replay::thousands;
use furlong_analysis::Recommendation;
use furlong_model::{
    Boundary, BoundaryAttempt, Language, Objective, Reach, Slo, Trust, Unit, Workload, format_ns,
    format_rate, is_one,
};

/// Describes the workload in one line.
pub(crate) fn describe(workload: &Workload) -> String {
    let messages = workload.pattern.exchanged(workload.size_bytes, workload.request_bytes.unwrap_or(1));
    let rate = workload.per_second().map_or_else(|| "the maximum rate".to_owned(), rate);
    let objective = match workload.objective {
        Objective::Latency => "lowest latency",
        Objective::Throughput => "highest throughput",
        Objective::Cpu => "least CPU time",
        Objective::Simplicity => "least integration effort",
    };
    let mut parts = vec![format!("Workload: {messages} at {rate}"), format!("objective: {objective}")];
    parts.extend(workload.slo.map(limit));
    if workload.boundaries != [Boundary::None] {
        let is_measured = |boundary: &Boundary| workload.measured_boundary.as_ref() == Some(boundary);
        let name = |boundary: &Boundary| match is_measured(boundary) {
            true => format!("{boundary} (measured)"),
            false => boundary.to_string(),
        };
        let boundaries: Vec<_> = workload.boundaries.iter().map(name).collect();
        parts.push(format!("boundary: {}", boundaries.join(", ")));
    }
    if workload.trust == Trust::None {
        parts.push("no trust".to_owned());
    }
    let (pattern, parties) = workload.pattern_and_parties();
    if !is_one(&parties) {
        parts.push(format!("{parties} {}", pattern.several()));
    } else if workload.receivers > 1 {
        parts.push(format!("{} receivers", workload.receivers));
    }
    if workload.latest {
        parts.push("only the newest message counts".to_owned());
    }
    let needs: Vec<_> = workload.needs.iter().map(|need| need.name()).collect();
    let languages: Vec<_> = workload.languages.iter().map(|language| language.title()).collect();
    for (name, values) in [("needs", needs), ("languages", languages)] {
        if !values.is_empty() {
            parts.push(format!("{name}: {}", values.join(", ")));
        }
    }
    parts.join("; ")
}

/// Reports which objects a process beyond the boundary could reach in a test.
pub(crate) fn reached(recommendation: &Recommendation) -> Option<String> {
    let word = |reach: Reach| match reach {
        Reach::IpcNamespace => "a System V object by its number",
        Reach::PidNamespace => "a process by its PID",
        Reach::Network => "an address of the loopback",
        Reach::Fork | Reach::Descriptor | Reach::FileSystem | Reach::Device => {
            "a UNIX socket at its path, and so file descriptors"
        }
    };
    let (reached, missed): (Vec<&BoundaryAttempt>, Vec<&BoundaryAttempt>) =
        recommendation.tried.iter().partition(|tried| tried.failed.is_none());
    let words = |tried: &[&BoundaryAttempt]| match tried {
        [] => "nothing".to_owned(),
        some => some.iter().map(|tried| word(tried.reach)).collect::<Vec<_>>().join("; "),
    };
    let Workload { boundaries, measured_boundary, .. } = &recommendation.workload;
    let measured = match measured_boundary {
        Some(boundary) if boundary.has_bridge() => " TCP and UDP were measured across a bridge.",
        _ if boundaries.iter().any(Boundary::separates_networks) => {
            " TCP and UDP were measured across a virtual Ethernet pair."
        }
        _ => "",
    };
    (!recommendation.tried.is_empty()).then(|| {
        format!(
            "Tested from a process in separate namespaces: reached {}; not reached: {}.{measured}",
            words(&reached),
            words(&missed)
        )
    })
}

/// Formats a requested rate with all its digits: `10,000/s`.
pub(crate) fn rate(per_second: f64) -> String {
    let typed = format_rate(per_second);
    let number = typed.trim_end_matches("/s");
    let (digits, scale) = match number.char_indices().next_back() {
        Some((at, 'k')) => (&number[..at], 1e3),
        Some((at, 'M')) => (&number[..at], 1e6),
        _ => (number, 1.0),
    };
    let value = digits.parse().map_or(per_second, |value: f64| value * scale);
    let is_whole = (value - value.round()).abs() < 1e-6;
    if is_whole {
        format!("{}/s", thousands(value.round()))
    } else {
        format!("{digits}{}", &typed[digits.len()..])
    }
}

/// Formats a service level objective without needless zeros: `p99 < 20 ms`.
pub(crate) fn limit(slo: Slo) -> String {
    let limit = format_ns(slo.limit_ns as f64);
    let (number, unit) = limit.split_once(' ').unwrap_or((&limit, ""));
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{} < {number} {unit}", slo.percentile())
}

/// Names one exchange.
pub(crate) fn unit(workload: &Workload) -> &'static str {
    Unit::of(workload.pattern).word()
}

/// Returns whether messages are sent back to back, so that times are those between two of them.
pub(crate) fn is_stream(workload: &Workload) -> bool {
    let is_paced = workload.interval_ns.is_some()
        && workload.objective != Objective::Throughput
        && !workload.pattern_and_parties().0.shares_an_end();
    // With several receivers, or if only the newest message counts, one message is in flight.
    workload.pattern.is_stream() && !is_paced && !workload.pattern_and_parties().0.is_to_all()
}

/// Returns the number of receivers of each message. Rates and CPU times of such benchmarks count the message once per
/// receiver.
pub(crate) fn receivers(workload: &Workload) -> f64 {
    let (pattern, parties) = workload.pattern_and_parties();
    if pattern.is_to_all() { f64::from(parties.get()) } else { 1.0 }
}

/// Explains what the figures omit if a program runs in an interpreter or a virtual machine; `None` if none does.
pub(crate) fn runtimes(languages: &[Language]) -> Option<String> {
    let has_runtime =
        |language: &&Language| matches!(language, Language::Python | Language::Node | Language::Java);
    let names: Vec<_> = languages.iter().filter(has_runtime).map(|language| language.title()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "all times are of native code, without the time that {} adds per message",
            names.join(" and ")
        )
    })
}
