//! Asking all programs of a trial, and waiting for what they reply, whatever happens.

use super::conversation::Conversation;
use super::participants::Participants;
use super::protocol::{Reply, Request};
use crate::not_measured::{Interrupted, NotMeasured, not_started};
use crate::session::Session;
use crate::started_program::shortened;
use crate::watch::{Carrier, LatestEnd, OTHER_REPORT, Observer, Quiet, Silence, cause, in_ms};
use furlong_model::{Failure, Fault, Party, Phase, Role, Unavailable};
use furlong_os::activity::Activity;
use furlong_os::clock;
use furlong_os::wait::wait_any;
use std::time::Duration;

/// The programs of a trial.
pub(super) struct Programs<'a> {
    pub(super) session: &'a Session,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) conversations: Vec<Conversation>,
    pub(super) participants: Participants,
    /// When the trial is ended; `None` for one that may take as long as its programs reply.
    pub(super) end: Option<LatestEnd>,
}

impl Programs<'_> {
    /// Asks all programs and waits for all replies, whatever happens.
    ///
    /// # Errors
    /// What one of them did instead.
    pub(super) fn ask_all<'r>(
        &mut self,
        phase: Phase,
        limit: Duration,
        request: &dyn Fn(Party) -> Request<'r>,
    ) -> Result<Vec<Reply>, NotMeasured> {
        for conversation in &mut self.conversations {
            let request = request(conversation.program.party);
            conversation.send(&request, phase, limit, self.session)?;
        }
        let mut heard: Vec<Heard> = self.conversations.iter().map(|_| Heard::Nothing).collect();
        let mut incidents: Vec<Failure> = Vec::new();
        let mut quiet = Quiet::since(clock::now_ns(), &Awaited(&self.conversations, &heard));
        // The other program's side of the story may explain what went wrong in one.
        let mut other_report_ns = u64::MAX;
        loop {
            let listened_to = self.conversations.iter().zip(&heard).filter(|(_, heard)| !heard.is_failure());
            let mut handles: Vec<_> =
                listened_to.flat_map(|(conversation, _)| conversation.program.handles()).collect();
            if incidents.is_empty() {
                handles.extend(self.participants.deaths());
                handles.extend(self.observer.handles());
            }
            handles.extend(self.session.shutdown_handle());
            let end = self.end.filter(|_| phase != Phase::Finish && incidents.is_empty());
            let now_ns = clock::now_ns();
            let until_ns = end.map_or(other_report_ns, |end| end.at_ns.min(other_report_ns));
            let left = quiet.left(now_ns, limit).min(Duration::from_nanos(until_ns.saturating_sub(now_ns)));
            wait_any(&handles, in_ms(left)).map_err(|error| not_started(phase, &error))?;
            self.observer.attend();
            if let Some(signal) = self.session.shutdown_request() {
                return Err(Interrupted { signal }.into());
            }
            if let Some(end) = end.filter(|end| clock::now_ns() >= end.at_ns) {
                return Err(end.refusal());
            }
            let first = incidents.is_empty();
            incidents.extend(self.listen(phase, &mut heard)?);
            if phase != Phase::Finish && incidents.is_empty() {
                incidents.extend(self.participants.death(phase));
            }
            let now_ns = clock::now_ns();
            if first && !incidents.is_empty() {
                other_report_ns = now_ns + OTHER_REPORT.as_nanos() as u64;
            }
            let heard_all = !heard.iter().any(Heard::is_nothing);
            if incidents.is_empty() && heard_all {
                return Ok(heard.into_iter().filter_map(Heard::reply).collect());
            }
            let awaited = Awaited(&self.conversations, &heard);
            if incidents.is_empty()
                && let Some(silence) = quiet.look(now_ns, limit, &awaited)
            {
                incidents.extend(self.silence(&heard, phase, limit, &silence));
            } else if !heard_all && now_ns < other_report_ns {
                continue;
            }
            let unexplained = self.failure(phase, "nothing happened, and no program says why".to_owned());
            return Err(cause(incidents).unwrap_or(unexplained).into());
        }
    }

    /// Takes what each program has said, and gives what went wrong.
    fn listen(&mut self, phase: Phase, heard: &mut [Heard]) -> Result<Vec<Failure>, NotMeasured> {
        let mut incidents = Vec::new();
        for (conversation, heard) in self.conversations.iter_mut().zip(heard) {
            if heard.is_failure() {
                continue;
            }
            let failure = match (conversation.attend(phase), &heard) {
                (Ok(None), _) => continue,
                // Who has finished may end.
                (Err(_), Heard::Reply(Reply::Finished)) => continue,
                (Ok(Some(Reply::Error { fault, detail })), _) => {
                    let detail = shortened(&detail);
                    let Some(fault) = fault.fault() else {
                        return Err(NotMeasured::Unavailable(Unavailable::new(detail, "")));
                    };
                    Failure { phase, party: Some(conversation.program.party), fault, detail }
                }
                (Ok(Some(reply)), Heard::Nothing) => {
                    *heard = Heard::Reply(reply);
                    continue;
                }
                (Ok(Some(_)), _) => conversation.program.failure(phase, "it replied twice".to_owned()),
                (Err(failure), _) => failure,
            };
            *heard = Heard::Failure;
            incidents.push(failure);
        }
        Ok(incidents)
    }

    /// The failure of each program that has not replied.
    fn silence(&self, heard: &[Heard], phase: Phase, limit: Duration, silence: &Silence) -> Vec<Failure> {
        let of = |Conversation { program, .. }: &Conversation| {
            let stopped = self.observer.sees_stopped(program.child.pid());
            program.silence(phase, "reply", limit, stopped, silence.lacked())
        };
        Awaited(&self.conversations, heard).conversations().map(of).collect()
    }

    /// A failure that is no single program's.
    pub(super) fn failure(&self, phase: Phase, detail: String) -> Failure {
        let party = (self.conversations.len() == 1).then_some(Role::Initiator.into());
        Failure { phase, party, fault: Fault::Error, detail }
    }
}

/// The programs of a trial, and what each has said: those that have said nothing are waited for.
struct Awaited<'a>(&'a [Conversation], &'a [Heard]);

impl<'a> Awaited<'a> {
    fn conversations(&self) -> impl Iterator<Item = &'a Conversation> + use<'a> {
        self.0
            .iter()
            .zip(self.1)
            .filter(|(_, heard)| heard.is_nothing())
            .map(|(conversation, _)| conversation)
    }
}

impl Carrier for Awaited<'_> {
    fn activities(&self) -> Vec<(i32, Activity)> {
        self.conversations().filter_map(|conversation| conversation.program.activity()).collect()
    }
}

/// What a program has said since it was asked.
enum Heard {
    Nothing,
    Reply(Reply),
    /// It will not reply, and why is noted.
    Failure,
}

impl Heard {
    fn is_nothing(&self) -> bool {
        matches!(self, Heard::Nothing)
    }

    fn is_failure(&self) -> bool {
        matches!(self, Heard::Failure)
    }

    fn reply(self) -> Option<Reply> {
        match self {
            Heard::Reply(reply) => Some(reply),
            Heard::Nothing | Heard::Failure => None,
        }
    }
}

/// A reply to something else.
pub(super) fn unexpected(conversation: &Conversation, phase: Phase, wanted: &str, reply: &Reply) -> Failure {
    conversation.program.failure(phase, format!("it replied '{}' where '{wanted}' was due", reply.name()))
}
