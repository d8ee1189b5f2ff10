//! Programs for two users and for two containers: the intended peer is accepted, and every other process is rejected.

use crate::exchanges::{Row, rows};
use crate::support::{BuiltProgram, QUICK, Surroundings, each, is_readable, is_root, runs, turn};
use furlong_model::{Boundary, Pattern, Wait};
use furlong_programs::{EndBoundaries, Language};
use furlong_testing::{skip, skipped};
use std::ops::Range;

/// Messages in each exchange.
const COUNT: u64 = 50;
/// The serving user, the asking user, and a third user.
const USERS: [u32; 3] = [61001, 61002, 61003];
const BECOME_ANOTHER: [&str; 4] = ["setpriv", "--reuid=61001", "--clear-groups", "true"];

/// Returns one benchmark of each mechanism that works across users, in all languages for which a program exists. One is
/// enough, because the ends find each other in the same way with every wait strategy.
fn across_users() -> Vec<Row> {
    let mut rows = rows();
    let ordinary = as_user(USERS[0]);
    let ordinary: Vec<&str> = ordinary.iter().map(String::as_str).collect();
    let is_readable = Language::ALL.map(|language| (language, is_readable(language, &ordinary)));
    for (_, _, languages) in &mut rows {
        languages.retain(|language| is_readable.contains(&(*language, true)));
    }
    let in_most = |row: &(&str, Wait, Vec<Language>)| {
        let waits = rows.iter().filter(|other| other.0 == row.0);
        let first = waits.max_by_key(|other| (other.2.len(), other.1 != Wait::Spin));
        first.is_some_and(|first| first.1 == row.1)
    };
    let forks = ["pipe", "vmsplice", "socketpair", "anon-shm"];
    let reaches =
        |mechanism: &str| !forks.contains(&mechanism) && !["process-vm", "channel"].contains(&mechanism);
    let chosen: Vec<_> = rows.iter().filter(|row| reaches(row.0) && in_most(row)).cloned().collect();
    assert_eq!(chosen.len(), 12, "{chosen:?}");
    chosen
}

fn as_user(user: u32) -> Vec<String> {
    let ids = [format!("--reuid={user}"), format!("--regid={user}")];
    ["setpriv".to_owned()].into_iter().chain(ids).chain(["--clear-groups".to_owned()]).collect()
}

/// Returns the environment of a process of `user` whose peer is user `peer`, with names in `folder`.
fn user(user: u32, peer: u32, folder: &str) -> Surroundings {
    let variables = vec![("PAIR_PEER", peer.to_string()), ("PAIR_FOLDER", folder.to_owned())];
    Surroundings { before: as_user(user), variables }
}

/// Returns the reason to skip a test that needs root and a command that succeeds.
fn lack(needed: &[&str]) -> Option<String> {
    let is_root = is_root();
    (!is_root || !runs(needed)).then(|| match is_root {
        true => format!("needs {}", needed.join(" ")),
        false => "needs root".to_owned(),
    })
}

fn built(
    between: EndBoundaries,
    row: (&str, Wait),
    language: Language,
    patience_s: Option<u32>,
) -> BuiltProgram {
    BuiltProgram::between(between, row, Pattern::RoundTrip, 128, language, patience_s)
}

/// The programs for both boundaries differ only in the commands that start them.
#[test]
fn two_users_and_two_containers_exchange() {
    let mut rows = across_users();
    rows.iter_mut().for_each(|row| row.2.retain(|language| QUICK.contains(language)));
    users_and_containers_exchange(rows, 0..1);
}

/// Exchanges messages between users and between containers. `orders` are the ends that start first between users.
fn users_and_containers_exchange(rows: Vec<Row>, orders: Range<usize>) {
    if let Some(reason) = lack(&BECOME_ANOTHER) {
        skip!("{reason}");
    }
    let no_containers = lack(&["unshare", "--mount", "--ipc", "--pid", "--net", "--fork", "true"]);
    if let Some(reason) = &no_containers {
        skipped("programs in two containers", reason);
    }
    let between = EndBoundaries::of(&[Boundary::User, Boundary::Container]);
    each(rows, |(mechanism, wait, languages)| {
        let _turn = turn(mechanism);
        let build = |language: &Language| built(between, (mechanism, wait), *language, None);
        let all: Vec<_> = languages.iter().map(build).collect();
        for (at, serving) in all.iter().enumerate() {
            users_exchange(serving, &all, orders.clone());
            // A name inside an IPC namespace is not visible outside. Each language asks once, because all pairs are
            // tested between users.
            if no_containers.is_none() && !["posix-mq", "sysv-mq", "sysv-shm"].contains(&mechanism) {
                let loopback = ["tcp", "udp"].contains(&mechanism);
                containers_exchange(serving, &all[(at + 1) % all.len()], loopback);
            }
        }
    });
}

/// Exchanges messages with every asking program, in these start orders.
fn users_exchange(serving: &BuiltProgram, all: &[BuiltProgram], orders: Range<usize>) {
    let folder = serving.folder();
    let around = [user(USERS[0], USERS[1], &folder), user(USERS[1], USERS[0], &folder)];
    for (asking, first) in all.iter().flat_map(|asking| orders.clone().map(move |first| (asking, first))) {
        serving.assert_exchanges_around(asking, first, COUNT, [&around[0], &around[1]]);
    }
}

