//! HTTP server on the loopback for one user of this machine. Its pages are read-only.
//!
//! Every user and every page that is open in a browser can reach the loopback, so requests are restricted:
//!
//! - An address begins with a secret. A cookie would also be sent to the servers on all other ports.
//! - A request must name this server by its own host name. Otherwise, a foreign name that resolves to the loopback
//!   could send requests.
//! - The size and the time of every request are limited.
#![forbid(unsafe_code)]

mod admission;
mod answer;
mod connection;
mod deadline;
#[cfg(fuzzing)]
pub mod fuzzing;
mod request;
mod site;

pub use answer::{Answer, Status};
pub use request::Request;
pub use site::Site;

use admission::Admission;
use furlong_os::handle::BorrowedHandle;
use furlong_os::identity;
use furlong_os::wait::wait_for_connection;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Pause after `accept` has failed, for example because file descriptors ran out.
const PAUSE: Duration = Duration::from_millis(50);

/// An HTTP server on the loopback.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    secret: String,
}

impl Server {
    /// Listens on this port, or on a free port if it is 0.
    ///
    /// # Errors
    /// Returns the kernel's error, for example if the port is in use or this user may not use it.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        // A client may disconnect before `accept`, which would then block.
        listener.set_nonblocking(true)?;
        let secret = format!("{:016x}{:016x}", identity::random()?, identity::random()?);
        Ok(Server { address: listener.local_addr()?, listener, secret })
    }

    /// Returns the address of the first page. Any client that knows it can read all pages.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.secret)
    }

    /// Answers requests until `shutdown` is readable. Answers in flight then end with the process.
    ///
    /// # Errors
    /// Returns an error if waiting for connections fails.
    pub fn serve(&self, site: Arc<dyn Site>, shutdown: BorrowedHandle<'_>) -> io::Result<()> {
        let rules = Arc::new(request::Rules::new(self.address.port(), &self.secret));
        let admission = Arc::new(Admission::default());
        loop {
            if wait_for_connection(&self.listener, shutdown)? {
                return Ok(());
            }
            match self.listener.accept() {
                Ok((stream, _)) => {
                    // On some systems the connection inherits the listener's non-blocking mode.
                    let _ = stream.set_nonblocking(false);
                    let stream = Arc::new(stream);
                    admission.enter(&stream);
                    let (site, rules, held, answered) =
                        (site.clone(), rules.clone(), admission.clone(), stream.clone());
                    let answering = move || {
                        connection::answer(&answered, &rules, &*site, &held);
                        held.leave(&answered);
                    };
                    // If no thread can be started, the connection is closed.
                    if thread::Builder::new().spawn(answering).is_err() {
                        admission.leave(&stream);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::AT_ONCE;
    use furlong_os::handle::AsHandle;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::{Condvar, Mutex};

    /// A site whose page `slow` is answered once the test releases it.
    #[derive(Default)]
    struct SlowSite {
        /// The number of requests that wait, and whether they may go on.
        state: Mutex<(usize, bool)>,
        changed: Condvar,
    }

    impl Site for SlowSite {
        fn answer(&self, request: &Request) -> Answer {
            let mut state = self.state.lock().unwrap();
            if request.path == "slow" {
                state.0 += 1;
                self.changed.notify_all();
                drop(self.changed.wait_while(state, |(_, released)| !*released).unwrap());
            }
            Answer::page("a page".to_owned())
        }
    }

    /// Serves a slow site while the client runs with the address and the secret.
    fn serve(client: impl FnOnce(&SlowSite, SocketAddr, &str)) {
        let server = Server::bind(0).unwrap();
        let site = Arc::new(SlowSite::default());
        let (shutdown, end) = furlong_os::pipe::pipe().unwrap();
        thread::scope(|scope| {
            // A panic of the client drops it as well, which ends the server.
            let end = end;
            let serving = scope.spawn(|| server.serve(site.clone(), shutdown.as_handle()));
            client(&site, server.address, &server.secret);
            drop(end);
            serving.join().unwrap().unwrap();
        });
    }

    fn ask(address: SocketAddr, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    fn answered(mut stream: TcpStream) -> String {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn unfinished_requests_take_no_place_from_those_with_the_secret() {
        serve(|_, address, secret| {
            let strangers: Vec<_> = (0..2 * AT_ONCE).map(|_| ask(address, "GET / HT")).collect();
            let page = answered(ask(address, &format!("GET /{secret}/ HTTP/1.1\r\nHost: {address}\r\n\r\n")));
            assert!(page.starts_with("HTTP/1.1 200 "), "{page:?}");
            drop(strangers);
        });
    }

    #[test]
    fn request_beyond_the_limit_is_told_that_the_server_is_busy() {
        serve(|site, address, secret| {
            let head = format!("GET /{secret}/slow HTTP/1.1\r\nHost: {address}\r\n\r\n");
            let slow: Vec<_> = (0..AT_ONCE).map(|_| ask(address, &head)).collect();
            let state = site.state.lock().unwrap();
            drop(site.changed.wait_while(state, |(waiting, _)| *waiting < AT_ONCE).unwrap());
            let busy = answered(ask(address, &head));
            assert!(busy.starts_with("HTTP/1.1 503 ") && busy.contains("try again"), "{busy:?}");
            site.state.lock().unwrap().1 = true;
            site.changed.notify_all();
            assert!(slow.into_iter().map(answered).all(|page| page.contains("a page")));
        });
    }
}
