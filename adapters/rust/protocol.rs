//! furlong's adapter protocol, version 1, in Rust: the conversation, the stamps and the loops.
//!
//! A program calls [`run`] with its claims and a type that implements [`Link`]. The loops are compiled for that type.

use serde_json::{Value, json};
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::sync::Mutex;

/// Maximum distance of a number that still counts as another message's. A larger distance counts as corruption.
const NEAR: u32 = 64;

/// A protocol error: the name of the fault, and the detail that the row shows.
#[derive(Debug)]
pub struct Failure {
    fault: &'static str,
    detail: String,
}

impl Failure {
    /// Creates an error that is not a fault of a message.
    pub fn new(detail: impl Into<String>) -> Failure {
        Failure { fault: "error", detail: detail.into() }
    }

    fn unsupported(detail: impl Into<String>) -> Failure {
        Failure { fault: "unsupported", detail: detail.into() }
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::new(error.to_string())
    }
}

/// Moves whole messages.
pub trait Link: Sized {
    /// Connects a role, and returns once all ends are connected.
    fn open(set_up: &SetUp) -> Result<Self, Failure>;
    /// Returns the effective numbers by name, if there are any.
    fn numbers(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Sends a message.
    fn send(&mut self, message: &[u8]) -> Result<(), Failure>;
    /// Receives a message, and returns its length.
    fn receive(&mut self, message: &mut [u8]) -> Result<usize, Failure>;
}

/// Set-up of one role, as furlong requests it.
#[derive(Debug, Clone)]
pub struct SetUp {
    pub initiator: bool,
    pub pattern: String,
    pub wait: String,
    pub folder: String,
    pub name: String,
    pub own_size: usize,
    pub other_size: usize,
    /// Number of responders that receive each message of the initiator; above 1 only with the pattern fan-out.
    pub responders: usize,
}

impl SetUp {
    /// Returns whether responders send nothing.
    fn is_one_way(&self) -> bool {
        ["one-way", "fan-out"].contains(&self.pattern.as_str())
    }
}

/// Returns `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
fn now_ns() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Returns the CPU time of this thread in nanoseconds.
fn thread_ns() -> u64 {
    read_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills in a timespec that lives here.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Contents of the messages of one direction.
#[derive(Debug, Clone, Copy)]
pub struct Stamp(pub u64);

impl Stamp {
    #[inline]
    fn head(self, number: u32) -> [u8; 8] {
        ((u64::from(number) ^ self.0 >> 32) << 32 | u64::from(number)).to_le_bytes()
    }

    #[inline]
    fn tail(self, number: u32) -> [u8; 8] {
        (self.0.rotate_left(17) ^ u64::from(number)).to_le_bytes()
    }

    fn word(self, number: u32, index: u64) -> [u8; 8] {
        let seed = self.0.wrapping_add(u64::from(number) << 32);
        let mut x = seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)).to_le_bytes()
    }

    /// Writes the first and the last bytes of a message.
    #[inline]
    pub fn write(self, message: &mut [u8], number: u32) {
        let (head, length) = (self.head(number), message.len());
        match message.split_first_chunk_mut() {
            Some((first, _)) => *first = head,
            None => message.copy_from_slice(&head[..length]),
        }
        if length >= 16
            && let Some((_, last)) = message.split_last_chunk_mut()
        {
            *last = self.tail(number);
        }
    }

    /// Writes every byte of a message.
    pub fn write_all(self, message: &mut [u8], number: u32) {
        for (index, chunk) in (0..).zip(message.chunks_mut(8)) {
            chunk.copy_from_slice(&self.word(number, index)[..chunk.len()]);
        }
        self.write(message, number);
    }

    /// Returns whether the first and the last bytes are those of the message with this number.
    #[inline]
    pub fn holds(self, message: &[u8], number: u32) -> bool {
        let head = self.head(number);
        let head_holds = match message.first_chunk() {
            Some(first) => *first == head,
            None => *message == head[..message.len()],
        };
        head_holds && (message.len() < 16 || message.last_chunk() == Some(&self.tail(number)))
    }

    /// Describes what happened to a received message that differs from `sent`, the message that was due.
    fn explain(self, message: &[u8], sent: &[u8], due: u32) -> Failure {
        let head = &message[..message.len().min(8)];
        for off in 1..=NEAR {
            for found in [due.wrapping_sub(off), due.wrapping_add(off)] {
                if head == &self.head(found)[..head.len()] {
                    let (fault, detail) = if found == due.wrapping_add(off) {
                        ("lost", format!("message {found} arrived instead of {due}, which was lost"))
                    } else {
                        ("repeated", format!("message {found} arrived again instead of {due}"))
                    };
                    return Failure { fault, detail };
                }
            }
        }
        let at = message.iter().zip(sent).take_while(|(found, sent)| found == sent).count();
        let detail = format!("message {due} differs from the sent message, first at byte {at}");
        Failure { fault: "flipped", detail }
    }
}

