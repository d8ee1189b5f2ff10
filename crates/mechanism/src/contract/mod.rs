//! The interface that every mechanism implements, and the types in it.

mod between_hosts;
mod link;
mod mechanism;
mod message;
mod message_batch;
mod named;

pub use between_hosts::{BetweenHosts, Entrance, Secret, SendAgain, new_secret};
pub use link::{
    DIRECTIONS, EndpointSetup, Handles, Link, LinkSpecification, NEEDS_FOLDER, noted_by_responder,
};
pub use mechanism::{Endpoint, Mechanism};
pub use message::Message;
pub use message_batch::MessageBatch;
pub use named::{NamedEnd, NamedObject};
