//! Conditions of the process: by name for comparisons, and the conditions that differ from the defaults of Linux.

use crate::machine_facts::UNKNOWN;
use furlong_model::{
    Conditions, DEBUG_BUILD, DEFAULT_CPU_WEIGHT, DEFAULT_TIMER_SLACK_NS, Machine, format_digits, format_ns,
};

/// Limits that are unlimited by default, so that a value ends processes or fails calls.
const UNLIMITED: [&str; 5] = ["RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_RTTIME"];

/// Smallest sufficient values of other limits for all benchmarks of two processes.
const ENOUGH: [(&str, u64); 4] =
    [("RLIMIT_NOFILE", 64), ("RLIMIT_NPROC", 64), ("RLIMIT_SIGPENDING", 16), ("RLIMIT_STACK", 1 << 20)];

/// A condition that differs from the default and changes figures or rejects benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// furlong is compiled without optimisation.
    DebugBuild,
    /// Another scheduling policy than `other`, with its real-time priority.
    Policy {
        /// Name of the policy.
        policy: String,
        /// Real-time priority; 0 for policies without one.
        priority: u64,
        /// Whether roles get the default policy instead.
        reset_on_fork: bool,
    },
    /// A nice value other than 0.
    Nice(i64),
    /// Another timer slack than 50 us.
    TimerSlack {
        /// Slack in nanoseconds.
        ns: u64,
    },
    /// No transparent huge pages for this process.
    HugePagesDisabled,
    /// A smaller CPU weight of a control group than the default.
    CpuWeight(u64),
    /// Seccomp filters on every system call.
    Seccomp {
        /// Number of filters; `None` if unknown.
        filters: Option<u64>,
    },
    /// A label of a security module that restricts the process.
    SecurityLabel(String),
    /// A mitigation that this process has and others do not.
    Speculation {
        /// Speculation that is limited, as in `store bypass`.
        kind: &'static str,
        /// State, as in `thread mitigated`.
        state: String,
    },
    /// A container.
    Container(String),
    /// A limit below its default.
    Limit {
        /// Name of the limit, as in `RLIMIT_FSIZE`.
        name: String,
        /// Value of the limit.
        value: String,
    },
}

/// Returns the conditions of a machine's process that differ from the defaults. The noise verdict covers CPU quotas.
pub fn unusual_conditions(machine: &Machine) -> Vec<Condition> {
    let Some(known) = &machine.conditions else { return Vec::new() };
    let policy = known.policy.as_ref().filter(|policy| *policy != "other").map(|policy| Condition::Policy {
        policy: policy.clone(),
        priority: known.priority.unwrap_or(0),
        reset_on_fork: known.reset_on_fork == Some(true),
    });
    // Timers of real-time policies have no slack.
    let is_real_time =
        known.priority.is_some_and(|priority| priority > 0) || known.policy.as_deref() == Some("deadline");
    let usual_ns = if is_real_time { 0 } else { DEFAULT_TIMER_SLACK_NS };
    let slack = known.timer_slack_ns.filter(|ns| *ns != usual_ns);
    let filtered = known.seccomp.as_deref().is_some_and(|mode| mode != "disabled");
    let weight = known.cpu_weight.filter(|weight| *weight < DEFAULT_CPU_WEIGHT);
    let label = known.security_label.clone().filter(|label| is_restricted(label));
    let speculation = |kind, state: &Option<String>| {
        let state = state.clone().filter(|state| is_own_mitigation(state))?;
        Some(Condition::Speculation { kind, state })
    };
    let single = [
        (known.build.as_deref() == Some(DEBUG_BUILD)).then_some(Condition::DebugBuild),
        policy,
        known.nice.filter(|nice| *nice != 0).map(Condition::Nice),
        slack.map(|ns| Condition::TimerSlack { ns }),
        (known.huge_pages_disabled == Some(true)).then_some(Condition::HugePagesDisabled),
        weight.map(Condition::CpuWeight),
        filtered.then_some(Condition::Seccomp { filters: known.seccomp_filters }),
        label.map(Condition::SecurityLabel),
        speculation("speculative store bypass", &known.store_bypass),
        speculation("indirect branch speculation", &known.indirect_branch),
        known.container.clone().filter(|kind| kind != "none").map(Condition::Container),
    ];
    let low = known.limits.iter().filter(|(name, value)| is_low(name, value));
    let low = low.map(|(name, value)| Condition::Limit { name: name.clone(), value: value.clone() });
    single.into_iter().flatten().chain(low).collect()
}

/// Returns whether a label of AppArmor or SELinux restricts a process. Without a policy, AppArmor reports `unconfined`, and the
/// types of SELinux begin with it.
fn is_restricted(label: &str) -> bool {
    !label.contains("unconfined") && label != "kernel"
}

/// Returns whether a speculation control of /proc/self/status applies to a process that requested it or has a filter. The
/// mitigations of the whole machine are separate facts.
fn is_own_mitigation(state: &str) -> bool {
    state.starts_with("thread") && state.ends_with("mitigated")
        || state.starts_with("conditional") && state.ends_with("disabled")
}

fn is_low(name: &str, value: &str) -> bool {
    let Ok(value) = value.parse::<u64>() else { return false };
    let enough = ENOUGH.iter().find(|(limit, _)| *limit == name);
    UNLIMITED.contains(&name) || enough.is_some_and(|(_, enough)| value < *enough)
}

