//! The claims in a mechanism's capabilities, one test per claim.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux::{lifetime, reach};
#[cfg(windows)]
use windows::{lifetime, reach};

use crate::depth;
use crate::pair::{Gate, Pair, Part, RunningTrial, WATCHDOG, ended, ensure, scratch_spec, step};
use crate::workers::Trial;
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_mechanism::{Endpoint, Interest, Mechanism, Message};
use furlong_model::{
    Call, Capabilities, Copies, Depth, Family, PeerDeath, Role, Runtime, Start, Wait, WhenFull,
};
use furlong_os::facts::machine;
use furlong_os::process::Exit;
use libtest_mimic::{Completion, Failed};
use std::io::ErrorKind;
use std::time::Duration;

/// The result of a claim's test: the claim holds, or it does not apply for a reason.
pub type Finding = Result<Option<&'static str>, String>;

/// The claim whose test counts objects of the whole machine.
const LIFETIME: &str = "lifetime-as-claimed";

/// The name of a claim and its test.
type Claim = (&'static str, fn() -> Finding);

/// The reason why a claim about two ends does not apply to a mechanism with one end.
pub const ALONE: &str = "there is no other end";

/// Returns the tests of every claim of every mechanism that is available.
pub fn tests() -> Vec<Trial> {
    struct Collect(Vec<Trial>);
    impl Visitor for Collect {
        fn visit<M: Mechanism>(&mut self) {
            let claims: [Claim; 10] = [
                ("keeps-boundaries-as-claimed", boundaries::<M>),
                ("tells-what-has-no-room", room::<M>),
                ("copies-as-claimed", copies::<M>),
                ("when-full-as-claimed", when_full::<M>),
                ("depth-as-claimed", depth::of::<M>),
                ("peer-death-as-claimed", peer_death::<M>),
                ("reach-as-claimed", reach::<M>),
                (LIFETIME, lifetime::<M>),
                ("start-as-claimed", start::<M>),
                ("waits-as-claimed", waits::<M>),
            ];
            for (claim, test) in claims {
                let (capabilities, probe) = (&M::CAPABILITIES, M::probe);
                let name = format!("{}/{}: {claim}", capabilities.name, capabilities.waits[0]);
                let trial = Trial::ignorable_test(name, move || match probe() {
                    Err(unavailable) => Ok(skipped(&unavailable.reason)),
                    Ok(_) => match test() {
                        Ok(None) => Ok(Completion::Completed),
                        Ok(Some(reason)) => Ok(skipped(reason)),
                        Err(message) => Err(Failed::from(message)),
                    },
                });
                self.0.push(trial.alone_if(move || claim == LIFETIME));
            }
        }
    }
    let mut collect = Collect(depth::tests());
    visit_all(&mut collect);
    collect.0
}

fn skipped(reason: &str) -> Completion {
    Completion::ignored_with(format!("skipped, because {reason}"))
}

/// Returns a message of `len` bytes with the value `byte`.
fn message(len: usize, byte: u8) -> Result<Message, String> {
    let mut message = step("make a message", Message::new(len))?;
    message.fill(byte);
    Ok(message)
}

/// Returns the message size for the tests of a mechanism's claims.
fn size(capabilities: &Capabilities) -> usize {
    capabilities.fixed_size_bytes.unwrap_or(4096)
}

fn run_role<M: Mechanism>(sender: Part<M>, receiver: Part<M>) -> Finding {
    Pair::start::<M>(size(&M::CAPABILITIES), true, sender, receiver)?.finish().map(|()| None)
}

/// Checks that two messages of different lengths arrive as two messages, or as one sequence of bytes.
fn boundaries<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    if capabilities.fixed_size_bytes.is_some() {
        return Ok(Some("its messages have one size; merging is tested as when-full"));
    }
    run_role::<M>(
        |end, stage| {
            let (mut three, mut five) = (message(3, b'a')?, message(5, b'b')?);
            step("send", end.send(&mut three))?;
            if M::CAPABILITIES.when_full == WhenFull::Overwrites {
                stage.pass(Gate::HalfReceived);
            }
            step("send", end.send(&mut five))?;
            // If messages are read from the sender's memory, the sender must live.
            stage.pass(Gate::Received);
            Ok(())
        },
        |end, stage| {
            let mut buffer = message(if M::CAPABILITIES.boundaries { 4096 } else { 8 }, 0)?;
            let first = step("receive", end.recv(&mut buffer))?;
            if !M::CAPABILITIES.boundaries {
                stage.open(Gate::Received);
                return ensure(first == 8 && buffer[..] == *b"aaabbbbb", || format!("{first} bytes came"));
            }
            ensure(first == 3 && buffer[..3] == *b"aaa", || format!("{first} bytes came first"))?;
            stage.open(Gate::HalfReceived);
            let second = step("receive", end.recv(&mut buffer))?;
            stage.open(Gate::Received);
            ensure(second == 5 && buffer[..5] == *b"bbbbb", || format!("{second} bytes came second"))
        },
    )
}

