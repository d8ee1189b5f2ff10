//! `posix_spawn`: starts a program without a copy of this process in between.

use crate::error::{Context, check_number};
use crate::linux::limited::LimitContext;
use crate::linux::process::Child;
use std::ffi::CString;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// Starts `program` with `arguments` and the environment of this process. It inherits 0 to 2 and the descriptor `inherit`, under
/// its number; all others of this process close on exec. It is not bound to its parent, so the program must exit on its own.
pub fn posix_spawn(program: &Path, arguments: &[&str], inherit: RawFd) -> io::Result<Child> {
    let path = CString::new(program.as_os_str().as_bytes())?;
    let arguments: Vec<CString> =
        arguments.iter().map(|text| CString::new(*text)).collect::<Result<_, _>>()?;
    let mut pointers: Vec<*mut libc::c_char> = vec![path.as_ptr().cast_mut()];
    pointers.extend(arguments.iter().map(|argument| argument.as_ptr().cast_mut()));
    pointers.push(ptr::null_mut());
    let mut actions = std::mem::MaybeUninit::<libc::posix_spawn_file_actions_t>::zeroed();
    let mut pid: libc::pid_t = 0;
    // SAFETY: the actions are initialised before they are used and destroyed once; path and arguments are NUL-terminated, and
    // their list ends with a null pointer; `environ` is the C library's own, which no code of ours changes. A descriptor that is
    // duplicated to itself stays open on exec.
    let result = unsafe {
        check_number(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
        let added =
            check_number(libc::posix_spawn_file_actions_adddup2(actions.as_mut_ptr(), inherit, inherit));
        let spawned = added.and_then(|()| {
            check_number(libc::posix_spawn(
                &raw mut pid,
                path.as_ptr(),
                actions.as_ptr(),
                ptr::null(),
                pointers.as_ptr(),
                libc::environ.cast_const(),
            ))
        });
        libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
        spawned
    };
    result.limited("fork").context(|| format!("posix_spawn {}", program.display()))?;
    Ok(Child::of(pid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::process::Exit;
    use std::os::fd::AsRawFd;

    #[test]
    fn it_inherits_what_it_is_given() {
        let (reader, writer) = crate::linux::pipe::pipe().unwrap();
        // Not `>&N`, because dash accepts one digit.
        let script = format!("echo x >/proc/self/fd/{}", writer.as_raw_fd());
        let mut child = posix_spawn("/bin/sh".as_ref(), &["-c", &script], writer.as_raw_fd()).unwrap();
        drop(writer);
        assert_eq!(child.wait(), Some(Exit::Code(0)));
        let mut text = String::new();
        io::Read::read_to_string(&mut std::fs::File::from(reader), &mut text).unwrap();
        assert_eq!(text, "x\n");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let (_reader, writer) = crate::linux::pipe::pipe().unwrap();
        let error = posix_spawn("/no/such/program".as_ref(), &[], writer.as_raw_fd()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
