//! From the list of mechanisms to functions that can be called without knowing their types.
//!
//! The type is erased here, at the loop, and not at the call: what a driver points to is the whole of a role,
//! compiled for one endpoint, so that the measured loop has no virtual call in it.

use crate::control::{Board, Control, Order};
use crate::role::{self, Trouble};
use crate::waiting::{Channel, Waiting};
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_mechanism::{Link, Mechanism, Seat, Spec};
use furlong_model::{Capabilities, Limits, Unavailable, Wait};
use std::io;

/// Plays a role by its order, with its ends, and what carries requests where that is another mechanism.
type Play = fn(&Order, Vec<Seat>, Option<Box<dyn Channel>>, &mut Control, &Board) -> Result<(), Trouble>;

/// One mechanism, or one way of waiting of a mechanism that waits inside.
#[derive(Debug, Clone, Copy)]
pub struct Driver {
    /// What it promises.
    pub capabilities: &'static Capabilities,
    /// [`Mechanism::probe`].
    pub probe: fn() -> Result<Limits, Unavailable>,
    /// [`Mechanism::create`].
    pub create: fn(&Spec) -> io::Result<Link>,
    /// Opens one end whose type nobody needs to know: what carries requests beside another mechanism's answers.
    pub(crate) open: fn(&Spec, Seat, Wait) -> io::Result<Box<dyn Channel>>,
    /// Plays one role to its end.
    pub(crate) play: Play,
}

impl Driver {
    /// The driver of one mechanism.
    pub fn of<M: Mechanism>() -> Driver {
        Driver {
            capabilities: const { &M::CAPABILITIES },
            probe: M::probe,
            create: M::create,
            open: |spec, seat, wait| Ok(Box::new(Waiting::new(M::open(spec, seat)?, wait)?)),
            play: role::play::<M>,
        }
    }
}

/// The drivers of all mechanisms in the list.
pub fn registry() -> Vec<Driver> {
    struct Collect(Vec<Driver>);
    impl Visitor for Collect {
        fn visit<M: Mechanism>(&mut self) {
            self.0.push(Driver::of::<M>());
        }
    }
    let mut collect = Collect(Vec::new());
    visit_all(&mut collect);
    collect.0
}

/// The driver for a row, if there is one.
pub fn find<'a>(drivers: &'a [Driver], mechanism: &str, wait: Wait) -> Option<&'a Driver> {
    drivers
        .iter()
        .find(|driver| driver.capabilities.name == mechanism && driver.capabilities.waits.contains(&wait))
}
