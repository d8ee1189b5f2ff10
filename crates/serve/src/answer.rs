//! Answers: a status, a page or a sentence, and the headers that restrict how a browser shows it.

use crate::deadline::Deadline;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// The status of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The page follows.
    Ok,
    /// The request is malformed.
    Bad,
    /// Not allowed: the secret or the host's name is wrong.
    Forbidden,
    /// The page does not exist.
    NotFound,
    /// The method is neither GET nor HEAD.
    Method,
    /// The request did not arrive in time.
    Late,
    /// The request's head is too large.
    Large,
    /// The page could not be created.
    Failed,
    /// Too many requests are being answered.
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

/// The headers of every page: nothing is loaded from elsewhere, no other page embeds it, nothing is cached, and links
/// do not disclose its address, which contains the secret.
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
    /// Returns an HTML page as an answer.
    pub fn page(html: String) -> Answer {
        Answer { status: Status::Ok, kind: "text/html; charset=utf-8", body: html, refresh: None }
    }

    /// Returns a sentence as an answer, which explains why there is no page.
    pub fn text(status: Status, sentence: &str) -> Answer {
        Answer { status, kind: "text/plain; charset=utf-8", body: format!("{sentence}\n"), refresh: None }
    }

    /// Returns the answer with a `Refresh` header: the browser requests the page again after this time, in whole
    /// seconds.
    pub fn again_after(self, after: Duration) -> Answer {
        Answer { refresh: Some(after), ..self }
    }

    /// Sends the answer, without its body if `head_only`.
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
