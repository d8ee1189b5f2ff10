//! Possible leftovers: names in memory, System V objects, message queues, block devices, mounts, huge pages, files,
//! processes.

use super::{Place, machine};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// The time after which a leftover counts. The cleanup process of a killed run works after the run's end, and other
/// tests create objects for a short time.
const PATIENCE: Duration = Duration::from_secs(10);

/// Everything on the machine, outside the test's own place, that a run could have left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    things: BTreeSet<String>,
    limits: machine::Limits,
}

impl Snapshot {
    /// Records the current state.
    pub fn take() -> Snapshot {
        let mut things = BTreeSet::new();
        let ours = |name: &str| name.contains("furlong");
        things.extend(names_in("/dev/shm").filter(|name| ours(name)).map(|name| format!("/dev/shm/{name}")));
        things.extend(queues().into_iter().filter(|name| ours(name)).map(|name| format!("queue {name}")));
        // The first two columns of a System V object are its key and its identifier. These objects have no names. The
        // objects of a run are in a separate namespace, so none is listed here.
        for kind in ["shm", "msg", "sem"] {
            let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
            for line in table.lines().skip(1) {
                let identity: Vec<_> = line.split_whitespace().take(2).collect();
                things.insert(format!("System V {kind} {}", identity.join(" ")));
            }
        }
        things.extend(machine::devices());
        things.extend(machine::control_groups());
        things.extend(machine::mounts());
        Snapshot { things, limits: machine::limits() }
    }

    /// Fails if something new exists, in the place or outside it, and does not disappear. Returns how long it took
    /// until nothing was left.
    #[track_caller]
    pub fn expect_nothing_left(&self, place: &Place) -> Duration {
        let start = Instant::now();
        let mut left = self.left(place);
        while !left.is_empty() {
            assert!(start.elapsed() < PATIENCE, "left: {left:#?}");
            std::thread::sleep(Duration::from_millis(10));
            // Names are never reused, so the short-lived objects of another test do not exist in every look.
            let now = self.left(place);
            left.retain(|thing| now.contains(thing));
            left.extend(now.into_iter().filter(|thing| thing.starts_with("process")));
        }
        start.elapsed()
    }

    /// Returns everything that exists now, in the place or outside it, but not in this snapshot.
    pub fn left(&self, place: &Place) -> BTreeSet<String> {
        let now = Snapshot::take();
        let mut left: BTreeSet<_> = now.things.difference(&self.things).cloned().collect();
        left.extend(machine::raised(&self.limits, &now.limits));
        let temporary = place.path("tmp");
        left.extend(
            names_in(&temporary.to_string_lossy()).map(|name| format!("{}/{name}", temporary.display())),
        );
        left.extend(place.processes().iter().map(|process| format!("process {process:?}")));
        left
    }
}

fn names_in(folder: &str) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// Returns the POSIX queues. They are only listed in a file system that only root may mount.
fn queues() -> Vec<String> {
    if !furlong_os::identity::is_administrator() {
        return Vec::new();
    }
    let script = "mount -t mqueue none /mnt && ls /mnt";
    let output = Command::new("unshare").args(["--mount", "sh", "-c", script]).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}
