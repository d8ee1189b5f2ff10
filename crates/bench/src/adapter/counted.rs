//! A trial of an adapter: its programs are told how many messages to exchange, and say when they did.
//!
//! The loop is the program's own. How many messages fill the time of a trial is found while it warms up.

use super::conversation::Conversation;
use super::hello::{Adapter, Shape, accept};
use super::participants::Participants;
use super::protocol::{
    Effective, Exchange, ExchangeReply, IdleInitiator, PROTOCOL, Ready, Reply, Request, Several,
};
use super::readings::{check, times};
use super::replies::{Programs, unexpected};
use super::to_several;
use super::traces::{remaining_processes, remove_files};
use crate::not_measured::{NotMeasured, not_started};
use crate::session::Session;
use crate::started_program::shortened;
use crate::timed::LONGEST_WARM_UP_NS;
use crate::trial::context::Settings;
use crate::trial::exactly_once;
use crate::verification::verified_bursts;
use crate::watch::{LatestEnd, NoObserver, Observer, paused_failure};
use furlong_loops::recorder::Recorder;
use furlong_loops::shared_end::Taken;
use furlong_loops::stamp::Stamp;
use furlong_loops::steady::LastSecond;
use furlong_mechanism::LinkSpecification;
use furlong_model::{Case, Failure, Fault, Measurement, Party, Pattern, Phase, Role, WarmUp};
use furlong_os::linux::signal;
use furlong_os::process::{Exit, send_signal};
use furlong_os::{clock, identity};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most clock readings that are asked for at once.
pub(super) const MOST_READINGS: u64 = 100_000;

/// The longest to wait until a program that compiles while it runs has become no faster for a second.
const LONGEST_COMPILING_NS: u64 = 5_000_000_000;

/// Runs one trial. Nothing is left of it when this returns.
///
/// # Errors
/// Why there are no figures.
pub(crate) fn measure(
    adapter: &Adapter,
    case: &Case,
    processors: Option<&[usize]>,
    session: &Session,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Measurement, NotMeasured> {
    let surroundings = Surroundings { adapter, case, session, settings };
    surroundings.try_with(observer, |mut trial, specification| trial.run(specification, processors))
}

/// How a program is ended before it has done anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyEnd {
    /// The requests end.
    EndOfRequests,
    /// Each of its processes that furlong has started is asked to end (SIGTERM).
    Terminate,
}

/// Ends the programs of a row when they are set up: they have to end by themselves, and to leave nothing.
///
/// # Errors
/// What they did instead.
pub fn end_early(
    adapter: &Adapter,
    case: &Case,
    session: &Session,
    how: EarlyEnd,
) -> Result<(), NotMeasured> {
    let settings = Settings::default();
    let surroundings = Surroundings { adapter, case, session, settings: &settings };
    surroundings.try_with(&mut NoObserver, |mut trial, specification| {
        trial.hello()?;
        trial.set_up(specification)?;
        for conversation in &mut trial.programs.conversations {
            match how {
                EarlyEnd::EndOfRequests => conversation.end_requests(),
                EarlyEnd::Terminate => send_signal(conversation.program.child.pid(), signal::TERMINATE)
                    .map_err(|error| not_started(Phase::Open, &error))?,
            }
        }
        for conversation in &mut trial.programs.conversations {
            if conversation.program.child.wait_at_most(settings.timeout.as_millis() as u64).is_none() {
                let what = format!("it has not ended for {:?}", settings.timeout);
                return Err(conversation.program.failure(Phase::Finish, what).into());
            }
        }
        Ok(())
    })
}

/// What a trial is about.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    adapter: &'a Adapter,
    case: &'a Case,
    session: &'a Session,
    settings: &'a Settings,
}

