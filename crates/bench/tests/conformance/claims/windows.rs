//! The same claims where a name is all that could be left of a mechanism, and nothing hides one.

use super::{ALONE, Finding, receive_one, run_role, send_one, size};
use crate::pair::{scratch_spec, step};
use furlong_mechanism::Mechanism;
use furlong_model::Start;

/// Processes without a namespace in common are Linux's alone.
pub fn reach<M: Mechanism>() -> Finding {
    Ok(Some("no two processes here differ in the names that they see"))
}

/// With its last handle an object is gone, and so is its name: another can have it.
pub fn lifetime<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    let (folder, specification) = scratch_spec(size(capabilities), true)?;
    for what in ["create", "create again"] {
        drop(step(what, M::create(&specification))?);
    }
    // A role ends with its part.
    drop(folder);
    run_role::<M>(send_one::<M>, receive_one::<M>)
}
