//! `furlong serve`: pages of saved runs for clients with the address, and the answers to all other clients.

use crate::common::{Place, RunningCommand, can_trace, look_for};
use furlong_testing::skip;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);
/// More connections than are answered at the same time.
const MANY: usize = 1000;

/// A server of the runs of one place.
struct RunServer<'a> {
    running: RunningCommand<'a>,
    /// `127.0.0.1:PORT`
    host: String,
    /// `/SECRET/`
    root: String,
}

impl RunServer<'_> {
    fn start<'a>(place: &'a Place, arguments: &[&str]) -> RunServer<'a> {
        let words = ["serve"].iter().chain(arguments).copied();
        let running = place.start(&mut place.furlong(words));
        let url = look_for(A_WHILE, || running.stdout().strip_suffix('\n').map(str::to_owned));
        let url = url.expect("an address");
        let (host, secret) =
            url.strip_prefix("http://").and_then(|url| url.split_once('/')).expect("an address");
        assert_eq!(secret.len(), 33, "{url}");
        let (host, root) = (host.to_owned(), format!("/{secret}"));
        RunServer { running, host, root }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("a connection");
        stream.set_read_timeout(Some(A_WHILE)).expect("a time-out");
        stream
    }

    /// Returns the answer to these bytes.
    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = Vec::new();
        // A client that is rejected immediately may see a reset after the answer.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).expect("text")
    }

    /// Returns the page behind the secret.
    fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {}{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.root, self.host))
    }
}

fn expect(answer: &str, status: u16, words: &[&str]) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    for word in words {
        assert!(answer.contains(word), "{word}: {answer}");
    }
}

fn save(place: &Place, row: &str, name: &str) {
    place
        .run(["run", row, "--trials", "1", "--budget", "2ms", "--no-progress", "--save", name])
        .expect_code(0);
}

#[test]
fn runs_are_listed_found_shown_and_compared() {
    let place = Place::new();
    save(&place, "pipe", "before");
    save(&place, "pipe", "after");
    std::fs::write(place.saved("no-run"), "{}\n").unwrap();
    let serving = RunServer::start(&place, &[]);
    let list = serving.get("");
    expect(
        &list,
        200,
        &["2 runs in ", "report?run=before", "report?run=after", "--save before", "Cache-Control: no-store"],
    );
    let found = serving.get("?find=SAVE+Aft");
    expect(&found, 200, &["report?run=after"]);
    assert!(!found.contains("report?run=before"), "{found}");
    expect(&serving.get("?find=%3Cscript%3E"), 200, &["&lt;script&gt;", "No run has this"]);
    expect(&serving.get("report?run=after"), 200, &["<title>furlong: after</title>", "href=\".&#x2f;\""]);
    let both = serving.get("report?run=before&run=after&baseline=after");
    expect(&both, 200, &["<title>furlong: after and before</title>", "Compared with after"]);
    assert!(!both.contains("Refresh:"), "{both}");
    // A HEAD request returns the head of the page without its body.
    let head = serving.ask(&format!("HEAD {} HTTP/1.1\r\nHost: {}\r\n\r\n", serving.root, serving.host));
    assert!(list.starts_with(&head) && head.ends_with("\r\n\r\n"), "{head}");

    expect(&serving.get("report"), 400, &["No run is selected"]);
    expect(&serving.get("report?run=none"), 404, &["No run is saved as 'none'"]);
    let text = std::fs::read_to_string(place.saved("after")).unwrap();
    std::fs::write(place.saved("after"), text.replacen("\n{", "\n}{", 1)).unwrap();
    expect(&serving.get("report?run=after"), 500, &["run after: "]);
    expect(&serving.get("report?run=before"), 200, &[]);
    serving.running.signal(libc::SIGINT);
    serving.running.finish().expect_code(130);
}

#[test]
fn a_run_in_progress_is_followed_until_its_end() {
    let place = Place::new();
    let words = ["run", "pipe", "--trials", "1000", "--budget", "20ms", "--save", "run"];
    let measured = place.start(&mut place.furlong(words));
    look_for(A_WHILE, || (place.records("run", "trial") >= 2).then_some(())).expect("trials that end");
    let serving = RunServer::start(&place, &[]);
    expect(&serving.get(""), 200, &["in progress"]);
    expect(&serving.get("report?run=run"), 200, &["Refresh: 2\r\n", "In progress: run."]);
    measured.signal(libc::SIGINT);
    measured.finish().expect_code(130);
    for path in ["", "report?run=run"] {
        let page = serving.get(path);
        assert!(!page.contains("Refresh:") && !page.to_lowercase().contains("in progress"), "{page}");
    }
}

