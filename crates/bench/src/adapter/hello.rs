//! One row of an adapter, with the reply of its program to hello, which is sent once before a run.

#[cfg(target_os = "linux")]
use super::conversation::Conversation;
#[cfg(target_os = "linux")]
use super::protocol::Request;
pub use super::protocol::Shape;
use super::protocol::{Claims, FurlongLoop, Hello, PROTOCOL, Reply};
#[cfg(target_os = "linux")]
use super::traces::kill_named_processes;
use crate::child_process::ChildProgram;
use crate::session::Session;
use crate::started_program::shortened;
use furlong_adapter_files::{Manifest, Row};
#[cfg(target_os = "linux")]
use furlong_model::Role;
use furlong_model::{
    AdapterFacts, Arrival, Capabilities, Case, Family, Limits, OwnedCapabilities, Pattern, Placement,
    Sharing, Start, Unavailable, Wait, is_one,
};
#[cfg(target_os = "linux")]
use furlong_os::clock;
#[cfg(target_os = "linux")]
use furlong_os::wait::wait_any;
use std::collections::BTreeMap;
#[cfg(target_os = "linux")]
use std::time::Duration;

/// The time that a program may take to start and reply to hello, in milliseconds.
const HELLO_MS: u64 = 10_000;

/// A mechanism in a separate program.
#[derive(Debug)]
pub struct Adapter {
    /// The manifest, which describes how the program is started.
    pub manifest: Manifest,
    /// The row of the manifest.
    pub row: Row,
    /// The number of processes that furlong starts.
    pub shape: Shape,
    /// Whether the mechanism has no second process.
    pub(crate) alone: bool,
    /// Whether the program can send messages at fixed times.
    pub rates: bool,
    /// Whether the program can send messages of several sizes at varying times.
    pub(crate) schedules: bool,
    /// The program, if it starts roles that run furlong's own loop; `None` if it has its own loop.
    pub(crate) role_program: Option<ChildProgram>,
    /// The patterns that the program supports.
    pub patterns: Vec<Pattern>,
    /// The versions of the parts of the program, by name.
    pub versions: BTreeMap<String, String>,
    /// The limits of the mechanism on this machine, or why it is unavailable.
    pub here: Result<Limits, Unavailable>,
}

impl Adapter {
    /// Starts the program of one row of a manifest, and asks it for its claims. If it cannot run, the adapter has the
    /// reason.
    pub(crate) fn ask(manifest: &Manifest, row: &Row, session: &Session) -> (Adapter, Capabilities) {
        let (adapter, claims) = match greet(manifest, row, session) {
            Ok(Hello { versions, furlong: Some(furlong), .. }) => {
                return Adapter::with_furlongs_loop(manifest, row, versions, *furlong);
            }
            Ok(Hello { versions, shape, claims, .. }) => {
                let here = Ok(Limits {
                    max_size_bytes: claims.max_size_bytes,
                    limited_by: claims.limited_by.clone(),
                    remedy: String::new(),
                    max_in_place_bytes: None,
                });
                let Claims { alone, rates, schedules, .. } = claims;
                // Without a receiver, one-way messages are impossible.
                let patterns = if alone { vec![Pattern::default()] } else { claims.patterns.clone() };
                (
                    Adapter {
                        shape,
                        alone,
                        rates,
                        schedules,
                        patterns,
                        versions,
                        ..Adapter::of(manifest, row, here)
                    },
                    Some(claims),
                )
            }
            Err(why) => (Adapter::of(manifest, row, Err(why)), None),
        };
        (adapter, capabilities(&row.name, claims))
    }