/// Exchanges messages between two containers. With a shared network, as in a pod, they belong to two users; with
/// separate networks, to one user.
fn containers_exchange(serving: &BuiltProgram, asking: &BuiltProgram, loopback: bool) {
    let shared = serving.folder();
    let ends = [serving, asking];
    let pod = [(0, (USERS[0], USERS[1])), (1, (USERS[1], USERS[0]))]
        .map(|(role, users): (usize, _)| container(ends[role], &shared, false, Some(users)));
    serving.assert_exchanges_around(asking, 1, COUNT, [&pod[0], &pod[1]]);
    if !loopback {
        let apart = [0, 1].map(|role: usize| container(ends[role], &shared, true, None));
        serving.assert_exchanges_around(asking, 0, COUNT, [&apart[0], &apart[1]]);
    }
}

/// Returns the environment of a process in a container: a separate file system, except for two directories.
fn container(own: &BuiltProgram, shared: &str, network: bool, user: Option<(u32, u32)>) -> Surroundings {
    let script = "mount --bind \"$1\" /mnt && mount --bind \"$2\" /media && mount -t tmpfs none /tmp && \
                  mount -t tmpfs none /dev/shm && cd /media && shift 2 && exec \"$@\"";
    let mut before = vec!["unshare", "--mount", "--ipc", "--pid", "--fork", "--kill-child"];
    before.extend(network.then_some("--net"));
    let folder = own.folder();
    before.extend(["sh", "-c", script, "sh", shared, &folder]);
    let mut around = Surroundings::of(&before);
    around.before.extend(user.into_iter().flat_map(|(own, _)| as_user(own)));
    around.variables = vec![("PAIR_FOLDER", "/mnt".to_owned()), ("PAIR_ADDRESS", "127.0.0.2".to_owned())];
    around.variables.extend(user.map(|(_, peer)| ("PAIR_PEER", peer.to_string())));
    around
}

/// Separate networks have separate abstract addresses, but programs with other names still work.
#[test]
fn two_network_namespaces_exchange() {
    let apart = ["unshare", "--net"];
    if let Some(reason) = lack(&[&apart[..], &["true"]].concat()) {
        skip!("{reason}");
    }
    let between = EndBoundaries::of(&[Boundary::NetworkNamespace]);
    let rows = [
        ("posix-mq", Wait::Spin),
        ("sysv-mq", Wait::Spin),
        ("sysv-shm", Wait::Futex),
        ("process-vm", Wait::Futex),
    ];
    each(rows.into(), |row| {
        let _turn = turn(row.0);
        let built = built(between, row, Language::C, None);
        built.assert_exchanges(0, COUNT, &apart);
    });
}

/// Tests that run only if slow tests are requested.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn two_users_and_two_containers_exchange_in_all_languages() {
        users_and_containers_exchange(across_users(), 0..2);
    }

    /// For FIFOs and network sockets, the program states that it accepts other users.
    #[test]
    #[ignore = "slow"]
    fn a_third_user_is_refused() {
        if let Some(reason) = lack(&BECOME_ANOTHER) {
            skip!("{reason}");
        }
        let between = EndBoundaries::of(&[Boundary::User]);
        let mut rows = across_users();
        rows.retain(|row| !["fifo", "tcp", "udp"].contains(&row.0));
        let rows: Vec<_> = rows
            .into_iter()
            .flat_map(|(mechanism, wait, languages)| {
                languages.into_iter().map(move |language| (mechanism, wait, language))
            })
            .collect();
        each(rows, |(mechanism, wait, language)| {
            let _turn = turn(mechanism);
            let built = built(between, (mechanism, wait), language, Some(4));
            let folder = built.folder();
            let [serving, asking, third] = [(0, 1), (1, 0), (2, 0)]
                .map(|(own, peer): (usize, usize)| user(USERS[own], USERS[peer], &folder));
            let name = BuiltProgram::new_name();
            // The names that a killed run has left do not matter.
            let mut killed = built.start_with(0, &name, COUNT, &serving);
            built.await_server(&name);
            killed.kill();
            killed.wait();
            let server = built.start_with(0, &name, COUNT, &serving);
            built.await_server(&name);
            let stranger = built.start_with(1, &name, COUNT, &third);
            // Datagrams have no connection to close, so the server exits when it finds a directory of the wrong owner.
            if mechanism != "unix-dgram" {
                let refused = stranger.wait();
                assert_eq!(refused.code, Some(1), "{mechanism} in {language}: {refused:?}");
                let client = built.start_with(1, &name, COUNT, &asking);
                built.assert_verified(&[server.wait(), client.wait()], COUNT);
            } else {
                let all = [server.wait(), stranger.wait()];
                assert!(all.iter().all(|ended| ended.code == Some(1)), "{mechanism} in {language}: {all:?}");
                assert!(all[0].complained.contains("only user 61002"), "{mechanism} in {language}: {all:?}");
            }
            built.assert_nothing_is_left(&name);
            // The server must be the intended user, too.
            let name = BuiltProgram::new_name();
            let impostor = built.start_with(0, &name, COUNT, &third);
            built.await_server(&name);
            let deceived = built.start_with(1, &name, COUNT, &asking).wait();
            assert_eq!(deceived.code, Some(1), "{mechanism} in {language}: {deceived:?}");
            assert!(
                deceived.complained.contains("only user 61001"),
                "{mechanism} in {language}: {deceived:?}"
            );
            impostor.terminate();
            impostor.wait();
            built.assert_nothing_is_left(&name);
        });
    }
}
