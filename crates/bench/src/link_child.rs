//! The child that creates a link for another furlong process, if a separate program implements the mechanism.

use crate::adapter::{LinkConfiguration, MadeLink};
use crate::control::{Control, End, Report};
use crate::registry::{MechanismEntry, find};
use furlong_mechanism::Link;
use furlong_model::{Fault, Phase, Role};
use furlong_os::passing::send_handles;
use furlong_os::{AsHandle, Context, handle};
use std::io;

/// Runs the child: it creates the link, sends both ends, and removes the remains of the link once the control socket is
/// closed.
pub(crate) fn run(control: &mut Control, mechanisms: &[MechanismEntry]) -> io::Result<()> {
    let Some(configuration) = control.receive::<LinkConfiguration>()? else { return Ok(()) };
    let mut link = match make(mechanisms, &configuration) {
        Ok(link) => link,
        Err(error) => {
            let detail = error.to_string();
            return control.send(&Report::<()>::Failed { phase: Phase::Create, fault: Fault::Error, detail });
        }
    };
    let socket = handle::inherit(configuration.socket)?;
    let ends = Role::ALL.map(|role| link.take_end(role));
    control.send(&Report::Done(MadeLink {
        rooms: link.rooms(),
        effective: link.effective.clone(),
        ends: Role::ALL.map(|role| End::of(role, &ends[role.index()])),
    }))?;
    let handles: Vec<_> = ends.iter().flat_map(|end| &end.descriptors).map(AsHandle::as_handle).collect();
    if !handles.is_empty() {
        send_handles(socket.as_handle(), &handles).context(|| "send descriptors")?;
    }
    // While this process has the descriptors too, neither end can notice that the other is closed.
    drop(ends);
    // Nothing more is sent, so this returns when the link is no longer used.
    let _ = control.receive::<()>();
    drop(link);
    Ok(())
}

fn make(mechanisms: &[MechanismEntry], configuration: &LinkConfiguration) -> io::Result<Link> {
    let LinkConfiguration { mechanism, wait, specification, .. } = configuration;
    let entry = find(mechanisms, mechanism, *wait)
        .ok_or_else(|| io::Error::other(format!("this program has no mechanism called {mechanism}")))?;
    (entry.built_in()?.create)(specification)
}