    /// Returns an adapter whose roles run furlong's own loop. Its claims have the form of a built-in mechanism's.
    pub(super) fn with_furlongs_loop(
        manifest: &Manifest,
        row: &Row,
        versions: BTreeMap<String, String>,
        furlong: FurlongLoop,
    ) -> (Adapter, Capabilities) {
        let FurlongLoop { version, mut capabilities, limits } = furlong;
        let own = env!("CARGO_PKG_VERSION");
        let fault = if version != own {
            Some(format!("it was built with furlong {version}, but this is {own}"))
        } else if manifest.command.len() > 1 || !row.arguments.is_empty() {
            Some("its manifest has arguments for a program without arguments".to_owned())
        } else if capabilities.start == Start::Forked {
            Some("its memory is inherited over fork, but its roles are started as new programs".to_owned())
        } else if capabilities.waits.is_empty() || capabilities.waits.contains(&Wait::Own) {
            Some("it announces no wait strategy that furlong supports".to_owned())
        } else {
            None
        };
        if capabilities.waits.is_empty() {
            // The first wait strategy is the default.
            capabilities.waits.push(Wait::Block);
        }
        let here = fault.map_or(Ok(limits), |why| Err(Unavailable::new(why, "build it again")));
        let role_program = manifest.program().map(ChildProgram::at);
        let patterns = Pattern::OVER_ONE_LINK.to_vec();
        let shape = Shape::Pair;
        let adapter = Adapter { shape, patterns, versions, role_program, ..Adapter::of(manifest, row, here) };
        (adapter, OwnedCapabilities { name: row.name.clone(), ..capabilities }.leak())
    }

    /// Returns an adapter whose program has not replied yet.
    fn of(manifest: &Manifest, row: &Row, here: Result<Limits, Unavailable>) -> Adapter {
        Adapter {
            manifest: manifest.clone(),
            row: row.clone(),
            shape: Shape::Own,
            alone: false,
            rates: false,
            schedules: false,
            role_program: None,
            patterns: Vec::new(),
            versions: BTreeMap::new(),
            here,
        }
    }

    /// Returns the facts about the program that are saved with a run.
    pub(crate) fn facts(&self) -> AdapterFacts {
        AdapterFacts {
            versions: self.versions.clone(),
            does: self.row.does.clone(),
            compiles_while_running: self.manifest.compiles_while_running,
        }
    }

    /// Returns whether the program can send messages of several sizes, at any times, in this case.
    pub fn follows_schedules(&self, case: &Case) -> bool {
        self.schedules && !case.pattern().is_to_several()
    }

    /// Returns why the program cannot run this case, or `None`.
    pub fn refusal(&self, case: &Case) -> Option<Unavailable> {
        if self.role_program.is_some() {
            return None;
        }
        let (what, remedy) = if !self.patterns.contains(&case.pattern()) {
            let names = self.patterns.iter().map(|pattern| pattern.name()).collect::<Vec<_>>();
            let reason =
                format!("the adapter {} does not support {} messages", case.mechanism, case.pattern());
            return Some(Unavailable::new(reason, format!("ask for -m {}", names.join(" or -m "))));
        } else if case.placement == Placement::OneProcess {
            ("no --place one-process".to_owned(), "ask for same-core, other-core or free")
        } else if case.arrival.interval_ns().is_some() && (!self.rates || case.pattern().shares_an_end()) {
            (
                "no --rate: its program does not claim to send messages when they are due".to_owned(),
                "leave it out: each message follows the one before",
            )
        } else if !matches!(case.arrival, Arrival::Interval(_) | Arrival::ClosedLoop | Arrival::ThinkTime(_))
            && (!self.follows_schedules(case) || matches!(case.arrival, Arrival::Trace { .. }))
        {
            (
                "no such --arrival: its program does not claim to follow a schedule".to_owned(),
                "leave it out, or ask for fixed",
            )
        } else if matches!(case.arrival, Arrival::ThinkTime(_)) {
            ("no --think-time".to_owned(), "leave it out: each message follows the one before")
        } else if !case.access.is_copy() {
            (
                format!("no --access {}", case.access),
                "leave it out: its program copies, or accesses memory as described in furlong list",
            )
        } else if !is_one(&case.window()) {
            ("no --window".to_owned(), "leave it out: one message is in flight")
        } else if case.all_parties().len() > 2 && !case.pattern().is_to_several() {
            ("no --pairs".to_owned(), "leave it out: one pair is measured")
        } else if case.exchange.stall().is_some() {
            ("no --stall: its programs do not support pauses".to_owned(), "leave it out")
        } else if case.exchange.request().is_some_and(|request| request.by.is_some()) {
            ("no --request-by".to_owned(), "leave it out: requests go the same way as responses")
        } else {
            return None;
        };
        Some(Unavailable::new(format!("{} is an adapter that has {what}", case.mechanism), remedy))
    }
}