impl Surroundings<'_> {
    /// Starts the programs, does something with them, and sees to it that nothing is left.
    fn try_with<T>(
        self,
        observer: &mut dyn Observer,
        work: impl FnOnce(CountedTrial<'_>, &LinkSpecification) -> Result<T, NotMeasured>,
    ) -> Result<T, NotMeasured> {
        let Surroundings { adapter, case, session, settings } = self;
        let creating = |error| not_started(Phase::Create, &error);
        let specification = session.specification(0, case.sizes_bytes(), true).map_err(creating)?;
        session.note_programs().map_err(creating)?;
        let mut parties = case.all_parties();
        if adapter.shape == Shape::Own {
            // It starts its own peer.
            parties.truncate(1);
        }
        let mut conversations = Vec::new();
        let end = settings.limit.map(|limit| LatestEnd::after(clock::now_ns(), limit));
        for party in parties {
            let Adapter { manifest, row, .. } = adapter;
            let started = Conversation::start(manifest, &row.arguments, party, session.name());
            conversations.push(started.map_err(|error| not_started(Phase::Open, &error))?);
        }
        let participants = Participants::default();
        let programs = Programs { session, observer, conversations, participants, end };
        let trial = CountedTrial { adapter, case, settings, programs, done: 0, taken: Vec::new() };
        let worked = work(trial, &specification);
        let processes = remaining_processes(session.name());
        let removed = remove_files(&specification);
        let left: Vec<String> = processes.map_err(creating)?.into_iter().chain(removed).collect();
        match worked {
            Ok(_) if !left.is_empty() => {
                let detail =
                    format!("it has left behind what furlong has removed: {}", shortened(&left.join(", ")));
                Err(Failure { phase: Phase::Finish, party: None, fault: Fault::Error, detail }.into())
            }
            worked => worked,
        }
    }
}

/// A trial under way.
pub(super) struct CountedTrial<'a> {
    adapter: &'a Adapter,
    pub(super) case: &'a Case,
    pub(super) settings: &'a Settings,
    pub(super) programs: Programs<'a>,
    /// Messages exchanged so far, in one direction.
    pub(super) done: u64,
    /// What each of several workers has taken of them.
    pub(super) taken: Vec<Taken>,
}

