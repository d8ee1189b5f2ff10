//! Claims about namespaces and kernel objects, which only Linux shows: the reach and the lifetime of a mechanism.

use super::{ALONE, Finding, message, receive_one, run_role, send_one, size};
use crate::pair::{Gate, Pair, Part, ensure, scratch_spec, step};
use furlong_mechanism::{Endpoint, EndpointSetup, Mechanism, Message};
use furlong_model::{Lifetime, Reach, Role, Start, Wait};
use furlong_os::linux::{driver, namespace};
use furlong_os::memory::page_bytes;
use furlong_os::{AsHandle, BorrowedHandle};
use std::path::PathBuf;

/// Checks whether a process in another IPC namespace can reach the mechanism.
pub fn reach<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    let by_name = capabilities.reach == Reach::IpcNamespace && capabilities.lifetime == Lifetime::Removal;
    if by_name && capabilities.waits.contains(&Wait::Poll) {
        return Ok(Some(
            "its descriptor is inherited, and the name that a namespace hides is never looked up",
        ));
    }
    if namespace::enter_private_ipc().is_err() {
        return Ok(Some("this user may not make namespaces"));
    }
    if capabilities.reach == Reach::IpcNamespace {
        return across_namespaces::<M>();
    }
    // All other mechanisms must work even though the namespace has just changed, because they do not depend on it.
    run_role::<M>(send_one::<M>, receive_one::<M>)
}

/// Creates the link in one namespace and opens it in another, in which its identifier is not valid.
fn across_namespaces<M: Mechanism>() -> Finding {
    let (_folder, specification) = scratch_spec(size(&M::CAPABILITIES), false)?;
    let mut link = step("create", M::create(&specification))?;
    let handles = link.take_end(Role::Initiator);
    step("enter another namespace", namespace::enter_private_ipc())?;
    let setup = EndpointSetup { role: Role::Initiator, handles, peer: std::process::id() as i32 };
    let opened = M::open(&specification, setup);
    let used = opened.and_then(|mut end| end.send(&mut Message::new(specification.largest_bytes())?));
    // The doorbell or the data has an identifier of the namespace that was left.
    ensure(used.is_err(), || "it was reached from another namespace".to_owned()).map(|()| None)
}

/// Checks that kernel objects with a lifetime until removal are removed with the link, even if they hold an unread
/// message.
pub fn lifetime<M: Mechanism>() -> Finding {
    let before = objects();
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    let (_folder, specification) = scratch_spec(size(capabilities), true)?;
    let link = step("create", M::create(&specification))?;
    let during = objects();
    drop(link);
    let numbered = capabilities.waits.contains(&Wait::SysvSemaphore)
        || capabilities.reach == Reach::Device
        || (capabilities.lifetime == Lifetime::Removal && !capabilities.waits.contains(&Wait::Poll));
    ensure(!numbered || during > before, || "nothing was to be removed".to_owned())?;
    Pair::start::<M>(size(capabilities), true, send_one::<M>, receive_one::<M>)?.finish()?;
    ensure(objects() == before, || "something is left in the kernel".to_owned())?;
    let unread: [Part<M>; 2] = [
        |end, stage| {
            let mut bytes = message(size(&M::CAPABILITIES), 9)?;
            let result = step("send", end.send(&mut bytes));
            stage.open(Gate::Sent);
            result
        },
        |_, stage| {
            stage.pass(Gate::Sent);
            Ok(())
        },
    ];
    Pair::start::<M>(size(capabilities), true, unread[0], unread[1])?.finish()?;
    ensure(objects() == before, || "a message that nobody received is left in the kernel".to_owned())?;
    Ok(None)
}

/// Returns the number of objects that a mechanism could leave behind.
fn objects() -> usize {
    system_v_objects() + used_channels()
}

/// Returns the number of used channels of furlong's kernel module: those that differ from their initial state.
fn used_channels() -> usize {
    let queue = |device: BorrowedHandle<'_>| {
        let is_at_first = |name, value| driver::parameter(name) == Some(value as usize);
        driver::message::info(device).is_ok_and(|info| {
            info.openers > 1
                || info.queued > 0
                || !is_at_first("message_depth", info.depth)
                || !is_at_first("message_size", info.size)
        })
    };
    let region = |device: BorrowedHandle<'_>| {
        let at_first = driver::parameter("shm_size").map(|size| size.next_multiple_of(page_bytes()) as u64);
        driver::shm::info(device)
            .is_ok_and(|info| info.peers.count_ones() > 1 || info.mappings > 0 || Some(info.size) != at_first)
    };
    let used = |path: fn(u32) -> PathBuf, is_used: &dyn Fn(BorrowedHandle<'_>) -> bool| {
        (0..)
            .map_while(|number| driver::open(&path(number)).ok())
            .filter(|device| is_used(device.as_handle()))
            .count()
    };
    used(driver::message::path, &queue) + used(driver::shm::path, &region)
}

/// Returns the number of System V queues and semaphore sets in this namespace. Segments are not counted, because a
/// segment that is marked for removal disappears automatically.
fn system_v_objects() -> usize {
    ["msg", "sem"]
        .iter()
        .map(|kind| {
            let table = std::fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
            table.lines().skip(1).count()
        })
        .sum()
}
