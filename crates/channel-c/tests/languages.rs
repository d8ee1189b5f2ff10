//! The header, and programs in C and Python that exchange messages with this library in Rust.

use furlong_channel::{Channel, Error, Listener, Options};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any successful step of the tests.
const PATIENCE: Duration = Duration::from_secs(20);

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the path of the library, which cargo builds into the directory of this test.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libfurlong_channel_c.so")
}

/// Returns the names of all functions in a text.
fn functions(text: &str) -> BTreeSet<&str> {
    let names = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_type = |name: &str| {
        [
            "listener", "sender", "receiver", "options", "peer", "bytes", "end", "error", "waiting",
            "channel", "rule",
        ]
        .iter()
        .any(|ending| name.strip_prefix("furlong_") == Some(ending))
    };
    names.filter(|name| name.starts_with("furlong_") && !is_type(name)).collect()
}

#[test]
fn the_header_has_every_function_of_the_library_and_no_other() {
    let mut sources = String::new();
    for entry in fs::read_dir(folder().join("src")).unwrap() {
        sources += &fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    let exported: BTreeSet<_> =
        sources.split("extern \"C\" fn ").skip(1).filter_map(|text| text.split('(').next()).collect();
    let exported: BTreeSet<_> = exported.into_iter().filter(|name| name.starts_with("furlong_")).collect();
    let header = fs::read_to_string(folder().join("include/furlong_channel.h")).unwrap();
    // A mention in a comment is not a declaration.
    let code: String = header.split("*/").map(|part| part.split("/*").next().unwrap()).collect();
    assert!(exported.len() > 20);
    assert_eq!(functions(&code), exported);
}

/// Compiles a program next to a link to the library, because programs look for its SONAME.
fn compile(source: &Path, language: &[&str], program: &Path) {
    let scratch = program.parent().unwrap();
    let name = "libfurlong_channel.so.0.1";
    let _ = std::os::unix::fs::symlink(library(), scratch.join(name));
    let compiled = Command::new("cc")
        .args(language)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(folder().join("include"))
        .arg(source)
        .arg("-o")
        .arg(program)
        .arg("-L")
        .arg(scratch)
        .args([&format!("-l:{name}"), "-Wl,-rpath"])
        .arg(scratch)
        .status();
    assert!(compiled.unwrap().success(), "{} does not compile", source.display());
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sets the environment so that a program finds the package and the library that cargo built.
fn with_package(command: &mut Command) -> &mut Command {
    command.env("PYTHONPATH", folder().join("python")).env("FURLONG_CHANNEL_LIBRARY", library())
}

fn start(command: &mut Command) -> Process {
    Process(command.stdout(Stdio::piped()).spawn().unwrap())
}

/// Returns the output of a process after it has exited.
fn printed(mut process: Process) -> String {
    use std::io::Read;
    let mut text = String::new();
    process.0.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(process.0.wait().unwrap().success(), "{text}");
    text
}

/// Connects once the other process listens.
fn connect(name: &str) -> Channel {
    let begin = Instant::now();
    loop {
        match Channel::connect(name, &Options::new()) {
            Ok(channel) => return channel,
            Err(error) => assert!(begin.elapsed() < PATIENCE, "{error}"),
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Lets a program in another language answer this program, and then lets this program answer it. The first argument of
/// `command` is the role of the program: `connect` or `listen`.
fn talk(command: impl Fn(&str, &str) -> Command, name: &str) {
    let listener = Listener::bind(name, &Options::new()).unwrap();
    let process = start(&mut command("connect", name));
    // With a timeout, because a program that fails never connects.
    let (sender, accepted) = mpsc::channel();
    thread::spawn(move || sender.send(listener.accept().unwrap()).is_ok());
    let mut channel = accepted.recv_timeout(PATIENCE).unwrap();
    for number in 1..=3 {
        let message = channel.recv_vec().unwrap();
        assert_eq!(message, format!("message {number}").as_bytes());
        channel.send(&message).unwrap();
    }
    assert!(matches!(channel.recv_vec(), Err(Error::Closed)));
    assert_eq!(printed(process), "message 1 came back\nmessage 2 came back\nmessage 3 came back\n");
    // A new name, because the listener above may not have removed its socket yet.
    let name = &format!("{name}-2");
    let process = start(&mut command("listen", name));
    let mut channel = connect(name);
    for len in [0, 5, 900] {
        channel.send(&vec![len as u8; len]).unwrap();
        assert_eq!(channel.recv_vec().unwrap(), vec![len as u8; len]);
    }
    drop(channel);
    printed(process);
}

#[test]
fn a_program_in_c_talks_with_one_in_rust() {
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("talk");
    compile(&folder().join("examples/talk.c"), &["-std=c11"], &program);
    let name = scratch.path().join("socket");
    let command = |what: &str, name: &str| {
        let mut command = Command::new(&program);
        command.args([what, name]);
        command
    };
    talk(command, name.to_str().unwrap());
}

#[test]
fn a_program_in_python_talks_with_one_in_rust() {
    let scratch = tempfile::tempdir().unwrap();
    let name = scratch.path().join("socket");
    let command = |what: &str, name: &str| {
        let mut command = Command::new("python3");
        with_package(&mut command).arg("-B").arg(folder().join("examples/talk.py")).args([what, name]);
        command
    };
    talk(command, name.to_str().unwrap());
}

/// Sends Ctrl-C to the example in Python, which waits for a client or for a message.
#[test]
fn signal_ends_a_program_in_python_that_waits() {
    let scratch = tempfile::tempdir().unwrap();
    for has_client in [false, true] {
        let name = scratch.path().join(format!("socket-{has_client}"));
        // Python does not handle a signal that was ignored at its start, as in background jobs of a shell.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", "python3", "-B"]).arg(folder().join("examples/talk.py"));
        with_package(&mut command).arg("listen").arg(&name);
        let mut process = start(command.stderr(Stdio::null()));
        let begin = Instant::now();
        while !name.exists() {
            assert!(begin.elapsed() < PATIENCE);
            thread::sleep(Duration::from_millis(5));
        }
        let client = has_client.then(|| {
            let mut client = connect(name.to_str().unwrap());
            client.send(b"there").unwrap();
            assert_eq!(client.recv_vec().unwrap(), b"there");
            client
        });
        let interrupt = Command::new("kill").args(["-INT", &process.0.id().to_string()]).status();
        assert!(interrupt.unwrap().success());
        let begin = Instant::now();
        while process.0.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < PATIENCE, "with a client: {has_client}");
            thread::sleep(Duration::from_millis(5));
        }
        drop(client);
    }
}

/// Tests every call of the header that the examples do not make, and its errors.
#[test]
fn calls_in_c_do_what_the_header_says() {
    let scratch = tempfile::tempdir().unwrap();
    for calls in ["calls", "errors"] {
        let program = scratch.path().join(calls);
        compile(&folder().join(format!("tests/{calls}.c")), &["-std=c11"], &program);
        let output = Command::new(&program).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
