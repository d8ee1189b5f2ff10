//! Comparison of a recommendation with the earlier answer to the same question.

use super::Recommendation;
use super::earlier::{Answer, ChoiceChange, EarlierAnswer};
use super::ranked::RankedBenchmark;
use furlong_model::Placement;

impl Answer {
    /// Returns the answer of a recommendation; `None` without a choice.
    pub fn of(recommendation: &Recommendation, placement: Placement) -> Option<Answer> {
        let machine = &recommendation.run.machine;
        Some(Answer {
            workload: recommendation.workload.clone(),
            placement,
            machine: [machine.kernel.clone(), machine.processor.clone().unwrap_or_default()],
            candidates: Some(recommendation.candidates),
            started_unix_s: recommendation.run.started_unix_s,
            row: recommendation.choice.as_ref()?.name(),
        })
    }
}

impl Recommendation {
    /// Adds the earlier answer to the same question. The recommendation is provisional if the answers differ and do not
    /// tie.
    pub fn after(self, earlier: &Answer) -> Recommendation {
        let Some(choice) = &self.choice else { return self };
        let row_of = |row: &&RankedBenchmark| row.name() == earlier.row;
        let now = match self.ranked.iter().find(row_of) {
            Some(row) if row.name() == choice.name() => ChoiceChange::Same,
            Some(row) if row.ties_with(choice) && row.meets() == choice.meets() => ChoiceChange::Tie,
            _ => ChoiceChange::Other,
        };
        let earlier = EarlierAnswer { started_unix_s: earlier.started_unix_s, row: earlier.row.clone(), now };
        Recommendation {
            provisional: self.provisional || now == ChoiceChange::Other,
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
    use furlong_model::Workload;

    fn recommended() -> Recommendation {
        let run = Run::from_records(records(Workload::default(), &[SOCKET, MEMORY, POLLED])).unwrap();
        recommend(&DecodedRun::of(&run)).unwrap()
    }

    #[test]
    fn an_answer_that_changed_is_provisional_unless_the_two_tie() {
        let answer = Answer::of(&recommended(), Placement::OtherCore).unwrap();
        let after = |row: &str| recommended().after(&Answer { row: row.to_owned(), ..answer.clone() });
        let same = after(&answer.row);
        assert_eq!((same.provisional, same.earlier.unwrap().now), (false, ChoiceChange::Same));
        let other = after("pipe/block");
        assert_eq!((other.provisional, other.earlier.unwrap().now), (true, ChoiceChange::Other));
        let mut tying = recommended();
        let second = RankedBenchmark { mechanism: "fifo".into(), ..tying.choice.clone().unwrap() };
        tying.ranked.push(second.clone());
        let tie = tying.after(&Answer { row: second.name(), ..answer });
        assert_eq!((tie.provisional, tie.earlier.unwrap().now), (false, ChoiceChange::Tie));
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
        let of = |candidates| answer.is_about_the_same(&Answer { candidates, ..answer.clone() });
        assert!(of(None) && !of(Some(1)), "--emit leaves fewer candidates");
        let spinning = Workload { spin: true, ..answer.workload.clone() };
        assert!(!answer.is_about_the_same(&Answer { workload: spinning, ..answer.clone() }));
    }
}
