//! A trial of an adapter: its programs are asked to exchange a number of messages, and report their clock readings.
//!
//! The program runs its own loop. The warm-up determines the number of messages for the budget of the trial.

use super::conversation::Conversation;
use super::hello::{Adapter, Shape, accept};
use super::participants::Participants;
use super::planned;
use super::protocol::{
    EffectiveSetup, Exchange, ExchangeReply, IdleInitiator, PROTOCOL, ReadyReply, Reply, Request,
    ResponderPlace, SCHEDULE,
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
use furlong_loops::shared_end::TakenMessages;
use furlong_loops::stamp::Stamp;
use furlong_loops::steady::LastSecond;
use furlong_mechanism::LinkSpecification;
use furlong_model::{Case, Failure, Fault, Measurement, Party, Pattern, Phase, Role, WarmUp};
use furlong_os::linux::signal;
use furlong_os::process::{Exit, send_signal};
use furlong_os::{clock, identity};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The largest number of clock readings per request.
pub(super) const MOST_READINGS: u64 = 100_000;

/// The longest warm-up, in nanoseconds, of a program that compiles while it runs. It ends earlier if the program has
/// become no faster for a second.
const LONGEST_COMPILING_NS: u64 = 5_000_000_000;

/// Runs one trial. It leaves nothing behind.
///
/// # Errors
/// Returns the reason if there are no figures.
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

/// How a program is asked to end before it has exchanged messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyEnd {
    /// Its requests end.
    EndOfRequests,
    /// Each of its processes that furlong has started gets `SIGTERM`.
    Terminate,
}

/// Ends the programs of a row after they were set up. They must exit on request, and leave nothing behind.
///
/// # Errors
/// Returns a failure if a program does not exit, or leaves something behind.
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
                let what = format!("it has not exited after {:?}", settings.timeout);
                return Err(conversation.program.failure(Phase::Finish, what).into());
            }
        }
        Ok(())
    })
}

/// The context of a trial.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    adapter: &'a Adapter,
    case: &'a Case,
    session: &'a Session,
    settings: &'a Settings,
}

impl Surroundings<'_> {
    /// Starts the programs, calls `work` with them, and makes sure that they leave nothing behind.
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
            // The program starts its own peer.
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
        let key = identity::random().map_err(creating)?;
        let schedule = specification.folder.join(SCHEDULE);
        let trial =
            CountedTrial { adapter, case, settings, programs, key, schedule, done: 0, taken: Vec::new() };
        let worked = work(trial, &specification);
        let processes = remaining_processes(session.name());
        let removed = remove_files(&specification);
        let left: Vec<String> = processes.map_err(creating)?.into_iter().chain(removed).collect();
        match worked {
            Ok(_) if !left.is_empty() => {
                let detail = format!(
                    "it left processes or objects behind, which furlong has removed: {}",
                    shortened(&left.join(", "))
                );
                Err(Failure { phase: Phase::Finish, party: None, fault: Fault::Error, detail }.into())
            }
            worked => worked,
        }
    }
}

