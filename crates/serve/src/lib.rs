//! Pages for one user of this machine, over HTTP on the loopback: they can be read, and nothing can be changed.
//!
//! Every user and every page that is open in a browser reaches the loopback. So an address begins with a secret (a cookie
//! would go to the servers on all other ports as well), a request must name this server by its own name (or a stranger's
//! name that resolves to the loopback could ask), and every request is bounded in size and time.
#![forbid(unsafe_code)]

mod answer;
mod connection;
mod deadline;
mod request;
mod site;

pub use answer::{Answer, Status};
pub use request::Request;
pub use site::Site;

use deadline::Deadline;
use furlong_os::handle::BorrowedHandle;
use furlong_os::identity;
use furlong_os::wait::wait_for_connection;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Requests that are answered at the same time; further ones are told to come back.
const AT_ONCE: usize = 64;
/// How long is waited where no connection can be taken, for want of descriptors say.
const PAUSE: Duration = Duration::from_millis(50);

/// A server on the loopback.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    secret: String,
}

impl Server {
    /// Listens at this port, or at a free one for 0.
    ///
    /// # Errors
    /// That the port is taken or not this user's, or what the kernel says.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        // One that came may be gone before it is taken.
        listener.set_nonblocking(true)?;
        let secret = format!("{:016x}{:016x}", identity::random()?, identity::random()?);
        Ok(Server { address: listener.local_addr()?, listener, secret })
    }

    /// The address of the first page. Who has it can read all pages.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.secret)
    }

    /// Answers requests until `shutdown` can be read. Answers that are under way then end with the process.
    ///
    /// # Errors
    /// That nothing can be waited for.
    pub fn serve(&self, site: Arc<dyn Site>, shutdown: BorrowedHandle<'_>) -> io::Result<()> {
        let rules = Arc::new(request::Rules::new(self.address.port(), &self.secret));
        // Each answer that is under way holds a clone.
        let under_way = Arc::new(());
        loop {
            if wait_for_connection(&self.listener, shutdown)? {
                return Ok(());
            }
            match self.listener.accept() {
                Ok((stream, _)) if Arc::strong_count(&under_way) <= AT_ONCE => {
                    // Some systems hand the listener's way of waiting on.
                    let _ = stream.set_nonblocking(false);
                    let (site, rules, held) = (site.clone(), rules.clone(), under_way.clone());
                    let answering = move || {
                        connection::answer(stream, &rules, &*site);
                        drop(held);
                    };
                    // Without room for a thread the connection is closed.
                    drop(thread::Builder::new().spawn(answering));
                }
                Ok((stream, _)) => refuse(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }
}

/// Says at once that there are too many; nobody is waited for.
fn refuse(stream: TcpStream) {
    let _ = stream.set_nonblocking(true);
    let answer =
        Answer::text(Status::Busy, "Too many requests at the same time: ask again in a few seconds.");
    let _ = answer.write(&stream, Deadline::after(Duration::ZERO), true);
}
