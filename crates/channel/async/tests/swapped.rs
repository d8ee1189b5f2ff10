//! Ends that are swapped between two registrations. One test, so that the process has one runtime.

use furlong_channel::tokio::Receiver;
use furlong_channel::{OneWayDescriptors, Options};
use std::collections::BTreeSet;
use std::fs;

/// Returns the tokens of all registrations in the epoll instances of this process, as /proc/self/fdinfo lists them.
fn tokens() -> BTreeSet<String> {
    let descriptors = fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
    let epolls = descriptors.filter(|entry| {
        fs::read_link(entry.path()).is_ok_and(|target| target.to_string_lossy().contains("eventpoll"))
    });
    let infos = epolls.map(|entry| {
        fs::read_to_string(format!("/proc/self/fdinfo/{}", entry.file_name().to_string_lossy()))
            .expect("a list")
    });
    let token = |line: &str| {
        line.split("data:").nth(1).map(|rest| rest.trim_start().split(' ').next().map(str::to_owned))
    };
    infos.flat_map(|info| info.lines().filter_map(token).flatten().collect::<Vec<_>>()).collect()
}

/// tokio frees what a token points to when the registration is dropped.
#[test]
fn dropped_registration_leaves_epoll_although_its_end_was_swapped() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
    runtime.block_on(async {
        let options = Options::new().capacity(4096);
        let [(_one, mut first), (_other, mut second)] = [(); 2].map(|()| {
            let [sender, receiver] = OneWayDescriptors::pair(&options).expect("a pair");
            let end = furlong_channel::Receiver::from_descriptors(receiver, &options).expect("an end");
            (sender, Some(end))
        });
        let before = tokens();
        let mut kept = Receiver::new(first.take().expect("an end")).expect("a receiver");
        let with_kept = tokens();
        let mut dropped = Receiver::new(second.take().expect("an end")).expect("a receiver");
        assert_eq!((with_kept.len(), tokens().len()), (before.len() + 1, before.len() + 2));
        std::mem::swap(kept.get_mut(), dropped.get_mut());
        drop(dropped);
        assert_eq!(tokens(), with_kept);
    });
}