/// Due times of messages that furlong schedules at fixed times, and the initiator's idle time until then.
#[derive(Default)]
struct Schedule {
    interval_ns: u64,
    /// Whether to sleep until shortly before the due time. The rest is spun, because the delay of a timer is no
    /// property of the row.
    sleeps: bool,
    due_ns: u64,
    number: u64,
    late: u64,
    /// Numbers of late messages, each followed by its delay.
    late_by_ns: Vec<u64>,
    idle_ns: u64,
    idle_switches: u64,
}

impl Schedule {
    fn wait_for_next(&mut self) {
        const TIMER_SLACK_NS: u64 = 100_000;
        const PUNCTUAL_NS: u64 = 1_000;
        /// Maximum number of late messages that are reported individually.
        const MOST_LATE: u64 = 100_000;
        self.due_ns += self.interval_ns;
        let before = thread_ns();
        let left_ns = self.due_ns.saturating_sub(TIMER_SLACK_NS + now_ns());
        if self.sleeps && left_ns > 0 {
            std::thread::sleep(std::time::Duration::from_nanos(left_ns));
            self.idle_switches += 1;
        }
        while now_ns() < self.due_ns {
            std::hint::spin_loop();
        }
        self.number += 1;
        self.idle_ns += thread_ns() - before;
        let late_ns = now_ns() - self.due_ns;
        if late_ns > PUNCTUAL_NS {
            self.late += 1;
            if self.late <= MOST_LATE {
                self.late_by_ns.extend([self.number, late_ns]);
            }
        }
    }
}

/// An end of the link, with its messages.
struct Role<L> {
    set_up: SetUp,
    link: L,
    own: Stamp,
    other: Stamp,
    outbox: Vec<u8>,
    inbox: Vec<u8>,
    expected: Vec<u8>,
    readings: Vec<u64>,
    done: u64,
    schedule: Schedule,
}

impl<L: Link> Role<L> {
    fn new(set_up: SetUp, stamps: [Stamp; 2]) -> Result<Self, Failure> {
        let own = usize::from(!set_up.initiator);
        let (outbox, inbox) = (vec![0; set_up.own_size], vec![0; set_up.other_size]);
        Ok(Role {
            link: L::open(&set_up)?,
            set_up,
            own: stamps[own],
            other: stamps[1 - own],
            outbox,
            expected: inbox.clone(),
            inbox,
            readings: Vec::new(),
            done: 0,
            schedule: Schedule::default(),
        })
    }

    /// Exchanges messages, each immediately or at its due time. Returns the number of received messages that were
    /// verified.
    fn exchange(
        &mut self,
        messages: u64,
        batch: u64,
        verify: bool,
        interval_ns: u64,
    ) -> Result<u64, Failure> {
        self.schedule = Schedule { interval_ns, sleeps: self.set_up.wait == "block", ..Schedule::default() };
        let in_batch = if batch == 0 { messages } else { batch }.max(1);
        let batches = messages / in_batch;
        self.readings = vec![0; batches as usize + 1];
        match (verify, interval_ns > 0) {
            (true, _) => self.run::<true, false>(batches, in_batch)?,
            (false, false) => self.run::<false, false>(batches, in_batch)?,
            (false, true) => self.run::<false, true>(batches, in_batch)?,
        }
        let one_way = self.set_up.is_one_way();
        match (one_way, self.set_up.initiator) {
            _ if batch == 0 => self.readings.clear(),
            (true, true) => self.readings.truncate(1),
            (true, false) => drop(self.readings.remove(0)),
            (false, true) => {}
            (false, false) => self.readings.clear(),
        }
        Ok(if verify && !(one_way && self.set_up.initiator) { messages } else { 0 })
    }

    fn run<const VERIFY: bool, const DUE: bool>(
        &mut self,
        batches: u64,
        in_batch: u64,
    ) -> Result<(), Failure> {
        match (self.set_up.is_one_way(), self.set_up.initiator) {
            (true, true) => self.send_all::<VERIFY, DUE>(batches * in_batch),
            (true, false) => self.receive_all::<VERIFY>(batches, in_batch),
            (false, true) => self.initiate::<VERIFY, DUE>(batches, in_batch),
            (false, false) => self.respond::<VERIFY>(batches * in_batch),
        }
    }

