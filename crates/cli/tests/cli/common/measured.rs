//! Two saved runs, measured once for all tests that only read them.

use super::Place;
use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

/// The names of the runs.
const NAMES: [&str; 2] = ["before", "after"];

static MEASURED: LazyLock<[String; 2]> = LazyLock::new(|| {
    let place = Place::new();
    NAMES.map(|name| {
        let words = "run pipe posix-shm/spin --trials 3 --budget 2ms --no-progress --save";
        place.run(words.split(' ').chain([name])).expect_code(0);
        fs::read_to_string(place.saved(name)).expect("a run")
    })
});

impl Place {
    /// Returns a new place with the runs `before` and `after` of two rows. `after` is the newest.
    pub fn with_runs() -> Place {
        let place = Place::new();
        fs::create_dir_all(place.saved("").parent().expect("a folder")).expect("the data folder");
        for (name, run) in NAMES.iter().zip(&*MEASURED) {
            fs::write(place.saved(name), run).expect("a file in it");
        }
        let before = fs::File::open(place.saved("before")).expect("our own file");
        before.set_modified(SystemTime::now() - Duration::from_secs(60)).expect("our own file");
        place
    }
}
