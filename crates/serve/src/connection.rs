//! One connection: the request is read, answered, and the connection closed, each with a timeout.

use crate::admission::Admission;
use crate::answer::{Answer, Status};
use crate::deadline::Deadline;
use crate::request::{self, Rules};
use crate::site::Site;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Timeout for the arrival of a request; the peer is on this machine.
const TO_READ: Duration = Duration::from_secs(2);
/// Timeout for sending an answer.
const TO_WRITE: Duration = Duration::from_secs(10);
/// Timeout for the peer's close. Until then its data is discarded, because closing with unread data would send a
/// reset instead of the rest of the answer.
const TO_CLOSE: Duration = Duration::from_millis(200);
/// The answer to a request with the secret if too many requests are being answered.
const BUSY: &str = "Too many requests at the same time: try again in a few seconds.";
/// The maximum size of a request's head in bytes.
const HEAD: usize = 16 << 10;

/// Reads one request, answers it, and closes the connection.
pub(crate) fn answer(stream: &TcpStream, rules: &Rules, site: &dyn Site, admission: &Admission) {
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    // Holds a place among the requests that are answered until the answer has been sent.
    let mut _held = None;
    let (answer, head_only) = match read_head(stream, Deadline::after(TO_READ)) {
        Err(RequestError::Gone) => return,
        Err(RequestError::Refused(answer)) => (answer, false),
        Ok(head) => match request::parse(&head, rules) {
            Ok(asked) => {
                _held = admission.admit(stream);
                let answer = match &_held {
                    Some(_) => site.answer(&asked.request),
                    None => Answer::text(Status::Busy, BUSY),
                };
                (answer, asked.head_only)
            }
            Err(answer) => (answer, false),
        },
    };
    if answer.write(stream, Deadline::after(TO_WRITE), head_only).is_ok() {
        close(stream);
    }
}

/// The reason why no request could be read.
enum RequestError {
    Gone,
    Refused(Answer),
}

/// Reads up to the empty line that ends a head.
fn read_head(stream: &TcpStream, deadline: Deadline) -> Result<Vec<u8>, RequestError> {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    loop {
        let came = match deadline.read(stream, &mut part) {
            Ok(0) => return Err(RequestError::Gone),
            Ok(came) => came,
            Err(error) if is_late(&error) => {
                let sentence = "The request did not arrive in time.";
                return Err(RequestError::Refused(Answer::text(Status::Late, sentence)));
            }
            Err(_) => return Err(RequestError::Gone),
        };
        head.extend_from_slice(&part[..came]);
        if request::is_whole(&head) {
            return Ok(head);
        }
        if head.len() > HEAD {
            let sentence = format!("The request is too long: the maximum is {HEAD} bytes.");
            return Err(RequestError::Refused(Answer::text(Status::Large, &sentence)));
        }
    }
}

fn close(stream: &TcpStream) {
    let deadline = Deadline::after(TO_CLOSE);
    let mut rest = [0; 4096];
    if stream.shutdown(Shutdown::Write).is_ok() {
        while deadline.read(stream, &mut rest).is_ok_and(|came| came > 0) {}
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