/// A running trial.
pub(super) struct CountedTrial<'a> {
    adapter: &'a Adapter,
    pub(super) case: &'a Case,
    pub(super) settings: &'a Settings,
    pub(super) programs: Programs<'a>,
    /// The key that selects the stamps, the sizes and the due times of the messages.
    pub(super) key: u64,
    /// The file with the schedule of an exchange.
    schedule: PathBuf,
    /// The number of messages exchanged so far, in one direction.
    pub(super) done: u64,
    /// The messages that each of several workers has received.
    pub(super) taken: Vec<TakenMessages>,
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

    /// Sends hello to each program again, because it may have been replaced since it was asked before the run.
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

    /// Sets up all programs. Returns the values in effect, by name.
    fn set_up(&mut self, specification: &LinkSpecification) -> Result<BTreeMap<String, u64>, NotMeasured> {
        let (wait, pattern) = (self.case.wait, self.case.pattern());
        let sizes_bytes = specification.sizes_bytes;
        let stamps = [self.key, !self.key].map(|key| format!("{:016x}", Stamp::new(key).word_of_direction()));
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
                ResponderPlace { responders, number }
            }),
        })?;
        let mut numbers = BTreeMap::new();
        for (index, reply) in replies.into_iter().enumerate() {
            let conversation = &self.programs.conversations[index];
            let Reply::Ready(ReadyReply { effective, processes }) = reply else {
                return Err(unexpected(conversation, Phase::Open, "ready", &reply).into());
            };
            let EffectiveSetup { pattern: its_pattern, wait: its_wait, sizes_bytes: its_sizes, numbers: its } =
                effective;
            if (its_pattern, its_wait, its_sizes) != (pattern, wait, sizes_bytes) {
                let what = format!(
                    "asked for {pattern} with {wait} and {sizes_bytes:?} bytes, it does {its_pattern} with \
                     {its_wait} and {its_sizes:?}"
                );
                return Err(conversation.program.failure(Phase::Open, what).into());
            }
            numbers.extend(its);
            self.programs.participants.add(conversation, processes, self.programs.session.name())?;
        }
        Ok(numbers)
    }

    /// Exchanges messages, checks every byte of them, and returns the number of checked messages.
    fn verify(&mut self) -> Result<u64, NotMeasured> {
        let messages = verified_bursts(self.case.sizes_bytes().into_iter().max().unwrap_or_default());
        self.programs.observer.before(Phase::Verify, &self.programs.participants.roles());
        let all = Exchange { verify: true, ..Exchange::unpaced(Phase::Verify, messages, 0) };
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
        /// The length of one exchange. It is short enough to notice that the pace improves.
        const PART_NS: f64 = 5_000_000.0;
        const COMPILED_PART_NS: f64 = 50_000_000.0;
        const FIRST_NS: u64 = 50_000_000;
        /// If an interruption of the first message uses up the time, that message alone must not decide the length of the measured part.
        const FEWEST_PARTS: u32 = 3;
        let asked_ns = self.settings.warm_up.map(|time| time.as_nanos() as u64);
        let mut compiling =
            (asked_ns.is_none() && self.adapter.manifest.compiles_while_running).then(LastSecond::default);
        // A program that compiles writes fewer readings: writing many as text would take longer than the exchanges.
        let (longest_ns, part_ns, most_messages, most_readings) = match compiling {
            Some(_) => (LONGEST_COMPILING_NS, COMPILED_PART_NS, u64::from(u32::MAX), 1_000),
            None => (LONGEST_WARM_UP_NS, PART_NS, MOST_READINGS, MOST_READINGS),
        };
        let budget_ns = asked_ns.map_or(longest_ns, |asked_ns| asked_ns / 10);
        let mut recorder = Recorder::for_pace(self.settings.warm_up.is_none());
        self.programs.observer.before(Phase::WarmUp, &self.programs.participants.roles());
        let mut warm_up =
            WarmUp { elapsed_ns: 0, exchanges: 0, first_ns: 0.0, last_ns: 0.0, is_steady: false };
        let (mut messages, mut parts) = (1u64, 0);
        loop {
            let batch = messages.div_ceil(most_readings) as u32;
            messages = messages.next_multiple_of(batch.into());
            let part = Exchange::unpaced(Phase::WarmUp, messages, batch);
            let exchanged = self.exchange(part)?;
            let readings = self.readings(part, &exchanged)?;
            // The slowest of several receivers delays the sender.
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
                // The first exchange has one message, which does not represent the pace.
                None => times_ns.iter().any(|time| !recorder.keep(*time, 1)) && messages > 1,
            };
            let pace_ns = elapsed_ns as f64 / messages as f64;
            // The pace of one message, or of a part with an interruption, is far from that of the next messages.
            warm_up.last_ns = if parts > 1 { pace_ns.min(warm_up.last_ns) } else { pace_ns };
            parts += 1;
            if warm_up.is_steady || (warm_up.elapsed_ns >= budget_ns && parts >= FEWEST_PARTS) {
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

    /// Continues the warm-up until the requested time is over, without readings. A pair that sleeps on two CPUs of a
    /// virtual machine may be faster for 0.1 s after an interruption; the later pace is to be measured.
    fn go_on_warming_up(&mut self, warm_up: &mut WarmUp, asked_ns: u64) -> Result<(), NotMeasured> {
        /// Far below the timeout of an exchange.
        const LONGEST_NS: u64 = 1_000_000_000;
        while warm_up.elapsed_ns < asked_ns {
            let left_ns = (asked_ns - warm_up.elapsed_ns).min(LONGEST_NS);
            let messages = (left_ns as f64 / warm_up.last_ns).ceil() as u64;
            let part = Exchange::unpaced(Phase::WarmUp, messages, 0);
            let [began_ns, ended_ns] = self.exchange(part)?.span_ns;
            let elapsed_ns = (ended_ns - began_ns).max(1);
            warm_up.elapsed_ns += elapsed_ns;
            warm_up.exchanges += messages;
            // In a short exchange, most of the time is spent on requests and replies.
            if elapsed_ns >= asked_ns / 20 {
                warm_up.last_ns = elapsed_ns as f64 / messages as f64;
            }
        }
        Ok(())
    }

    /// Exchanges messages.
    pub(super) fn exchange(&mut self, asked: Exchange) -> Result<ExchangeResult, NotMeasured> {
        let Exchange { phase, messages, interval_ns, .. } = asked;
        let schedule = planned::file(self.case, self.key, self.done, asked);
        let written = schedule.as_ref().map_or(Ok(()), |text| std::fs::write(&self.schedule, text));
        written.map_err(|error| self.programs.failure(phase, format!("write the schedule: {error}")))?;
        let asked = Exchange { scheduled: schedule.is_some(), ..asked };
        let asked_ns = clock::now_ns();
        let last_due = interval_ns.and_then(|_| planned::due_ns(self.case, self.key).nth(messages as usize));
        let last_due = Duration::from_nanos(last_due.unwrap_or_default());
        let pause = Duration::from_nanos(interval_ns.unwrap_or_default());
        // The first message of the measured part is due after one interval, and it is not the last.
        let limit = self.settings.timeout + self.settings.budget.max(last_due) + 2 * pause;
        let replies = self.programs.ask_all(phase, limit, &|_| Request::Exchange(asked))?;
        let replied_ns = clock::now_ns();
        if asked.scheduled {
            // What the programs leave behind is a failure, and this file is not theirs.
            let _ = std::fs::remove_file(&self.schedule);
        }
        self.done += messages;
        // All programs are asked each time, because each answer covers the time since the previous question.
        let paused = self
            .programs
            .conversations
            .iter()
            .filter(|conversation| conversation.program.child.take_continued());
        let paused: Vec<Party> = paused.map(|conversation| conversation.program.party).collect();
        if let (Phase::Timed, Some(party)) = (phase, paused.first()) {
            return Err(NotMeasured::Disturbed(paused_failure(*party)));
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
        Ok(ExchangeResult { span_ns: [asked_ns, replied_ns], ..exchanged })
    }

    /// Returns the clock readings of the last exchange. For a pair, these are the readings of the program that reads
    /// the clock. With several responders, each one's readings follow the sender's first reading. If each message goes
    /// to one of several workers, all readings of the sender come first.
    pub(super) fn readings(
        &mut self,
        asked: Exchange,
        exchanged: &ExchangeResult,
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

    /// Asks all programs to end, and waits until they have exited.
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

/// The result of an exchange.
#[derive(Debug, Default)]
pub(super) struct ExchangeResult {
    /// The number of messages that each program reports to have exchanged.
    pub(super) messages: Vec<u64>,
    /// The number of messages that were checked byte by byte.
    verified: u64,
    /// The times before the request and after the reply, in nanoseconds.
    span_ns: [u64; 2],
    pub(super) idle: IdleInitiator,
}

/// Returns the sum of the exchanges of several programs, and the messages that each of several workers has received
/// since its start. `before` has the earlier numbers of the workers.
///
/// # Errors
/// Returns the index of a program whose reply contradicts its request, and the contradiction.
pub(super) fn put_together(
    pattern: Pattern,
    messages: u64,
    before: &[TakenMessages],
    replies: Vec<(Party, ExchangeReply)>,
) -> Result<(ExchangeResult, Vec<TakenMessages>), (usize, String)> {
    let (mut exchanged, mut all_taken) = (ExchangeResult::default(), Vec::new());
    for (index, (party, reply)) in replies.into_iter().enumerate() {
        let ExchangeReply { messages: its, verified, idle, taken } = reply;
        if pattern.is_to_one_of_several() && party.role == Role::Responder {
            let taken = taken.ok_or_else(|| (index, "its reply has no `taken`".to_owned()))?;
            let before = before.get(all_taken.len()).map_or(0, |taken| taken.count);
            if taken.count.checked_sub(before) != Some(its) {
                let all = taken.count;
                let what = format!("it has exchanged {its} messages, but its total is {all} after {before}");
                return Err((index, what));
            }
            all_taken.push(taken);
        } else if its != messages {
            let what = format!("it was asked for {messages} messages, but has exchanged {its}");
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
        assert_eq!((index, what.as_str()), (1, "it was asked for 7 messages, but has exchanged 8"));
    }
}
