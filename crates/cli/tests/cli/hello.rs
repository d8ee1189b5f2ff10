//! Processes that an adapter starts before it has sent hello.

use crate::common::{Place, Snapshot, look_for};
use std::fs;
use std::time::Duration;

/// The time within which a change must become visible.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes the manifest of an adapter that runs this line of shell.
fn write_adapter(place: &Place, script: &str) {
    fs::create_dir(place.path("ad")).unwrap();
    let text = format!(
        "name = \"x\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\nlicence = \"MIT\"\n[[rows]]\nname = \"mine\"\n"
    );
    fs::write(place.path("ad/adapter.toml"), text).unwrap();
}

#[test]
fn signal_while_an_adapter_is_asked_for_its_name_leaves_no_process() {
    let (before, place) = (Snapshot::take(), Place::new());
    write_adapter(&place, "setsid sleep 299 & exec sleep 299");
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGKILL] {
        for words in [&["adapter", "check", "ad"][..], &["run", "--adapter", "ad", "--no-save"]] {
            let running = place.start(&mut place.furlong(words.iter().copied()));
            let sleeping =
                || place.processes().iter().filter(|process| process.arguments == "sleep 299 ").count();
            look_for(PATIENCE, || (sleeping() == 2).then_some(())).expect("processes of the adapter");
            running.signal(signal);
            assert_eq!(running.finish_within(PATIENCE).signal, Some(signal), "{words:?}");
            before.expect_nothing_left(&place);
        }
    }
}

#[test]
fn no_process_is_left_of_an_adapter_that_was_asked_for_its_name() {
    let place = Place::new();
    write_adapter(&place, "(setsid sleep 299 &) ; setsid sleep 299 & exec false");
    for words in [&["adapter", "check", "ad"][..], &["run", "--adapter", "ad", "--no-save"]] {
        let finished = place.run(words.iter().copied());
        assert_ne!(finished.code, Some(0), "{finished:#?}");
        let left = place.processes();
        assert!(left.is_empty(), "{words:?}: {left:#?}");
    }
}
