//! Processes that an adapter starts before it has said hello.

use crate::common::Place;
use std::fs;

#[test]
fn no_process_is_left_of_an_adapter_that_was_asked_for_its_name() {
    let place = Place::new();
    fs::create_dir(place.path("ad")).unwrap();
    let script = "(setsid sleep 299 &) ; setsid sleep 299 & exec false";
    let text = format!(
        "name = \"x\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\nlicence = \"MIT\"\n[[rows]]\nname = \"mine\"\n"
    );
    fs::write(place.path("ad/adapter.toml"), text).unwrap();
    for words in [&["adapter", "check", "ad"][..], &["run", "--adapter", "ad", "--no-save"]] {
        let finished = place.run(words.iter().copied());
        assert_ne!(finished.code, Some(0), "{finished:#?}");
        let left = place.processes();
        assert!(left.is_empty(), "{words:?}: {left:#?}");
    }
}