/// Returns the capabilities of a row; `None` stands for a program that has not replied. Their strings live as long as
/// this process, as those of built-in mechanisms do.
fn capabilities(name: &str, claims: Option<Claims>) -> Capabilities {
    let text = |text: &str| -> &'static str { shortened(text).leak() };
    let Claims { summary, waits, patterns, copies, when_full, peer_death, reach, alone, .. } =
        claims.unwrap_or_default();
    let usual = Capabilities::library(text(&summary));
    Capabilities {
        name: text(name),
        family: if alone { Family::Floor } else { usual.family },
        waits: waits.leak(),
        copies,
        when_full,
        peer_death,
        reach,
        start: if alone { Start::Alone } else { usual.start },
        sharing: match patterns.iter().find(|pattern| pattern.is_to_several()) {
            Some(pattern) if pattern.is_to_all() => Sharing::EveryReceiver,
            Some(_) => Sharing::Messages,
            None => usual.sharing,
        },
        ..usual
    }
}

/// Starts the program, sends hello, and ends it with all processes that it has started.
#[cfg(target_os = "linux")]
fn greet(manifest: &Manifest, row: &Row, session: &Session) -> Result<Hello, Unavailable> {
    let missing: Vec<_> = manifest.missing();
    if !missing.is_empty() {
        let names: Vec<_> = missing.iter().map(|need| need.command.as_str()).collect();
        let how: Vec<_> = missing.iter().map(|need| need.get.as_str()).collect();
        return Err(Unavailable::new(format!("{} needs {}", row.name, names.join(" and ")), how.join("; ")));
    }
    let unavailable = |why: String| {
        let remedy = match manifest.build.is_empty() {
            true => format!("furlong adapter check {}", manifest.folder.display()),
            false => format!("furlong adapter install {}", manifest.name),
        };
        Unavailable::new(why, remedy)
    };
    // No other program has this name in its environment. The session's cleanup process knows its beginning.
    let run = furlong_os::identity::random().map(|number| format!("{}-{number:016x}", session.name()));
    let run = run.map_err(|error| unavailable(error.to_string()))?;
    let hello = converse(manifest, row, &run, session, &unavailable);
    // The program has ended with the conversation, but not the processes that it has started. Orphans with another
    // environment are ended with the session: they may belong to another row, whose program is asked at this time.
    kill_named_processes(&run).map_err(|error| unavailable(error.to_string()))?;
    hello
}

/// Starts the program as a part of this run, and waits for its reply to hello.
#[cfg(target_os = "linux")]
fn converse(
    manifest: &Manifest,
    row: &Row,
    run: &str,
    session: &Session,
    unavailable: &dyn Fn(String) -> Unavailable,
) -> Result<Hello, Unavailable> {
    let phase = furlong_model::Phase::Open;
    let interrupted = || Err(unavailable("a signal arrived before it replied to hello".to_owned()));
    if session.is_to_end() {
        return interrupted();
    }
    let started = Conversation::start(manifest, &row.arguments, Role::Initiator.into(), run);
    let mut conversation = started.map_err(|error| unavailable(error.to_string()))?;
    let before_ns = clock::now_ns();
    let request = Request::Hello { protocol: PROTOCOL };
    // The pipe is empty, so it accepts the request at once.
    conversation.send(&request, phase, Duration::ZERO, session).map_err(|why| unavailable(why.reason()))?;
    let deadline_ns = before_ns + HELLO_MS * 1_000_000;
    loop {
        let left_ms = deadline_ns.saturating_sub(clock::now_ns()) / 1_000_000;
        let handles = conversation.program.handles().into_iter().chain(session.shutdown_handle());
        wait_any(&handles.collect::<Vec<_>>(), left_ms).map_err(|error| unavailable(error.to_string()))?;
        if session.is_to_end() {
            return interrupted();
        }
        match conversation.attend(phase).map_err(|failure| unavailable(failure.detail))? {
            Some(reply) => return accept(reply, row, [before_ns, clock::now_ns()]).map_err(unavailable),
            None if left_ms == 0 => {
                return Err(unavailable(format!("it has not replied to hello for {HELLO_MS} ms")));
            }
            None => {}
        }
    }
}

