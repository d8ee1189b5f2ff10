//! What is answered: a status, a page or a sentence, and the rules by which a browser shows it.

use crate::deadline::Deadline;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// How a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// As asked.
    Ok,
    /// The request makes no sense.
    Bad,
    /// Not allowed: the secret or the host's name is wrong.
    Forbidden,
    /// There is no such page.
    NotFound,
    /// Pages are read, and nothing else.
    Method,
    /// The request did not come in time.
    Late,
    /// The request's head is too large.
    Large,
    /// The page could not be made.
    Failed,
    /// Too many at once.
    Busy,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::Bad => "400 Bad Request",
            Status::Forbidden => "403 Forbidden",
            Status::NotFound => "404 Not Found",
            Status::Method => "405 Method Not Allowed",
            Status::Late => "408 Request Timeout",
            Status::Large => "431 Request Header Fields Too Large",
            Status::Failed => "500 Internal Server Error",
            Status::Busy => "503 Service Unavailable",
        }
    }
}

/// The rules for every page: nothing is loaded from anywhere, no other page holds it in a frame, nothing is kept, and no
/// link tells its address, which has the secret.
const RULES: &str = "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                     img-src data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n\
                     Cross-Origin-Resource-Policy: same-origin\r\n\
                     Cross-Origin-Opener-Policy: same-origin\r\n\
                     X-Content-Type-Options: nosniff\r\n\
                     Referrer-Policy: no-referrer\r\n\
                     Cache-Control: no-store\r\n\
                     Connection: close\r\n";

/// An answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    status: Status,
    kind: &'static str,
    body: String,
    refresh: Option<Duration>,
}

impl Answer {
    /// A page of HTML.
    pub fn page(html: String) -> Answer {
        Answer { status: Status::Ok, kind: "text/html; charset=utf-8", body: html, refresh: None }
    }

    /// A sentence, which says why there is no page.
    pub fn text(status: Status, sentence: &str) -> Answer {
        Answer { status, kind: "text/plain; charset=utf-8", body: format!("{sentence}\n"), refresh: None }
    }

    /// The same, which a browser asks for again after so many whole seconds.
    pub fn again_after(self, after: Duration) -> Answer {
        Answer { refresh: Some(after), ..self }
    }

    /// Sends it, without the body if only the head was asked for.
    pub(crate) fn write(&self, stream: &TcpStream, deadline: Deadline, head_only: bool) -> io::Result<()> {
        let mut text = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{RULES}",
            self.status.line(),
            self.kind,
            self.body.len()
        );
        if self.status == Status::Method {
            text += "Allow: GET, HEAD\r\n";
        }
        if let Some(after) = self.refresh {
            text += &format!("Refresh: {}\r\n", after.as_secs());
        }
        text += "\r\n";
        if !head_only {
            text += &self.body;
        }
        deadline.write_all(stream, text.as_bytes())
    }
}