/// Checks that receiving a message that is one byte too long returns an error or the true length, but never a shorter
/// one.
fn room<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    if !capabilities.boundaries || capabilities.fixed_size_bytes.is_some() {
        return Ok(Some("no message can be longer than another"));
    }
    if capabilities.family == Family::Queue && matches!(machine(false).runtime, Runtime::Wine(_)) {
        return Ok(Some("Wine cuts such a message of a mailslot, which Windows documents to be an error"));
    }
    run_role::<M>(
        |end, stage| {
            step("send", end.send(&mut message(5, b'b')?))?;
            stage.pass(Gate::Received);
            Ok(())
        },
        |end, stage| {
            let came = end.recv(&mut message(4, 0)?);
            stage.open(Gate::Received);
            ensure(!matches!(came, Ok(count) if count != 5), || format!("of 5 bytes came {came:?}"))
        },
    )
}

/// Checks the content of a received message that its sender has overwritten in between.
fn copies<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    if capabilities.fixed_size_bytes == Some(0) {
        return Ok(Some("it carries nothing"));
    }
    let (folder, specification) = scratch_spec(size(capabilities), true)?;
    if step("create", M::create(&specification))?.rooms()[0].depth == Depth::of(0) {
        return Ok(Some("its sender waits until a message is taken"));
    }
    // The process of a role exits after its part.
    drop(folder);
    run_role::<M>(
        |end, stage| {
            let mut bytes = message(size(&M::CAPABILITIES), b'a')?;
            step("send", end.send(&mut bytes))?;
            bytes.fill(b'b');
            stage.open(Gate::Sent);
            stage.pass(Gate::Received);
            Ok(())
        },
        |end, stage| {
            stage.pass(Gate::Sent);
            let mut bytes = message(size(&M::CAPABILITIES), 0)?;
            step("receive", end.recv(&mut bytes))?;
            stage.open(Gate::Received);
            let claimed = match M::CAPABILITIES.copies {
                Copies::Two | Copies::TwoOrNone => b'a',
                Copies::One => b'b',
            };
            let came = bytes[0];
            ensure(came == claimed, || format!("'{}' came, '{}' is claimed", came as char, claimed as char))
        },
    )
}

/// The number of messages that are sent to fill a mechanism.
const MANY: u32 = 64;