/// Returns the conditions by name, except limits. Names and order are fixed.
pub(crate) fn condition_facts(conditions: &Conditions) -> [(&'static str, String); 20] {
    let text = |fact: &Option<String>| fact.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let number = |fact: Option<u64>| text(&fact.map(|number| number.to_string()));
    let time = |ns: Option<f64>| text(&ns.map(format_ns));
    let yes_or_no = |fact: Option<bool>| text(&fact.map(|yes| if yes { "yes" } else { "no" }.to_owned()));
    let none = || "none".to_owned();
    let quota = conditions.quota_cpus.map_or_else(none, format_digits);
    // Older versions did not record the period.
    let period =
        conditions.quota_cpus.map_or_else(none, |_| time(conditions.quota_period_us.map(|us| us * 1e3)));
    [
        ("build of furlong", text(&conditions.build)),
        ("scheduling policy", text(&conditions.policy)),
        ("real-time priority", number(conditions.priority)),
        ("nice value", text(&conditions.nice.map(|nice| nice.to_string()))),
        ("reset on fork", yes_or_no(conditions.reset_on_fork)),
        ("time slice", time(conditions.slice_ns.map(|ns| ns as f64))),
        ("autogroup", text(&conditions.autogroup)),
        ("timer slack", time(conditions.timer_slack_ns.map(|ns| ns as f64))),
        ("huge pages disabled", yes_or_no(conditions.huge_pages_disabled)),
        ("CPU quota", quota),
        ("CPU quota period", period),
        ("CPU weight", number(conditions.cpu_weight)),
        ("seccomp", text(&conditions.seccomp)),
        ("seccomp filters", number(conditions.seccomp_filters)),
        ("no new privileges", yes_or_no(conditions.no_new_privileges)),
        ("security label", text(&conditions.security_label)),
        ("speculative store bypass", text(&conditions.store_bypass)),
        ("indirect branch speculation", text(&conditions.indirect_branch)),
        ("container", text(&conditions.container)),
        ("memory nodes", text(&conditions.memory_nodes)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unusual(change: impl FnOnce(&mut Conditions)) -> Vec<Condition> {
        let mut conditions = Conditions {
            policy: Some("other".into()),
            nice: Some(0),
            timer_slack_ns: Some(DEFAULT_TIMER_SLACK_NS),
            cpu_weight: Some(100),
            seccomp: Some("disabled".into()),
            limits: vec![
                ("RLIMIT_STACK".into(), "8388608".into()),
                ("RLIMIT_CPU".into(), "unlimited".into()),
            ],
            ..Conditions::default()
        };
        change(&mut conditions);
        unusual_conditions(&Machine { conditions: Some(Box::new(conditions)), ..Machine::default() })
    }

    #[test]
    fn defaults_and_old_records_have_nothing_unusual() {
        assert_eq!(unusual(|_| {}), []);
        assert_eq!(unusual_conditions(&Machine::default()), []);
    }

    #[test]
    fn each_changed_condition_is_found() {
        let fifo = Condition::Policy { policy: "fifo".to_owned(), priority: 20, reset_on_fork: false };
        assert_eq!(
            unusual(|known| {
                (known.policy, known.priority) = (Some("fifo".into()), Some(20));
                known.timer_slack_ns = Some(0);
            }),
            [fifo]
        );
        assert_eq!(unusual(|known| known.nice = Some(-20)), [Condition::Nice(-20)]);
        assert_eq!(unusual(|known| known.timer_slack_ns = Some(1)), [Condition::TimerSlack { ns: 1 }]);
        assert_eq!(unusual(|known| known.huge_pages_disabled = Some(true)), [Condition::HugePagesDisabled]);
        assert_eq!(unusual(|known| known.cpu_weight = Some(10)), [Condition::CpuWeight(10)]);
        assert_eq!(
            unusual(|known| (known.seccomp, known.seccomp_filters) = (Some("filter".into()), Some(2))),
            [Condition::Seccomp { filters: Some(2) }]
        );
        assert_eq!(unusual(|known| known.build = Some("debug".into())), [Condition::DebugBuild]);
        assert_eq!(unusual(|known| known.build = Some("dist".into())), []);
        let docker = "docker-default (enforce)";
        assert_eq!(
            unusual(|known| known.security_label = Some(docker.into())),
            [Condition::SecurityLabel(docker.into())]
        );
        assert_eq!(unusual(|known| known.security_label = Some("unconfined".into())), []);
        for (state, is_unusual) in
            [("thread force mitigated", true), ("thread vulnerable", false), ("globally mitigated", false)]
        {
            assert_eq!(!unusual(|known| known.store_bypass = Some(state.into())).is_empty(), is_unusual);
        }
        assert_eq!(
            unusual(|known| known.indirect_branch = Some("conditional force disabled".into())).len(),
            1
        );
        assert_eq!(
            unusual(|known| known.container = Some("docker".into())),
            [Condition::Container("docker".into())]
        );
        assert_eq!(unusual(|known| known.container = Some("none".into())), []);
        let low = |name: &str, value: &str| {
            unusual(|known| known.limits = vec![(name.to_owned(), value.to_owned())]).len()
        };
        assert_eq!(
            [low("RLIMIT_FSIZE", "1000"), low("RLIMIT_NPROC", "3"), low("RLIMIT_NPROC", "4000")],
            [1, 1, 0]
        );
    }
}
