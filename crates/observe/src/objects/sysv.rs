//! System V queues, segments and sets of semaphores of this IPC namespace.

use super::object::{Amount, AmountUnit, Object, ObjectState};
use crate::identity::{Access, Holder, ObjectId, ObjectKind};
use furlong_os::linux::{sysv_queue, sysv_semaphore};
use furlong_os::other_process::{began_unix_s, name};
use std::collections::{BTreeSet, HashMap};
use std::fs;

/// Line of a table of /proc/sysvipc, by the names of its columns.
struct Line<'a>(HashMap<&'a str, &'a str>);

impl Line<'_> {
    fn number(&self, column: &str) -> i64 {
        self.0.get(column).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn amount(&self, column: &str, unit: AmountUnit) -> Amount {
        Amount::new(self.number(column).unsigned_abs(), unit)
    }

    /// Returns an object with ID, key and time of creation.
    fn object(&self, kind: ObjectKind, id_column: &str) -> Object {
        let id = ObjectId { kind, device: 0, number: self.number(id_column).unsigned_abs() };
        let name = match self.number("key") as u32 {
            0 => "private".to_owned(),
            key => format!("{key:#010x}"),
        };
        Object { name: Some(name), created_unix_s: Some(self.number("ctime")), ..Object::new(id) }
    }
}

/// Calls `each` with every line of a table. A kernel without System V IPC has no tables.
fn read_table(name: &str, mut each: impl FnMut(Line)) {
    let text = fs::read_to_string(format!("/proc/sysvipc/{name}")).unwrap_or_default();
    let mut lines = text.lines();
    let Some(names) = lines.next() else { return };
    for line in lines {
        each(Line(names.split_whitespace().zip(line.split_whitespace()).collect()));
    }
}

/// Returns all objects. Holders of segments are added by their mappings.
pub fn all() -> Vec<Object> {
    let mut found = Vec::new();
    read_table("msg", |line| found.push(queue(&line)));
    read_table("shm", |line| found.push(segment(&line)));
    read_table("sem", |line| found.push(semaphores(&line)));
    found
}

fn queue(line: &Line) -> Object {
    let mut object = line.object(ObjectKind::SysvMq, "msqid");
    object.content =
        vec![line.amount("qnum", AmountUnit::Messages), line.amount("cbytes", AmountUnit::Bytes)];
    let capacity = sysv_queue::capacity_bytes(object.id.number as i32).ok();
    object.size = capacity.map(|bytes| Amount::new(bytes, AmountUnit::Bytes)).into_iter().collect();
    let users = [("lspid", "stime", Access::SentLast), ("lrpid", "rtime", Access::ReceivedLast)];
    let users = users.map(|(pid, time, access)| (line.number(pid) as i32, line.number(time), access));
    add_last_users(&mut object, &users);
    object
}

fn segment(line: &Line) -> Object {
    let mut object = line.object(ObjectKind::SysvShm, "shmid");
    let resident = line.number("rss") + line.number("swap");
    object.content = vec![Amount::new(resident.unsigned_abs(), AmountUnit::Bytes)];
    object.size = vec![line.amount("size", AmountUnit::Bytes)];
    object.state = if line.number("nattch") == 0 { ObjectState::Orphan } else { ObjectState::InUse };
    object
}

fn semaphores(line: &Line) -> Object {
    let mut object = line.object(ObjectKind::SysvSem, "semid");
    let count = line.number("nsems");
    let states: Vec<_> =
        (0..count).map_while(|at| sysv_semaphore::state(object.id.number as i32, at as i32).ok()).collect();
    object.size = vec![line.amount("nsems", AmountUnit::Semaphores)];
    if states.len() as i64 == count {
        let total = |part: fn(&sysv_semaphore::SemaphoreState) -> i32| {
            states.iter().map(|state| u64::from(part(state).unsigned_abs())).sum()
        };
        object.content = vec![
            Amount::new(total(|state| state.value), AmountUnit::Count),
            Amount::new(total(|state| state.waiting), AmountUnit::Waiters),
        ];
    }
    let pids: BTreeSet<_> = states.iter().map(|state| state.last_pid).collect();
    let time = line.number("otime");
    let users: Vec<_> = pids.into_iter().map(|pid| (pid, time, Access::ChangedLast)).collect();
    add_last_users(&mut object, &users);
    object
}

/// Adds the last users, each a PID, the time of its last use and the use. A process that began later has only the same PID.
fn add_last_users(object: &mut Object, users: &[(i32, i64, Access)]) {
    /// The time at which a process began is rounded, and the kernel's two clocks may differ.
    const ROUNDING_S: i64 = 1;
    let known = users.iter().filter(|(pid, ..)| *pid > 0);
    for (pid, time, access) in known.clone() {
        if began_unix_s(*pid).is_ok_and(|began| began <= time + ROUNDING_S) {
            object.add_holder(Holder { pid: *pid, command: name(*pid), access: *access, end: None });
        }
    }
    // A time without a PID is that of a process outside this PID namespace.
    let has_unknown =
        users.iter().any(|(pid, time, _)| *pid == 0 && *time > 0 && object.id.kind == ObjectKind::SysvMq);
    object.state = match () {
        () if !object.holders.is_empty() => ObjectState::InUse,
        () if known.count() == 0 || has_unknown => ObjectState::Unknown,
        () => ObjectState::UsersExited,
    };
}