impl CountedTrial<'_> {
    fn run(
        &mut self,
        specification: &LinkSpecification,
        processors: Option<&[usize]>,
    ) -> Result<Measurement, NotMeasured> {
        self.hello()?;
        let effective = self.set_up(specification)?;
        self.programs
            .participants
            .pin(&self.case.all_parties(), processors)
            .map_err(|error| self.programs.failure(Phase::Open, format!("pin the programs: {error}")))?;
        let verified_messages = self.verify()?;
        let warm_up = self.warm_up()?;
        let timed = self.timed(warm_up.last_ns)?;
        self.finish()?;
        Ok(Measurement {
            verified_messages,
            effective,
            roles: timed.roles,
            parts: timed.parts,
            others: timed.others,
            adapter: Some(self.adapter.facts()),
            warm_up: Some(Box::new(warm_up)),
            ..timed.timing.measurement()
        })
    }

    /// Asks each program who it is: it may be another than the one that was asked before the run.
    fn hello(&mut self) -> Result<(), NotMeasured> {
        let asked_ns = clock::now_ns();
        let replies = self
            .programs
            .ask_all(Phase::Open, self.settings.timeout, &|_| Request::Hello { protocol: PROTOCOL })?;
        let replied_ns = clock::now_ns();
        for (index, reply) in replies.into_iter().enumerate() {
            accept(reply, &self.adapter.row, [asked_ns, replied_ns])
                .map_err(|what| self.programs.conversations[index].program.failure(Phase::Open, what))?;
        }
        Ok(())
    }

    /// Sets all up, and gives the numbers in force.
    fn set_up(&mut self, specification: &LinkSpecification) -> Result<BTreeMap<String, u64>, NotMeasured> {
        let (wait, pattern) = (self.case.wait, self.case.pattern());
        let sizes_bytes = specification.sizes_bytes;
        let key = identity::random().map_err(|error| not_started(Phase::Open, &error))?;
        let stamps = [key, !key].map(|key| format!("{:016x}", Stamp::new(key).word_of_direction()));
        let single = self.programs.conversations.len() == 1;
        let responders = pattern.is_to_several().then(|| self.case.parties().get());
        let replies = self.programs.ask_all(Phase::Open, self.settings.timeout, &|party| Request::SetUp {
            role: if single { "both" } else { party.role.name() },
            pattern,
            wait,
            sizes_bytes,
            stamps: stamps.clone(),
            folder: &specification.folder,
            name: &specification.name,
            several: responders.map(|responders| {
                let number = (party.role == Role::Responder).then(|| party.index() as u32 + 1);
                Several { responders, number }
            }),
        })?;
        let mut numbers = BTreeMap::new();
        for (index, reply) in replies.into_iter().enumerate() {
            let conversation = &self.programs.conversations[index];
            let Reply::Ready(Ready { effective, processes }) = reply else {
                return Err(unexpected(conversation, Phase::Open, "ready", &reply).into());
            };
            let Effective { pattern: its_pattern, wait: its_wait, sizes_bytes: its_sizes, numbers: its } =
                effective;
            if (its_pattern, its_wait, its_sizes) != (pattern, wait, sizes_bytes) {
                let what = format!(
                    "asked for {pattern} by {wait} of {sizes_bytes:?} bytes, it does {its_pattern} by {its_wait} of {its_sizes:?}"
                );
                return Err(conversation.program.failure(Phase::Open, what).into());
            }
            numbers.extend(its);
            self.programs.participants.add(conversation, processes, self.programs.session.name())?;
        }
        Ok(numbers)
    }

    /// Exchanges messages of which every byte is checked, and gives how many were.
    fn verify(&mut self) -> Result<u64, NotMeasured> {
        let messages = verified_bursts(self.case.sizes_bytes().into_iter().max().unwrap_or_default());
        self.programs.observer.before(Phase::Verify, &self.programs.participants.roles());
        let all = Exchange { phase: Phase::Verify, messages, batch: 0, verify: true, interval_ns: None };
        let verified = self.exchange(all)?.verified;
        let ways = match self.case.pattern() {
            pattern if pattern.is_to_all() => u64::from(self.case.parties().get()),
            pattern if pattern.is_one_way() || self.adapter.alone => 1,
            _ => 2,
        };
        if verified == ways * messages {
            return Ok(verified);
        }
        let what = format!("it has checked {verified} messages of {}", ways * messages);
        Err(self.programs.failure(Phase::Verify, what).into())
    }

    /// Exchanges messages until the pace is steady or the time for that is over.
    fn warm_up(&mut self) -> Result<WarmUp, NotMeasured> {
        /// How long one exchange is to take, so that a pace that becomes better is seen.
        const PART_NS: f64 = 5_000_000.0;
        const COMPILED_PART_NS: f64 = 50_000_000.0;
        const FIRST_NS: u64 = 50_000_000;
        let asked_ns = self.settings.warm_up.map(|time| time.as_nanos() as u64);
        let mut compiling =
            (asked_ns.is_none() && self.adapter.manifest.compiles_while_running).then(LastSecond::default);
        // Writing many readings as text would take longer than the exchanges.
        let (longest_ns, part_ns, most_messages, most_readings) = match compiling {
            Some(_) => (LONGEST_COMPILING_NS, COMPILED_PART_NS, u64::from(u32::MAX), 1_000),
            None => (LONGEST_WARM_UP_NS, PART_NS, MOST_READINGS, MOST_READINGS),
        };
        let budget_ns = asked_ns.map_or(longest_ns, |asked_ns| asked_ns / 10);
        let mut recorder = Recorder::of_pace(self.settings.warm_up.is_none());
        self.programs.observer.before(Phase::WarmUp, &self.programs.participants.roles());
        let mut warm_up =
            WarmUp { elapsed_ns: 0, exchanges: 0, first_ns: 0.0, last_ns: 0.0, is_steady: false };
        let mut messages: u64 = 1;
        loop {
            let batch = messages.div_ceil(most_readings) as u32;
            messages = messages.next_multiple_of(batch.into());
            let part = Exchange { phase: Phase::WarmUp, messages, batch, verify: false, interval_ns: None };
            let exchanged = self.exchange(part)?;
            let readings = self.readings(part, &exchanged)?;
            // The slowest of several holds the sender back.
            let slowest = readings.iter().max_by_key(|readings| readings.last());
            let times_ns = slowest.map(|readings| times(readings)).unwrap_or_default();
            let elapsed_ns = times_ns.iter().sum::<u64>().max(1);
            warm_up.elapsed_ns += elapsed_ns;
            warm_up.exchanges += messages;
            if warm_up.first_ns == 0.0 || warm_up.elapsed_ns <= FIRST_NS {
                warm_up.first_ns = warm_up.elapsed_ns as f64 / warm_up.exchanges as f64;
            }
            warm_up.is_steady = match &mut compiling {
                Some(last) => last.after(elapsed_ns, messages),
                // What is exchanged at once says more of the pace than its first messages do.
                None => times_ns.iter().any(|time| !recorder.keep(*time, 1)) && messages > 1,
            };
            let pace_ns = elapsed_ns as f64 / messages as f64;
            warm_up.last_ns = pace_ns;
            if warm_up.is_steady || warm_up.elapsed_ns >= budget_ns {
                break;
            }
            let wanted = (part_ns / pace_ns) as u64;
            messages = wanted.clamp(1, most_messages).min(messages * 16);
        }
        if let Some(asked_ns) = asked_ns {
            self.go_on_warming_up(&mut warm_up, asked_ns)?;
        }
        Ok(warm_up)
    }

    /// Goes on until the time that was asked for is over, without readings: a pair that sleeps on two CPUs of a virtual machine may
    /// be faster for a tenth of a second after an interruption, and the later pace is to be measured.
    fn go_on_warming_up(&mut self, warm_up: &mut WarmUp, asked_ns: u64) -> Result<(), NotMeasured> {
        /// Far below the timeout of an exchange.
        const LONGEST_NS: u64 = 1_000_000_000;
        while warm_up.elapsed_ns < asked_ns {
            let left_ns = (asked_ns - warm_up.elapsed_ns).min(LONGEST_NS);
            let messages = (left_ns as f64 / warm_up.last_ns).ceil() as u64;
            let part =
                Exchange { phase: Phase::WarmUp, messages, batch: 0, verify: false, interval_ns: None };
            let [began_ns, ended_ns] = self.exchange(part)?.span_ns;
            let elapsed_ns = (ended_ns - began_ns).max(1);
            warm_up.elapsed_ns += elapsed_ns;
            warm_up.exchanges += messages;
            // Requests and replies are most of the time of a short one.
            if elapsed_ns >= asked_ns / 20 {
                warm_up.last_ns = elapsed_ns as f64 / messages as f64;
            }
        }
        Ok(())
    }

    /// Exchanges messages.
    pub(super) fn exchange(&mut self, asked: Exchange) -> Result<Exchanged, NotMeasured> {
        let Exchange { phase, messages, interval_ns, .. } = asked;
        let asked_ns = clock::now_ns();
        let pause = Duration::from_nanos(interval_ns.unwrap_or_default());
        // The first message of the measured part is due after one interval, and it is not the last.
        let limit = self.settings.timeout + self.settings.budget + 2 * pause;
        let replies = self.programs.ask_all(phase, limit, &|_| Request::Exchange(asked))?;
        let replied_ns = clock::now_ns();
        self.done += messages;
        // All are asked each time, since the answer is about the time since the last question.
        let paused = self
            .programs
            .conversations
            .iter()
            .filter(|conversation| conversation.program.child.take_continued());
        let paused: Vec<Party> = paused.map(|conversation| conversation.program.party).collect();
        if let (Phase::Timed, Some(party)) = (phase, paused.first()) {
            return Err(NotMeasured::Paused(paused_failure(*party)));
        }
        let mut replied = Vec::new();
        for (conversation, reply) in self.programs.conversations.iter().zip(replies) {
            let Reply::Exchanged(its) = reply else {
                return Err(unexpected(conversation, phase, "exchanged", &reply).into());
            };
            replied.push((conversation.program.party, its));
        }
        let (exchanged, taken) = put_together(self.case.pattern(), messages, &self.taken, replied)
            .map_err(|(index, what)| self.programs.conversations[index].program.failure(phase, what))?;
        if !taken.is_empty() {
            exactly_once(self.done, &taken).map_err(|failure| Failure { phase, ..failure })?;
            self.taken = taken;
        }
        Ok(Exchanged { span_ns: [asked_ns, replied_ns], ..exchanged })
    }

    /// The clock readings of the last exchange: those of the one who holds the clock; or of each of several responders, behind the
    /// sender's first, and before them all of the sender's where each message goes to one of them.
    pub(super) fn readings(
        &mut self,
        asked: Exchange,
        exchanged: &Exchanged,
    ) -> Result<Vec<Vec<u64>>, NotMeasured> {
        let Exchange { phase, messages, batch, .. } = asked;
        let replies = self.programs.ask_all(phase, self.settings.timeout, &|_| Request::Readings)?;
        let mut of_each = Vec::new();
        for (conversation, reply) in self.programs.conversations.iter().zip(replies) {
            let Reply::Readings { clock_ns } = reply else {
                return Err(unexpected(conversation, phase, "readings", &reply).into());
            };
            of_each.push(clock_ns);
        }
        let readings = if self.case.pattern().is_to_several() {
            to_several::behind_the_first(of_each, self.case.pattern())
        } else {
            vec![of_each.concat()]
        };
        for (index, readings) in readings.iter().enumerate() {
            let of_one = self.case.pattern().is_to_one_of_several();
            let messages = if of_one { exchanged.messages[index] } else { messages };
            check(readings, messages, batch, exchanged.span_ns)
                .map_err(|what| self.programs.failure(phase, what))?;
        }
        Ok(readings)
    }

    /// Lets all programs end, and waits until they have.
    fn finish(&mut self) -> Result<(), NotMeasured> {
        let timeout = self.settings.timeout;
        let replies = self.programs.ask_all(Phase::Finish, timeout, &|_| Request::Finish)?;
        for (conversation, reply) in self.programs.conversations.iter_mut().zip(replies) {
            let Reply::Finished = reply else {
                return Err(unexpected(conversation, Phase::Finish, "finished", &reply).into());
            };
            match conversation.program.end_within(timeout, "it had finished")? {
                Exit::Code(0) => {}
                exit => {
                    let what = format!("it {exit} after it had finished");
                    return Err(conversation.program.failure(Phase::Finish, what).into());
                }
            }
        }
        Ok(())
    }
}