/// Returns why adapters cannot run on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn missing() -> Unavailable {
    Unavailable::new(
        "adapters run only on Linux: furlong reads the resource usage of their programs from /proc",
        "run this on Linux",
    )
}

/// Returns the reason why no program is started.
#[cfg(not(target_os = "linux"))]
fn greet(_manifest: &Manifest, _row: &Row, _session: &Session) -> Result<Hello, Unavailable> {
    Err(missing())
}

/// Checks a reply to hello, which arrived between these two times in nanoseconds.
pub(super) fn accept(reply: Reply, row: &Row, [before_ns, after_ns]: [u64; 2]) -> Result<Hello, String> {
    let hello = match reply {
        Reply::Hello(hello) => hello,
        Reply::Error { detail, .. } => return Err(shortened(&detail)),
        other => return Err(format!("it replied to hello with {}", other.name())),
    };
    if hello.protocol != PROTOCOL {
        return Err(format!(
            "it uses version {} of the adapter protocol, but furlong uses {PROTOCOL}",
            hello.protocol
        ));
    }
    if hello.name != row.name {
        return Err(format!(
            "it calls itself '{}', but its manifest names it '{}'",
            shortened(&hello.name),
            row.name
        ));
    }
    if !(before_ns..=after_ns).contains(&hello.clock_ns) {
        return Err(format!(
            "its clock is not CLOCK_MONOTONIC in nanoseconds: it reads {}, and ours {before_ns} to {after_ns}",
            hello.clock_ns
        ));
    }
    let Claims { waits, patterns, rates, alone, .. } = &hello.claims;
    if waits.contains(&Wait::Own) {
        return Err(
            "it claims the wait strategy own, which is reserved for programs that know nothing of furlong"
                .to_owned(),
        );
    }
    if waits.is_empty() || patterns.is_empty() {
        return Err("it claims no wait strategy or no pattern".to_owned());
    }
    for pattern in patterns.iter().filter(|pattern| !pattern.is_of_pairs()) {
        if !pattern.is_to_several() {
            return Err(format!("it claims {pattern}, which furlong does not support for adapters"));
        }
        if hello.shape != Shape::Pair || *alone || (pattern.is_to_all() && !rates) {
            let needed = if pattern.is_to_all() { "the shape pair and rates" } else { "the shape pair" };
            return Err(format!("it claims {pattern}, for which it needs {needed}"));
        }
    }
    if patterns.iter().filter(|pattern| pattern.is_to_several()).count() > 1 {
        return Err("it claims both fan-out and work: declare a separate row for each".to_owned());
    }
    Ok(hello)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_without_wait_strategy_is_unavailable() {
        let text = "name = \"x\"\nlicence = \"MIT\"\ncommand = [\"x\"]\n[[rows]]\nname = \"x\"\n";
        let manifest = Manifest::parse(text).unwrap();
        let claimed = |waits| {
            let limits = Limits {
                max_size_bytes: None,
                limited_by: String::new(),
                remedy: String::new(),
                max_in_place_bytes: None,
            };
            let capabilities = OwnedCapabilities { waits, ..Capabilities::library("a test").owned() };
            let furlong = FurlongLoop { version: env!("CARGO_PKG_VERSION").to_owned(), capabilities, limits };
            Adapter::with_furlongs_loop(&manifest, &manifest.rows[0], BTreeMap::new(), furlong)
        };
        assert!(claimed(vec![Wait::Block]).0.here.is_ok());
        for waits in [Vec::new(), vec![Wait::Own]] {
            let (adapter, capabilities) = claimed(waits);
            assert!(adapter.here.unwrap_err().reason.contains("wait strategy"));
            // Plans read the first wait strategy.
            assert!(!capabilities.waits.is_empty());
        }
    }
}
