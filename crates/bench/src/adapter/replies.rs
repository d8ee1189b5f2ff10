//! Requests to all programs of a trial, and the wait for their replies.

use super::conversation::Conversation;
use super::participants::Participants;
use super::protocol::{Reply, Request};
use crate::not_measured::NotMeasured;
use crate::session::Session;
use crate::started_program::shortened;
use crate::watch::{Carrier, LatestEnd, ObservedProcesses, Observer, ProcessEvent, Silence, supervise};
use furlong_model::{Failure, Fault, Party, Phase, Role, Unavailable};
use furlong_os::BorrowedHandle;
use furlong_os::activity::Activity;
use std::time::Duration;

/// The programs of a trial.
pub(super) struct Programs<'a> {
    pub(super) session: &'a Session,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) conversations: Vec<Conversation>,
    pub(super) participants: Participants,
    /// The end of the trial; `None` if it may take as long as its programs reply.
    pub(super) end: Option<LatestEnd>,
}

impl Programs<'_> {
    /// Sends a request to all programs and waits for all replies.
    ///
    /// # Errors
    /// Returns a failure if a program does something else than reply.
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
        let heard = self.conversations.iter().map(|_| ProgramAnswer::Nothing).collect();
        let Programs { session, observer, conversations, participants, end } = self;
        let end = end.filter(|_| phase != Phase::Finish);
        let mut asked = AskedPrograms { conversations, heard, participants, phase, limit, end };
        supervise(&mut asked, session, *observer)
    }

    /// Returns a failure that does not belong to a single program.
    pub(super) fn failure(&self, phase: Phase, detail: String) -> Failure {
        let party = (self.conversations.len() == 1).then_some(Role::Initiator.into());
        Failure { phase, party, fault: Fault::Error, detail }
    }
}

/// The programs of a trial that were asked, and the reply of each so far.
struct AskedPrograms<'a> {
    conversations: &'a mut [Conversation],
    heard: Vec<ProgramAnswer>,
    participants: &'a Participants,
    phase: Phase,
    limit: Duration,
    end: Option<LatestEnd>,
}

impl AskedPrograms<'_> {
    /// Returns the programs that have not replied.
    fn awaited(&self) -> impl Iterator<Item = &Conversation> {
        let awaited = self.conversations.iter().zip(&self.heard).filter(|(_, heard)| heard.is_nothing());
        awaited.map(|(conversation, _)| conversation)
    }

    fn has_heard_all(&self) -> bool {
        !self.heard.iter().any(ProgramAnswer::is_nothing)
    }

    /// Reads the reply of each program. Adds its failure to `incidents` if it has done something else.
    fn listen(&mut self, incidents: &mut Vec<Failure>) -> Result<(), NotMeasured> {
        let phase = self.phase;
        for (conversation, heard) in self.conversations.iter_mut().zip(&mut self.heard) {
            if heard.is_failure() {
                continue;
            }
            let failure = match (conversation.attend(phase), &heard) {
                (Ok(None), _) => continue,
                // A program that has finished may exit.
                (Err(_), ProgramAnswer::Reply(Reply::Finished)) => continue,
                (Ok(Some(Reply::Error { fault, detail })), _) => {
                    let detail = shortened(&detail);
                    let Some(fault) = fault.fault() else {
                        return Err(NotMeasured::Unavailable(Unavailable::new(detail, "")));
                    };
                    Failure { phase, party: Some(conversation.program.party), fault, detail }
                }
                (Ok(Some(reply)), ProgramAnswer::Nothing) => {
                    *heard = ProgramAnswer::Reply(reply);
                    continue;
                }
                (Ok(Some(_)), _) => conversation.program.failure(phase, "it replied twice".to_owned()),
                (Err(failure), _) => failure,
            };
            *heard = ProgramAnswer::Failure;
            incidents.push(failure);
        }
        Ok(())
    }
}

impl ObservedProcesses for AskedPrograms<'_> {
    fn activities(&self) -> Vec<(i32, Activity)> {
        self.awaited().filter_map(|conversation| conversation.program.activity()).collect()
    }
}

impl Carrier for AskedPrograms<'_> {
    type Answer = Vec<Reply>;

    fn phase(&self) -> Phase {
        self.phase
    }

    fn latest_end(&self) -> Option<LatestEnd> {
        self.end
    }

    fn longest_silence(&self) -> Duration {
        self.limit
    }

    fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        let heard = self.conversations.iter().zip(&self.heard).filter(|(_, heard)| !heard.is_failure());
        let mut handles: Vec<_> =
            heard.flat_map(|(conversation, _)| conversation.program.handles()).collect();
        // A death that was noticed stays readable.
        if self.participants.death(self.phase).is_none() {
            handles.extend(self.participants.deaths());
        }
        handles
    }

    fn attend(
        &mut self,
        _now_ns: u64,
        _was_woken: bool,
        _observer: &mut dyn Observer,
        incidents: &mut Vec<Failure>,
    ) -> Result<ProcessEvent<Vec<Reply>>, NotMeasured> {
        self.listen(incidents)?;
        // The death of a server explains the error of the program that has started it.
        if self.phase != Phase::Finish && !incidents.iter().any(|incident| incident.fault == Fault::Killed) {
            incidents.extend(self.participants.death(self.phase));
        }
        if incidents.is_empty() && self.has_heard_all() {
            let heard = std::mem::take(&mut self.heard);
            return Ok(ProcessEvent::Answer(heard.into_iter().filter_map(ProgramAnswer::reply).collect()));
        }
        // Silence is counted from the request, so that a reply of one program does not give the others more time.
        Ok(ProcessEvent::Nothing)
    }

    fn is_settled(&self, _incidents: &[Failure]) -> bool {
        self.has_heard_all()
    }

    fn why_silent(&self, observer: &dyn Observer, silence: &Silence) -> Vec<Failure> {
        let of = |Conversation { program, .. }: &Conversation| {
            let stopped = observer.sees_stopped(program.child.pid());
            program.silence(self.phase, "reply", self.limit, stopped, silence.lacked())
        };
        self.awaited().map(of).collect()
    }
}

/// The answer of a program since the request.
enum ProgramAnswer {
    Nothing,
    Reply(Reply),
    /// The program will not reply; its failure is recorded.
    Failure,
}

impl ProgramAnswer {
    fn is_nothing(&self) -> bool {
        matches!(self, ProgramAnswer::Nothing)
    }

    fn is_failure(&self) -> bool {
        matches!(self, ProgramAnswer::Failure)
    }

    fn reply(self) -> Option<Reply> {
        match self {
            ProgramAnswer::Reply(reply) => Some(reply),
            ProgramAnswer::Nothing | ProgramAnswer::Failure => None,
        }
    }
}

/// Returns the failure for a reply that does not match its request.
pub(super) fn unexpected(conversation: &Conversation, phase: Phase, wanted: &str, reply: &Reply) -> Failure {
    conversation.program.failure(phase, format!("it replied '{}', expected '{wanted}'", reply.name()))
}
