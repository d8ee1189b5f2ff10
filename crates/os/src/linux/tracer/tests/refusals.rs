//! Errors if tracing is refused.

use crate::error::check;
use crate::linux::process::{Bond, Exit, fork};
use crate::linux::test_child::TestChild;
use crate::linux::tracer::Tracer;
use std::io;
use std::os::fd::AsFd;

#[test]
fn a_refusal_says_why() {
    let process = TestChild::new(&[], || ());
    let (mut tracer, mut other) = (Tracer::new().unwrap(), Tracer::new().unwrap());
    tracer.attach(process.child.pid()).unwrap();
    let error = other.attach(process.child.pid()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("traces it already"), "{error}");
    drop(tracer);
    process.play(|| ());
    process.end();

    // A filter stays for the rest of a process's life, so this process is short-lived.
    let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || {
        let mut grandchild = TestChild::new(&[], || ());
        forbid_ptrace().unwrap();
        let error = Tracer::new().unwrap().attach(grandchild.child.pid()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(error.to_string().contains("seccomp"), "{error}");
        assert_eq!(grandchild.child.try_wait(), None);
        0
    })
    .unwrap();
    assert_eq!(child.wait(), Some(Exit::Code(0)));
}

/// Makes ptrace fail from now on.
fn forbid_ptrace() -> io::Result<()> {
    let step = |code: u32, k, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_ptrace as u32, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: plain integers, and a program that contains its length, which the kernel copies.
    unsafe {
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        check(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)).map(drop)
    }
}
