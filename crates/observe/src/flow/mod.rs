//! Traffic between running processes, from their system calls: who sends to whom, how much, and how both sides wait.

mod advice;
mod amounts;
mod calibration;
mod calls;
mod connects;
mod document;
mod ends;
mod exchanges;
mod flows;
mod holders;
mod links;
mod live_ends;
mod live_frame;
mod live_screen;
mod locks;
mod means;
mod observation;
mod ranges;
mod resolver;
mod saved;
mod transits;
mod waits;
mod watch;

pub use advice::{Advice, Estimate, LinkAdvice};
pub use amounts::Percentiles;
pub use document::document;
pub use links::{Link, LinkEnd, Peer, RoundTrips, TrafficShape};
pub use means::Means;
pub use observation::{Observation, ObservedProcess, ObserverCost, SharedMemory};
pub use saved::SavedMessages;
pub use waits::WaitStrategy;
pub use watch::{FinishedObservation, Request, Target, observe};
