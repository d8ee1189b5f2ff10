//! Inherited conditions are recorded, judged by `doctor`, and compared.

use crate::common::{FinishedCommand, Place, is_root};
use furlong_model::Conditions;

const RUN: &str = "run pipe --trials 2 --budget 2ms --no-progress --save";

/// Sets the conditions of this process, then starts furlong.
fn under(place: &Place, setting: &str, words: &str) -> FinishedCommand {
    place.finish(&mut place.shell(&format!("exec {setting} \"$FURLONG\" {words}")))
}

fn recorded(place: &Place, run: &str) -> Conditions {
    *furlong_analysis::Run::read(place.saved(run)).unwrap().header.machine.conditions.expect("conditions")
}

#[test]
fn changed_conditions_are_recorded_judged_and_compared() {
    let place = Place::new();
    under(&place, "env", &format!("{RUN} plain")).expect_code(0);
    let changed = "nice -n 7 prlimit --sigpending=77";
    under(&place, changed, &format!("{RUN} nice")).expect_code(0);
    let (plain, nice) = (recorded(&place, "plain"), recorded(&place, "nice"));
    let other = || Some("other".to_owned());
    assert_eq!((plain.policy.clone(), nice.policy.clone()), (other(), other()));
    assert_eq!(nice.nice, plain.nice.map(|nice| (nice + 7).min(19)));
    assert!(plain.seccomp.is_some() && plain.timer_slack_ns.is_some() && plain.huge_pages_disabled.is_some());
    let soft =
        |name: &str| nice.limits.iter().find(|(limit, _)| limit == name).map(|(_, value)| value.clone());
    assert_eq!(soft("RLIMIT_SIGPENDING").as_deref(), Some("77"));

    let compared = place.run("compare plain nice".split(' ')).expect_code(0).stdout;
    for words in ["nice value", "limit RLIMIT_SIGPENDING"] {
        assert!(compared.contains(words), "no '{words}' in {compared}");
    }
    assert!(!compared.contains("scheduling policy"), "{compared}");
    let doctor = under(&place, changed, "doctor").expect_code(0).stdout;
    assert!(doctor.contains("Nice value 7: "), "{doctor}");
    // The line about the machine also names the conditions.
    let shown = place.run("runs show nice".split(' ')).expect_code(0).stdout;
    assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains("nice value 7"), "{shown}");
}

#[test]
fn real_time_policy_is_recorded_and_judged() {
    let place = Place::new();
    if !is_root() || place.finish(&mut place.shell("chrt -f 20 true")).code != Some(0) {
        furlong_testing::skip!("needs root");
    }
    under(&place, "chrt -f 20", &format!("{RUN} fifo")).expect_code(0);
    let conditions = recorded(&place, "fifo");
    assert_eq!((conditions.policy.as_deref(), conditions.priority), (Some("fifo"), Some(20)));
    let doctor = under(&place, "chrt -f 20", "doctor").expect_code(0).stdout;
    assert!(
        doctor.contains("Scheduling policy fifo 20: figures hold for programs with this policy"),
        "{doctor}"
    );
}