    fn initiate<const VERIFY: bool, const DUE: bool>(
        &mut self,
        batches: u64,
        in_batch: u64,
    ) -> Result<(), Failure> {
        let mut unchecked = None;
        self.stamp::<VERIFY>();
        self.begin();
        for index in 1..=batches as usize {
            for _ in 0..in_batch {
                if DUE {
                    self.schedule.wait_for_next();
                }
                self.link.send(&self.outbox)?;
                if let Some(length) = unchecked {
                    self.check::<VERIFY>(length)?;
                }
                self.done += 1;
                self.stamp::<VERIFY>();
                unchecked = Some(self.link.receive(&mut self.inbox)?);
            }
            self.readings[index] = now_ns();
        }
        unchecked.map_or(Ok(()), |length| self.check::<VERIFY>(length))
    }

    fn respond<const VERIFY: bool>(&mut self, messages: u64) -> Result<(), Failure> {
        self.stamp::<VERIFY>();
        for _ in 0..messages {
            let length = self.link.receive(&mut self.inbox)?;
            self.link.send(&self.outbox)?;
            self.done += 1;
            self.check::<VERIFY>(length)?;
            self.stamp::<VERIFY>();
        }
        Ok(())
    }

    /// Reads the clock before the first message; due times count from there.
    fn begin(&mut self) {
        self.readings[0] = now_ns();
        self.schedule.due_ns = self.readings[0];
    }

    fn send_all<const VERIFY: bool, const DUE: bool>(&mut self, messages: u64) -> Result<(), Failure> {
        self.begin();
        for _ in 0..messages {
            self.stamp::<VERIFY>();
            if DUE {
                self.schedule.wait_for_next();
            }
            self.link.send(&self.outbox)?;
            self.done += 1;
        }
        Ok(())
    }

    fn receive_all<const VERIFY: bool>(&mut self, batches: u64, in_batch: u64) -> Result<(), Failure> {
        for index in 1..=batches as usize {
            for _ in 0..in_batch {
                let length = self.link.receive(&mut self.inbox)?;
                self.done += 1;
                self.check::<VERIFY>(length)?;
            }
            self.readings[index] = now_ns();
        }
        Ok(())
    }

    /// Stamps the next message.
    #[inline(always)]
    fn stamp<const VERIFY: bool>(&mut self) {
        let number = (self.done + 1) as u32;
        match VERIFY {
            true => self.own.write_all(&mut self.outbox, number),
            false => self.own.write(&mut self.outbox, number),
        }
    }

    /// Checks the latest message.
    #[inline(always)]
    fn check<const VERIFY: bool>(&mut self, length: usize) -> Result<(), Failure> {
        let number = self.done as u32;
        if length != self.inbox.len() || !self.other.holds(&self.inbox, number) {
            return Err(self.discrepancy(length));
        }
        if VERIFY {
            self.other.write_all(&mut self.expected, number);
            if self.inbox != self.expected {
                return Err(self.other.explain(&self.inbox, &self.expected, number));
            }
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn discrepancy(&self, length: usize) -> Failure {
        let number = self.done as u32;
        if length != self.inbox.len() {
            let detail = format!("message {number} has {length} bytes instead of {}", self.inbox.len());
            return Failure { fault: "truncated", detail };
        }
        let mut sent = self.inbox.clone();
        self.other.write(&mut sent, number);
        self.other.explain(&self.inbox, &sent, number)
    }
}

/// Current set-up. All created files have its name or are in its directory.
static SET_UP: Mutex<Option<SetUp>> = Mutex::new(None);

/// Removes all created files, after the link is dropped or if it can no longer be dropped.
fn remove_files() {
    let Some(set_up) = SET_UP.lock().ok().and_then(|mut set_up| set_up.take()) else { return };
    for (folder, prefix) in [(set_up.folder.as_str(), ""), ("/dev/shm", set_up.name.as_str())] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                let path = entry.path();
                // The other role may remove them at the same time.
                let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            }
        }
    }
}

/// Handles SIGTERM in a waiting thread, because a signal handler may not call the needed functions.
fn remove_files_when_terminated() {
    // SAFETY: initializes plain memory as an empty set, and adds one signal.
    let termination = unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        set
    };
    // SAFETY: changes only the signal mask of this thread and its later threads; a null pointer is not written to.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &termination, std::ptr::null_mut()) };
    std::thread::spawn(move || {
        let mut signal = 0;
        // SAFETY: both variables live here, and all threads block the signal.
        unsafe { libc::sigwait(&termination, &mut signal) };
        remove_files();
        // SAFETY: ends the process immediately, without touching its memory.
        unsafe { libc::_exit(128 + signal) };
    });
}

