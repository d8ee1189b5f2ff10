//! The claims about reach and lifetime on Windows, where only a name can be left of a mechanism, and no namespace hides
//! one.

use super::{ALONE, Finding, receive_one, run_role, send_one, size};
use crate::pair::{scratch_spec, step};
use furlong_mechanism::Mechanism;
use furlong_model::Start;

/// Skips the test: only Linux has processes without a common namespace.
pub fn reach<M: Mechanism>() -> Finding {
    Ok(Some("no two processes here differ in the names that they see"))
}

/// Checks that the last handle removes an object and its name, so that another object can have the name.
pub fn lifetime<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    let (folder, specification) = scratch_spec(size(capabilities), true)?;
    for what in ["create", "create again"] {
        drop(step(what, M::create(&specification))?);
    }
    // The process of a role exits after its part.
    drop(folder);
    run_role::<M>(send_one::<M>, receive_one::<M>)
}