/// Checks that a mechanism whose sender is faster than its receiver waits, loses, merges or overwrites, as claimed.
fn when_full<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    match capabilities.when_full {
        WhenFull::Waits => run_role::<M>(send_many_and_stay::<M>, |end, stage| {
            // The receiver starts late, so that the sender meets a full mechanism.
            std::thread::sleep(Duration::from_millis(30));
            let mut bytes = message(size(&M::CAPABILITIES), 0)?;
            for number in 1..=MANY {
                step("receive", end.recv(&mut bytes))?;
                let found = number_of(&bytes);
                ensure(bytes.is_empty() || found == number, || format!("{found} came, {number} was due"))?;
            }
            stage.open(Gate::Received);
            Ok(())
        }),
        WhenFull::Merges if capabilities.fixed_size_bytes == Some(0) => merges_what_carries_nothing::<M>(),
        WhenFull::Merges => run_role::<M>(send_two::<M>, |end, stage| {
            stage.pass(Gate::Sent);
            let mut bytes = message(size(&M::CAPABILITIES), 0)?;
            step("receive", end.recv(&mut bytes))?;
            ensure(bytes[0] == 5 + 7, || format!("{} came, the sum of 5 and 7 is claimed", bytes[0]))
        }),
        WhenFull::Overwrites => run_role::<M>(send_two::<M>, |end, stage| {
            stage.pass(Gate::Sent);
            let mut bytes = message(size(&M::CAPABILITIES), 0)?;
            step("receive", end.recv(&mut bytes))?;
            ensure(bytes[0] == 7, || format!("{} came, the latter of 5 and 7 is claimed", bytes[0]))
        }),
        WhenFull::DropsOldest => run_role::<M>(
            |end, stage| {
                (0..16).try_for_each(|_| send_many::<M>(end).map(drop))?;
                stage.open(Gate::Sent);
                Ok(())
            },
            |end, stage| {
                stage.pass(Gate::Sent);
                let mut bytes = message(size(&M::CAPABILITIES), 0)?;
                step("receive", end.recv(&mut bytes))?;
                let mut received = 1;
                // The last message of each 64 has that number.
                let (mut last, all) = (number_of(&bytes), u64::from(MANY) * 16);
                let lost = end.lost().ok_or("it does not say what was lost")?;
                ensure(lost > 0, || "nothing was thrown away".to_owned())?;
                while received + lost < all {
                    step("receive", end.recv(&mut bytes))?;
                    let (due, found) = (last % MANY + 1, number_of(&bytes));
                    ensure(found == due, || format!("{found} came, {due} was due"))?;
                    (last, received) = (found, received + 1);
                }
                ensure(last == MANY && end.lost() == Some(lost), || format!("the newest that came is {last}"))
            },
        ),
        WhenFull::Drops => {
            let receive: Part<M> = |end, stage| {
                stage.pass(Gate::Sent);
                let mut bytes = message(size(&M::CAPABILITIES), 0)?;
                let mut received = 0;
                while end.recv(&mut bytes).is_ok() {
                    received += 1;
                }
                ensure(received < MANY * 16, || "nothing was thrown away".to_owned())
            };
            let send: Part<M> = |end, stage| {
                (0..16).try_for_each(|_| send_many::<M>(end).map(drop))?;
                stage.open(Gate::Sent);
                Ok(())
            };
            Pair::start::<M>(size(capabilities), false, send, receive)?.finish().map(|()| None)
        }
    }
}

/// Checks that two empty messages arrive as one.
fn merges_what_carries_nothing<M: Mechanism>() -> Finding {
    let send: Part<M> = |end, stage| {
        let mut nothing = message(0, 0)?;
        (0..2).try_for_each(|_| step("send", end.send(&mut nothing)))?;
        stage.open(Gate::Sent);
        Ok(())
    };
    let receive: Part<M> = |end, stage| {
        stage.pass(Gate::Sent);
        let mut nothing = message(0, 0)?;
        step("receive", end.recv(&mut nothing))?;
        match end.recv(&mut nothing) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            other => Err(format!("after one of two came {other:?}")),
        }
    };
    Pair::start::<M>(0, false, send, receive)?.finish().map(|()| None)
}

/// Sends messages and keeps their buffers until all are received, because a mechanism may read from the sender's
/// memory.
fn send_many_and_stay<M: Mechanism>(end: &mut M::Endpoint, stage: &RunningTrial) -> Result<(), String> {
    let sent = send_many::<M>(end)?;
    stage.pass(Gate::Received);
    drop(sent);
    Ok(())
}

/// Sends numbered messages, each from a separate buffer, and returns the buffers.
fn send_many<M: Mechanism>(end: &mut M::Endpoint) -> Result<Vec<Message>, String> {
    let mut sent = step("make messages", Message::several(MANY as usize, size(&M::CAPABILITIES), None))?;
    for (number, bytes) in (1..=MANY).zip(&mut sent) {
        let len = bytes.len().min(4);
        bytes[..len].copy_from_slice(&number.to_le_bytes()[..len]);
        step("send", end.send(bytes))?;
    }
    Ok(sent)
}

fn send_two<M: Mechanism>(end: &mut M::Endpoint, stage: &RunningTrial) -> Result<(), String> {
    for value in [5, 7] {
        let mut bytes = message(size(&M::CAPABILITIES), 0)?;
        bytes[0] = value;
        step("send", end.send(&mut bytes))?;
    }
    stage.open(Gate::Sent);
    Ok(())
}