/// Returns the requested set-up. Returns an error if the row does not support it.
fn set_up_of(claims: &Value, request: &Value) -> Result<SetUp, Failure> {
    let text = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
    let claimed =
        |key: &str, value: &str| claims[key].as_array().is_some_and(|all| all.contains(&json!(value)));
    let (pattern, wait, initiator) = (text("pattern"), text("wait"), request["role"] == "initiator");
    let size = |index: usize| request["sizes_bytes"][index].as_u64().unwrap_or_default() as usize;
    let (own_size, other_size) = (size(usize::from(!initiator)), size(usize::from(initiator)));
    if !claimed("waits", &wait) {
        return Err(Failure::unsupported(format!("it cannot wait by {wait}")));
    }
    if !claimed("patterns", &pattern) {
        return Err(Failure::unsupported(format!("it has no pattern {pattern}")));
    }
    if own_size.min(other_size) < 1 {
        return Err(Failure::unsupported("a message has at least one byte"));
    }
    let (folder, name) = (text("folder"), text("name"));
    let responders = request["responders"].as_u64().unwrap_or(1) as usize;
    Ok(SetUp { initiator, pattern, wait, folder, name, own_size, other_size, responders })
}

/// Answers a request; `about` has the identity of the program.
fn answer<L: Link>(about: &Value, role: &mut Option<Role<L>>, request: &Value) -> Result<Value, Failure> {
    let op = request["op"].as_str().unwrap_or_default();
    match op {
        "hello" => {
            let mut reply = json!({"op": op, "protocol": 1, "shape": "pair", "clock_ns": now_ns()});
            for (key, value) in about.as_object().into_iter().flatten() {
                reply[key] = value.clone();
            }
            reply["claims"]["rates"] = true.into();
            Ok(reply)
        }
        "set-up" => {
            let set_up = set_up_of(&about["claims"], request)?;
            let stamp = |index: usize| {
                let digits = request["stamps"][index].as_str().unwrap_or_default();
                u64::from_str_radix(digits, 16).map(Stamp)
            };
            *SET_UP.lock()? = Some(set_up.clone());
            let made = role.insert(Role::new(set_up, [stamp(0)?, stamp(1)?])?);
            let mut effective = json!({});
            for key in ["pattern", "wait", "sizes_bytes"] {
                effective[key] = request[key].clone();
            }
            for (name, number) in made.link.numbers() {
                effective[name] = number.into();
            }
            Ok(json!({"op": "ready", "effective": effective, "processes": []}))
        }
        "finish" => {
            end(role);
            Ok(json!({"op": "finished"}))
        }
        "exchange" | "readings" => {
            let role = role.as_mut().ok_or_else(|| Failure::new("nothing is set up"))?;
            if op == "readings" {
                return Ok(json!({"op": op, "clock_ns": role.readings}));
            }
            let number = |key: &str| request[key].as_u64().unwrap_or_default();
            let interval_ns = number("interval_ns");
            let verified =
                role.exchange(number("messages"), number("batch"), request["verify"] == true, interval_ns)?;
            let Schedule { late, late_by_ns, idle_ns, idle_switches, .. } = &role.schedule;
            Ok(json!({
                "op": "exchanged", "messages": request["messages"], "verified": verified,
                "late": late, "late_by_ns": late_by_ns, "idle_ns": idle_ns, "idle_switches": idle_switches,
            }))
        }
        _ => Err(Failure::unsupported(format!("the request {op} is unknown"))),
    }
}

fn end<L>(role: &mut Option<Role<L>>) {
    // The link is dropped first, because it removes most files itself.
    drop(role.take());
    remove_files();
}

/// Opens the file that a variable names.
fn open(variable: &str, writing: bool) -> Result<File, Failure> {
    let path = std::env::var(variable)
        .map_err(|_| Failure::new("furlong starts this: furlong run --adapter FOLDER"))?;
    Ok(fs::OpenOptions::new().read(!writing).write(writing).open(path)?)
}

/// Answers furlong's requests until there are no more. `about` has `name`, `versions` and `claims`.
pub fn run<L: Link>(about: Value) -> Result<(), Failure> {
    remove_files_when_terminated();
    let (requests, mut replies) = (open("FURLONG_READ", false)?, open("FURLONG_WRITE", true)?);
    let mut role: Option<Role<L>> = None;
    for line in BufReader::new(requests).lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let reply = answer(&about, &mut role, &request).unwrap_or_else(
            |Failure { fault, detail }| json!({"op": "error", "fault": fault, "detail": detail}),
        );
        writeln!(replies, "{reply}")?;
        if request["op"] == "finish" {
            break;
        }
    }
    end(&mut role);
    Ok(())
}