#[test]
fn who_lacks_the_secret_or_calls_it_by_another_name_gets_nothing() {
    let place = Place::new();
    save(&place, "pipe", "mine");
    std::fs::write(place.path("secret.jsonl"), std::fs::read(place.saved("mine")).unwrap()).unwrap();
    let serving = RunServer::start(&place, &[]);
    let (root, host) = (&serving.root, &serving.host);
    let refused = |request: String, status: u16| {
        let answer = serving.ask(&request);
        expect(&answer, status, &["Content-Type: text/plain"]);
        assert!(!answer.contains("--save") && !answer.contains("<html"), "{request}: {answer}");
    };
    for path in ["/", "/report?run=mine", &root[..16], &format!("/..{root}"), &root.to_uppercase(), "*"] {
        refused(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"), 403);
    }
    // Such a name could be a foreign one that resolves to the loopback.
    for name in ["evil.example", "evil.example:80", "", "127.0.0.1"] {
        refused(format!("GET {root} HTTP/1.1\r\nHost: {name}\r\n\r\n"), 403);
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
        refused(format!("{method} {root} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n{{}}"), 405);
    }
    let outside = ["../secret", "..%2fsecret", "%2e%2e/secret.jsonl", "report/../../secret", "mine.jsonl"];
    for path in outside {
        refused(format!("GET {root}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n"), 404);
        refused(format!("GET {root}report?run={path} HTTP/1.1\r\nHost: {host}\r\n\r\n"), 404);
    }
    refused("\u{16}\u{3}\u{1}\r\n\r\n".to_owned(), 400);
    refused(format!("GET {root} HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "y".repeat(20 << 10)), 431);
}

#[test]
fn who_is_slow_or_comes_a_thousand_times_keeps_nobody_waiting() {
    let place = Place::new();
    save(&place, "pipe", "mine");
    let serving = RunServer::start(&place, &[]);
    // This client requests a page and reads nothing.
    let mut reads_nothing = serving.connect();
    let request = format!("GET {}report?run=mine HTTP/1.1\r\nHost: {}\r\n\r\n", serving.root, serving.host);
    reads_nothing.write_all(request.as_bytes()).unwrap();
    expect(&serving.get(""), 200, &["mine"]);
    // This client sends a byte from time to time.
    let mut slow = serving.connect();
    let told = look_for(A_WHILE, || {
        let _ = slow.write_all(b"G");
        slow.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut answer = [0; 256];
        slow.read(&mut answer).ok().map(|came| String::from_utf8_lossy(&answer[..came]).into_owned())
    });
    expect(&told.expect("an end"), 408, &[]);
    let idle: Vec<_> = (0..MANY).map(|_| serving.connect()).collect();
    let page =
        look_for(A_WHILE, || Some(serving.get("")).filter(|answer| answer.starts_with("HTTP/1.1 200 ")));
    assert!(page.is_some_and(|page| page.contains("mine")));
    drop((idle, reads_nothing));
    serving.running.signal(libc::SIGTERM);
    serving.running.finish().expect_code(143);
}

#[test]
fn what_cannot_be_served_is_said() {
    let place = Place::new();
    let serving = RunServer::start(&place, &[&place.path("").to_string_lossy()]);
    expect(&serving.get(""), 200, &["No run is saved here yet"]);
    let port = serving.host.rsplit(':').next().unwrap();
    place
        .run(["serve", "--port", port])
        .expect_code(1)
        .expect_complaint(&format!("cannot listen on port {port}"));
    place
        .run(["serve", "no/such/folder"])
        .expect_code(2)
        .expect_complaint("no/such/folder is not a directory");
    place.run(["serve", "--port", "70000"]).expect_code(2);
    assert!(Path::new(&place.path("")).is_dir());
}

#[test]
fn port_that_only_root_may_have_is_refused_with_a_remedy() {
    let place = Place::new();
    if !can_trace(&place) {
        skip!("needs strace");
    }
    fs::create_dir(place.path("runs")).unwrap();
    let mut command = place.program("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=bind", "-e", "inject=bind:error=EACCES"]);
    let serve = [env!("CARGO_BIN_EXE_furlong"), "serve", "runs", "--port", "80"];
    let refused = place.finish(command.args(serve)).expect_code(7);
    refused
        .expect_complaint("cannot listen on port 80")
        .expect_complaint("remedy: use a --port of 1024 or higher");
}