pub fn number_of(bytes: &[u8]) -> u32 {
    let mut number = [0; 4];
    let len = bytes.len().min(4);
    number[..len].copy_from_slice(&bytes[..len]);
    u32::from_le_bytes(number)
}

/// Checks that a receiver notices the death of its peer, or waits for ever.
fn peer_death<M: Mechanism>() -> Finding {
    /// Long enough for the kernel to notify a process of the death of its peer.
    const QUIET: Duration = Duration::from_millis(100);
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    let receive: Part<M> = |end, _| {
        let mut bytes = message(size(&M::CAPABILITIES), 0)?;
        match end.recv(&mut bytes) {
            Ok(count) => Err(format!("a message of {count} bytes came from nobody")),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err("a blocking receive did not wait".into())
            }
            Err(_) => Ok(()),
        }
    };
    let mut pair = Pair::start::<M>(size(capabilities), true, |_, _| Ok(()), receive)?;
    match capabilities.peer_death {
        PeerDeath::Noticed => pair.finish().map(|()| None),
        PeerDeath::Unnoticed => {
            ended(&mut pair.sender, WATCHDOG);
            match ended(&mut pair.receiver, QUIET) {
                None => Ok(None),
                Some(exit) => Err(format!("it was noticed: the receiver ended with {exit:?}")),
            }
        }
    }
}

/// Sends one message and waits until it is received.
fn send_one<M: Mechanism>(end: &mut M::Endpoint, stage: &RunningTrial) -> Result<(), String> {
    let mut bytes = message(size(&M::CAPABILITIES), 9)?;
    step("send", end.send(&mut bytes))?;
    stage.pass(Gate::Received);
    Ok(())
}

fn receive_one<M: Mechanism>(end: &mut M::Endpoint, stage: &RunningTrial) -> Result<(), String> {
    let mut bytes = message(size(&M::CAPABILITIES), 0)?;
    let result = step("receive", end.recv(&mut bytes)).map(drop);
    stage.open(Gate::Received);
    result
}

/// Checks that only a mechanism whose roles must be forked passes memory regions, and that creating a link leaves no
/// files.
fn start<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    let (folder, specification) = scratch_spec(size(&M::CAPABILITIES), true)?;
    let link = step("create", M::create(&specification))?;
    let regions = link.end(Role::Responder).regions.len();
    ensure((regions > 0) == (capabilities.start == Start::Forked), || {
        format!("{regions} regions are inherited")
    })?;
    let listens = capabilities.calls.receive.contains(&Call::Once("accept4"));
    if cfg!(windows) || listens {
        // A listening socket has a name until its peer has connected, and on Windows every open file has one.
        drop(link);
    }
    let names: Vec<_> = step("look", std::fs::read_dir(folder.path()))?.flatten().collect();
    ensure(names.is_empty(), || format!("create left {names:?} in the folder")).map(|()| None)
}

/// Checks that a mechanism that can wait outside the call returns `WouldBlock` at once, and that a descriptor can be
/// watched.
fn waits<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    let outside = capabilities.waits.contains(&Wait::Poll) || capabilities.waits.len() > 1;
    if !outside {
        return Ok(Some("it always waits inside the call"));
    }
    let receive: Part<M> = |end, stage| {
        let watchable = M::CAPABILITIES.waits.contains(&Wait::Poll);
        let watched = end.readiness(Interest::Readable).is_some();
        ensure(watched == watchable, || format!("waits say {watchable}, a descriptor says {watched}"))?;
        let mut bytes = message(size(&M::CAPABILITIES), 0)?;
        match end.recv(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            other => return Err(format!("an empty mechanism gave {other:?}")),
        }
        stage.open(Gate::Sent);
        loop {
            match end.recv(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return step("receive", other).map(drop),
            }
        }
    };
    let send: Part<M> = |end, stage| {
        stage.pass(Gate::Sent);
        let mut bytes = message(size(&M::CAPABILITIES), 9)?;
        loop {
            match end.send(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return step("send", other),
            }
        }
    };
    let mut pair = Pair::start::<M>(size(capabilities), false, send, receive)?;
    match ended(&mut pair.sender, WATCHDOG) {
        Some(Exit::Code(0)) => pair.finish().map(|()| None),
        other => Err(format!("the sender ended with {other:?}")),
    }
}
