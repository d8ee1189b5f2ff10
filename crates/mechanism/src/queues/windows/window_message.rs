//! `WM_COPYDATA` to a message-only window, with which programs with windows send bytes to each other.
//!
//! Windows copies the bytes into the receiver's process and has its thread call the window procedure, while the sender waits
//! for the return value. So every message is a round trip for the scheduler, and none is in flight while the receiver does
//! other work. Expect two wake-ups per message, and so twice the time of `named-pipe-message`.

use crate::{DIRECTIONS, Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Reach, Role, Runtime, Unavailable,
};
use furlong_os::facts;
use furlong_os::identity::random;
use furlong_os::windows::window::{Window, WindowName};
use std::io;

/// Maximum size in bytes of a message that Wine's server transfers in a fraction of a second.
const LARGEST_UNDER_WINE: usize = 1 << 20;

/// A window for each role.
#[derive(Debug)]
pub struct WindowMessage;

impl Mechanism for WindowMessage {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "window-message",
        summary: "WM_COPYDATA to a message-only window",
        family: Family::Queue,
        calls: Calls::of(
            &[Call::Once("SendMessage")],
            &[Call::Once("PeekMessage"), Call::AtMostOnce("MsgWaitForMultipleObjectsEx")],
        ),
        peer_death: PeerDeath::Unnoticed,
        // The names of windows belong to one session.
        reach: Reach::IpcNamespace,
        ..Capabilities::DEFAULT
    };
    type Endpoint = WindowEnd;

    fn probe() -> Result<Limits, Unavailable> {
        let tried = random().and_then(|number| Window::new(&format!("furlong-probe-{number:016x}")));
        match tried {
            Ok(_) => Ok(match facts::machine(false).runtime {
                Runtime::Wine(_) => {
                    Limits::at(LARGEST_UNDER_WINE, "Wine sends window messages through its server", "")
                }
                _ => Limits::none(),
            }),
            Err(error) => Err(Unavailable::new(
                format!("cannot create a window here: {error}"),
                "run furlong where a process may have windows: in a session with a desktop",
            )),
        }
    }

    fn create(_specification: &LinkSpecification) -> io::Result<Link> {
        // Each role makes its window itself, because a window belongs to a thread.
        Ok(Link::new([Depth::of(0); 2]))
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<WindowEnd> {
        let name = |role: Role| format!("{}-{}", specification.name, DIRECTIONS[role.index()]);
        let window = Window::new(&name(setup.role))?;
        Ok(WindowEnd { window, to: name(setup.role.peer()), found: None })
    }
}

/// A window to receive from, and the name of the other role's window.
#[derive(Debug)]
pub struct WindowEnd {
    window: Window,
    to: String,
    /// The other role's window, once it was found for the first send.
    found: Option<WindowName>,
}

impl Endpoint for WindowEnd {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let to = match self.found {
            Some(to) => to,
            None => *self.found.insert(WindowName::find(&self.to)?),
        };
        self.window.send(to, message)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.window.receive(message)
    }
}
