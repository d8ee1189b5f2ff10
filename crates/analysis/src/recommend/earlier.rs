//! The same question asked before: whether the answer is the same.

use super::Recommendation;
use furlong_model::{Placement, Workload};
use serde::{Deserialize, Serialize};

/// What was asked of which machine, and what the answer was: enough to say next time whether it is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was asked.
    pub workload: Workload,
    /// Where the processes ran.
    pub placement: Placement,
    /// The kernel and the processor of the machine.
    pub machine: [String; 2],
    /// When, in seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// The row that was chosen.
    pub row: String,
}

/// What was answered before, beside what is answered now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// When, in seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// The row that was chosen.
    pub row: String,
    /// How it stands to the choice of now.
    pub now: Repeated,
}

/// How an earlier choice stands to the choice of now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// It is the same row.
    Same,
    /// It is another row, which cannot be told from the choice.
    Tie,
    /// It is another row.
    Other,
}

impl Answer {
    /// The answer that a recommendation gives; `None` where nothing was chosen.
    pub fn of(recommendation: &Recommendation, placement: Placement) -> Option<Answer> {
        let machine = &recommendation.run.machine;
        Some(Answer {
            workload: recommendation.workload.clone(),
            placement,
            machine: [machine.kernel.clone(), machine.processor.clone().unwrap_or_default()],
            started_unix_s: recommendation.run.started_unix_s,
            row: recommendation.choice.as_ref()?.name(),
        })
    }

    /// Whether both are about the same question, asked of the same machine.
    pub fn is_about_the_same(&self, other: &Answer) -> bool {
        (&self.workload, self.placement, &self.machine) == (&other.workload, other.placement, &other.machine)
    }
}

impl Recommendation {
    /// This one with what was answered to the same question before. An answer that is another one than before, and not for
    /// chance between rows that tie, is provisional.
    pub fn after(self, earlier: &Answer) -> Recommendation {
        let Some(choice) = &self.choice else { return self };
        let row_of = |row: &&super::Ranked| row.name() == earlier.row;
        let now = match self.ranked.iter().find(row_of) {
            Some(row) if row.name() == choice.name() => Repeated::Same,
            Some(row) if row.ties_with(choice) => Repeated::Tie,
            _ => Repeated::Other,
        };
        let earlier = Earlier { started_unix_s: earlier.started_unix_s, row: earlier.row.clone(), now };
        Recommendation {
            provisional: self.provisional || now == Repeated::Other,
            earlier: Some(earlier),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::recommendation::{MEMORY, POLLED, SOCKET, records};
    use crate::{DecodedRun, Run, recommend};

    fn recommended() -> Recommendation {
        let run = Run::from_records(records(Workload::default(), &[SOCKET, MEMORY, POLLED])).unwrap();
        recommend(&DecodedRun::of(&run)).unwrap()
    }

    #[test]
    fn an_answer_that_changed_is_provisional_unless_the_two_tie() {
        let answer = Answer::of(&recommended(), Placement::OtherCore).unwrap();
        let after = |row: &str| recommended().after(&Answer { row: row.to_owned(), ..answer.clone() });
        let same = after(&answer.row);
        assert_eq!((same.provisional, same.earlier.unwrap().now), (false, Repeated::Same));
        let other = after("pipe/block");
        assert_eq!((other.provisional, other.earlier.unwrap().now), (true, Repeated::Other));
        let mut tying = recommended();
        let second = super::super::Ranked { mechanism: "fifo".into(), ..tying.choice.clone().unwrap() };
        tying.ranked.push(second.clone());
        let tie = tying.after(&Answer { row: second.name(), ..answer });
        assert_eq!((tie.provisional, tie.earlier.unwrap().now), (false, Repeated::Tie));
    }

    #[test]
    fn another_place_or_machine_is_another_question() {
        let answer = Answer::of(&recommended(), Placement::OtherCore).unwrap();
        let machine = ["6.19".to_owned(), answer.machine[1].clone()];
        assert!(answer.is_about_the_same(&Answer {
            row: "x/block".into(),
            started_unix_s: 0,
            ..answer.clone()
        }));
        assert!(!answer.is_about_the_same(&Answer { placement: Placement::SameCore, ..answer.clone() }));
        assert!(!answer.is_about_the_same(&Answer { machine, ..answer.clone() }));
        let spinning = Workload { spin: true, ..answer.workload.clone() };
        assert!(!answer.is_about_the_same(&Answer { workload: spinning, ..answer.clone() }));
    }
}