/// What came of an exchange of messages.
#[derive(Debug, Default)]
pub(super) struct Exchanged {
    /// How many each program says that it has exchanged.
    pub(super) messages: Vec<u64>,
    /// Messages that were checked byte by byte.
    verified: u64,
    /// From when to when it took place.
    span_ns: [u64; 2],
    pub(super) idle: IdleInitiator,
}

/// Returns the sum of the exchanges of several programs, and the messages that each of several workers has received since its start.
/// `before` has the earlier numbers of the workers.
///
/// # Errors
/// Returns the index of a program whose reply contradicts its request, and the contradiction.
pub(super) fn put_together(
    pattern: Pattern,
    messages: u64,
    before: &[Taken],
    replies: Vec<(Party, ExchangeReply)>,
) -> Result<(Exchanged, Vec<Taken>), (usize, String)> {
    let (mut exchanged, mut all_taken) = (Exchanged::default(), Vec::new());
    for (index, (party, reply)) in replies.into_iter().enumerate() {
        let ExchangeReply { messages: its, verified, idle, taken } = reply;
        if pattern.is_to_one_of_several() && party.role == Role::Responder {
            let taken = taken.ok_or_else(|| (index, "its reply has no `taken`".to_owned()))?;
            let before = before.get(all_taken.len()).map_or(0, |taken| taken.count);
            if taken.count.checked_sub(before) != Some(its) {
                let all = taken.count;
                let what = format!("it has exchanged {its} messages, and has taken {all} after {before}");
                return Err((index, what));
            }
            all_taken.push(taken);
        } else if its != messages {
            let what = format!("it was asked for {messages} messages and has exchanged {its}");
            return Err((index, what));
        }
        exchanged.verified = exchanged.verified.saturating_add(verified);
        exchanged.messages.push(its);
        if party.role == Role::Initiator {
            exchanged.idle = idle;
        }
    }
    Ok((exchanged, all_taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(messages: u64, verified: u64) -> ExchangeReply {
        ExchangeReply { messages, verified, idle: IdleInitiator::default(), taken: None }
    }

    #[test]
    fn any_number_of_verified_messages_is_added() {
        let replies = [Role::Initiator, Role::Responder].map(|role| (Party::from(role), reply(7, u64::MAX)));
        let (exchanged, taken) = put_together(Pattern::RoundTrip, 7, &[], replies.into()).unwrap();
        assert_eq!((exchanged.verified, exchanged.messages, taken), (u64::MAX, vec![7, 7], Vec::new()));
    }

    #[test]
    fn program_that_exchanged_another_number_is_named() {
        let replies = vec![(Role::Initiator.into(), reply(7, 0)), (Role::Responder.into(), reply(8, 0))];
        let (index, what) = put_together(Pattern::RoundTrip, 7, &[], replies).unwrap_err();
        assert_eq!((index, what.as_str()), (1, "it was asked for 7 messages and has exchanged 8"));
    }
}
