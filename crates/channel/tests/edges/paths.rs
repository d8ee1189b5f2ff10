//! Files at a listener's path that are not its socket.

use super::{fork, status_of};
use crate::common;
use furlong_channel::{Channel, Error, Listener, Options};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;

fn bind(path: &Path) -> Result<Listener, Error> {
    Listener::bind(path.to_str().unwrap(), &Options::new().capacity(4096))
}

fn expect_in_use(path: &Path) {
    match bind(path) {
        Err(Error::System(error)) => assert_eq!(error.kind(), ErrorKind::AddrInUse, "{}", path.display()),
        other => panic!("{}: {other:?}", path.display()),
    }
}

#[test]
fn bind_keeps_files_that_are_not_sockets() {
    let folder = common::folder();
    let (file, link, pipe) = (folder.join("file"), folder.join("link"), folder.join("pipe"));
    let left = folder.join("left");
    fs::write(&file, "my thesis").unwrap();
    drop(std::os::unix::net::UnixListener::bind(&left).unwrap());
    symlink(&left, &link).unwrap();
    let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
    // SAFETY: the name is NUL-terminated.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    for path in [&file, &link, &pipe, &folder] {
        expect_in_use(path);
        assert!(path.symlink_metadata().is_ok(), "{} was removed", path.display());
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "my thesis");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn dropped_listener_keeps_files_that_replaced_its_socket() {
    let folder = common::folder();
    let path = folder.join("socket");
    let first = bind(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let second = bind(&path).unwrap();
    drop(first);
    let connecting = thread::spawn({
        let path = path.clone();
        move || Channel::connect(path.to_str().unwrap(), &Options::new().capacity(4096))
    });
    let connected = super::within(common::PATIENCE / 4, move || second.accept().map(|_| second).map(drop));
    connected.unwrap();
    connecting.join().unwrap().unwrap();
    let listener = bind(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "my thesis").unwrap();
    drop(listener);
    assert_eq!(fs::read_to_string(&path).unwrap(), "my thesis");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn dropped_listener_removes_its_socket_from_another_directory() {
    let folder = common::folder();
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("socket"), "my thesis").unwrap();
    // The working directory belongs to the whole process.
    let child = fork(|| {
        std::env::set_current_dir(&folder).unwrap();
        let listener = bind(Path::new("socket")).unwrap();
        std::env::set_current_dir(&other).unwrap();
        drop(listener);
        true
    });
    assert_eq!(status_of(child), 0);
    assert_eq!(fs::read_to_string(other.join("socket")).unwrap(), "my thesis");
    assert!(!folder.join("socket").exists());
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn listener_dropped_in_a_fork_keeps_the_socket() {
    let folder = common::folder();
    let path = folder.join("socket");
    let listener = bind(&path).unwrap();
    let mut copy = Some(listener);
    let child = fork(|| copy.take().is_some());
    assert_eq!(status_of(child), 0);
    assert!(path.exists());
    drop(copy);
    assert!(!path.exists());
    fs::remove_dir(&folder).unwrap();
}
