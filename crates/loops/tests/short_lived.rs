//! Tests of links that live for one message, with every mechanism. Unit tests would compile the loops of every mechanism a
//! second time.

use furlong_loops::built_in::{BuiltIn, all_built_in};
use furlong_loops::short_lived::open_short_lived;
use furlong_mechanism::{LinkSpecification, Message};
use furlong_model::{Access, RequestedConditions, Start};
use furlong_os::AsHandle;
use furlong_os::process::{Bond, Exit, fork};
use std::path::Path;

fn specification(folder: &Path, blocking: bool) -> LinkSpecification {
    LinkSpecification {
        name: format!("furlong-{:016x}", u64::from(std::process::id())),
        key: (std::process::id() as i32) << 1 | 1 << 30,
        sizes_bytes: [8; 2],
        depth: 1,
        receivers: 1,
        buffer_bytes: None,
        access: Access::Copy,
        conditions: RequestedConditions::default(),
        blocking,
        folder: folder.to_owned(),
        file_folder: folder.to_owned(),
        folder_fault: None,
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Makes 20 links of a mechanism, if it can carry 8 bytes.
fn make_links(built_in: &BuiltIn, folder: &Path) {
    let promised = built_in.capabilities;
    let carries = promised.fixed_size_bytes.is_none_or(|size| size == 8);
    let wait = promised.waits[0];
    if promised.start == Start::Alone || !carries {
        return;
    }
    if let Err(lack) = (built_in.probe)() {
        let name = promised.name;
        let links = format_args!("short-lived links of {name}");
        return furlong_testing::skipped(links, format_args!("needs {name}: {}", lack.reason));
    }
    let specification = specification(folder, !wait.needs_non_blocking());
    let mut links = open_short_lived(built_in, &specification, wait).unwrap();
    let links = links.channel();
    let mut message = Message::new(8).unwrap();
    let before = descriptors();
    for number in 1..=20u64 {
        message.copy_from_slice(&number.to_le_bytes());
        links.send(&mut message).unwrap_or_else(|error| panic!("{}/{wait}: {error}", promised.name));
        message.fill(0);
        links.recv(&mut message).unwrap();
        assert_eq!(&message[..], number.to_le_bytes(), "{}/{wait}", promised.name);
    }
    assert_eq!(descriptors(), before, "{}/{wait} leaves descriptors", promised.name);
}

#[test]
fn each_link_carries_its_message_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // A separate process has one thread, which receives all signals, and no other test opens descriptors there.
    let mut child = fork(&[], std::io::stderr().as_handle(), Bond::DiesWithParent, || {
        all_built_in().iter().for_each(|built_in| make_links(built_in, folder.path()));
        0
    })
    .unwrap();
    assert_eq!(child.wait(), Some(Exit::Code(0)));
    // Fails if a link has left a file.
    std::fs::remove_dir(folder.path()).unwrap();
}
