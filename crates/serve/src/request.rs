//! Parsing of requests, and the rules for which requests are allowed.

use crate::answer::{Answer, Status};
use httparse::Header;

/// The maximum number of headers of a request; browsers send about twenty.
const HEADERS: usize = 64;

/// A request that was allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The path after the secret, as sent: names need no escapes, so it is not unescaped.
    pub path: String,
    /// The parameters of the query, as names and values.
    pub query: Vec<(String, String)>,
}

impl Request {
    /// Returns all values of this name, in their order.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// A parsed request, and whether its method is HEAD.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ParsedRequest {
    pub(crate) request: Request,
    pub(crate) head_only: bool,
}

/// The rules for allowed requests.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The values of the `Host` header that name this server.
    hosts: [String; 2],
    secret: String,
}

impl Rules {
    pub(crate) fn new(port: u16, secret: &str) -> Rules {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        Rules { hosts, secret: secret.to_owned() }
    }
}

/// Returns whether the head of a request is complete, or can no longer become a valid request.
pub(crate) fn is_whole(head: &[u8]) -> bool {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    !matches!(httparse::Request::new(&mut headers).parse(head), Ok(httparse::Status::Partial))
}

/// Parses this head; returns the answer to send instead if it is not allowed.
pub(crate) fn parse(head: &[u8], rules: &Rules) -> Result<ParsedRequest, Answer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let status =
        parsed.parse(head).map_err(|error| bad(&format!("This is not a valid request: {error}.")))?;
    // If the head is cut off, its headers may end in the middle of a value.
    let (true, Some(method), Some(target)) = (status.is_complete(), parsed.method, parsed.path) else {
        return Err(bad("This is not a valid request."));
    };
    if !rules.hosts.iter().any(|host| is_host(parsed.headers, host)) {
        let sentence = format!("Unknown host: the name of this server is {}.", rules.hosts[0]);
        return Err(Answer::text(Status::Forbidden, &sentence));
    }
    if !matches!(method, "GET" | "HEAD") {
        return Err(Answer::text(Status::Method, "This server is read-only: use GET or HEAD."));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let Some(path) = path.strip_prefix('/').and_then(|path| behind_secret(path, &rules.secret)) else {
        let sentence =
            "The address does not contain the secret: open the address that 'furlong serve' printed.";
        return Err(Answer::text(Status::Forbidden, sentence));
    };
    let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    Ok(ParsedRequest { request: Request { path: path.to_owned(), query }, head_only: method == "HEAD" })
}

fn bad(sentence: &str) -> Answer {
    Answer::text(Status::Bad, sentence)
}

/// Returns whether the request has exactly one `Host` header, with this value.
fn is_host(headers: &[Header], host: &str) -> bool {
    let mut hosts = headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
    matches!((hosts.next(), hosts.next()), (Some(only), None) if only.value.eq_ignore_ascii_case(host.as_bytes()))
}

/// Returns the rest of a path that begins with the secret. The comparison time does not reveal how many bytes of a
/// wrong secret were right.
fn behind_secret<'a>(path: &'a str, secret: &str) -> Option<&'a str> {
    let (given, rest) = path.split_once('/')?;
    let differs = given.bytes().zip(secret.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    (given.len() == secret.len() && differs == 0).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(head: &str) -> Result<ParsedRequest, Answer> {
        parse(head.as_bytes(), &Rules::new(80, "5ec4e7"))
    }

    #[test]
    fn a_request_has_a_path_and_words() {
        let head = "GET /5ec4e7/report?run=a&run=b+c%26&x HTTP/1.1\r\nhost: LOCALHOST:80\r\n\r\n";
        let ParsedRequest { request, head_only } = asked(head).unwrap();
        assert_eq!((request.path.as_str(), head_only), ("report", false));
        assert_eq!(request.values("run").collect::<Vec<_>>(), ["a", "b c&"]);
        assert_eq!(request.values("x").collect::<Vec<_>>(), [""]);
        assert!(asked("HEAD /5ec4e7/ HTTP/1.0\r\nHost: 127.0.0.1:80\r\n\r\n").unwrap().head_only);
    }

    #[test]
    fn what_is_not_allowed_is_refused_with_its_reason() {
        let refused = |head: &str, status: Status, word: &str| {
            let answer = asked(head).unwrap_err();
            let text = format!("{answer:?}");
            assert!(text.contains(word) && text.contains(&format!("{status:?}")), "{head}: {text}");
        };
        let host = "HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n";
        for path in ["/", "/5ec4e7", "/5ec4e8/", "/5ec4e/", "/5ec4e77/", "/5EC4E7/", "5ec4e7/", "*"] {
            refused(&format!("GET {path} {host}"), Status::Forbidden, "secret");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "get"] {
            refused(&format!("{method} /5ec4e7/ {host}"), Status::Method, "use GET or HEAD");
        }
        for name in ["Host: evil.example:80", "Host: 127.0.0.1", "Host: 127.0.0.1:81", "X: y", "Host: "] {
            refused(&format!("GET /5ec4e7/ HTTP/1.1\r\n{name}\r\n\r\n"), Status::Forbidden, "Unknown host");
        }
        // With two `Host` headers, the host is ambiguous.
        let two = "GET /5ec4e7/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\nHost: 127.0.0.1:80\r\n\r\n";
        refused(two, Status::Forbidden, "Unknown host");
        refused("\u{1}\u{2}\r\n\r\n", Status::Bad, "not a valid request");
        refused("GET /5ec4e7/ HTTP/1.1\r\nHost: 127.0.0.1:80\r\n", Status::Bad, "not a valid request");
        refused(
            &format!("GET /5ec4e7/ HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(HEADERS + 1)),
            Status::Bad,
            "headers",
        );
    }

    #[test]
    fn a_head_is_whole_with_its_empty_line_or_if_it_cannot_become_one() {
        assert!(!is_whole(b"GET / HTTP/1.1\r\nHost: x"));
        assert!(is_whole(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert!(is_whole(b"\x16\x03\x01"));
    }
}
