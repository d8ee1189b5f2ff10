//! Checks of a link that several processes share at one end. Only the supervisor can make them: whether all workers
//! together have received exactly the sent messages, and whose message is missing.

use crate::control::RoleResult;
use crate::parties::{Parties, PartySetup};
use crate::watch::{RoleProcess, Watch};
use furlong_loops::counted::PartyCounts;
use furlong_loops::shared_end::TakenMessages;
use furlong_model::{Failure, Fault, Pattern, Phase, Role};

/// Checks that the workers have received each of the `sent` messages exactly once. It compares the number of messages,
/// the sum of their numbers, and the sum of the squares. A single extra or missing message is reported by its number.
pub(crate) fn exactly_once(sent: u64, workers: &[TakenMessages]) -> Result<(), Failure> {
    let total = |figure: fn(&TakenMessages) -> u64| workers.iter().map(figure).fold(0, u64::wrapping_add);
    let (count, sum, squares) =
        (total(|taken| taken.count), total(|taken| taken.sum), total(|taken| taken.squares));
    let [all_sum, all_squares] = sums_up_to(sent);
    let extra = [sum.wrapping_sub(all_sum), squares.wrapping_sub(all_squares)];
    let missing = extra.map(u64::wrapping_neg);
    if count == sent && extra == [0, 0] {
        return Ok(());
    }
    let is_one =
        |[number, square]: [u64; 2]| (1..=sent).contains(&number) && square == number.wrapping_mul(number);
    let (fault, detail) = if count.checked_sub(sent) == Some(1) && is_one(extra) {
        (Fault::Repeated, format!("message {} arrived at two workers", extra[0]))
    } else if sent.checked_sub(count) == Some(1) && is_one(missing) {
        (Fault::Lost, format!("message {} arrived at no worker", missing[0]))
    } else {
        let fault = if count > sent { Fault::Repeated } else { Fault::Lost };
        (
            fault,
            format!("the workers took {count} messages together, and not each of the {sent} that were sent"),
        )
    };
    Err(Failure { phase: Phase::Finish, party: None, fault, detail })
}

/// Returns the sums of the numbers from 1 to `last` and of their squares, modulo 2^64.
fn sums_up_to(last: u64) -> [u64; 2] {
    let n = u128::from(last);
    let sum = n * (n + 1) / 2;
    // The sum of the squares is `sum * (2 * n + 1) / 3`, which has up to 192 bits.
    let squares =
        if sum % 3 == 0 { (sum / 3).wrapping_mul(2 * n + 1) } else { sum.wrapping_mul((2 * n + 1) / 3) };
    [sum, squares].map(|sum| sum as u64)
}

/// Returns the failure of the message that all wait for, if there is one. The message belongs to a sender that has sent
/// more than was received from it, or to the worker that has received the least. A missing notification, which is
/// `counted`, cannot be identified.
pub(super) fn lost_of_several(
    watch: &Watch<RoleResult>,
    parties: &Parties,
    pattern: Pattern,
    counted: Option<PartyCounts>,
) -> Option<Failure> {
    let Watch { processes, control_pages, timeout, .. } = watch;
    let page = control_pages.first()?;
    if let Some(counted) = counted {
        let [sent, taken] = counted.sent_and_taken(page);
        let nothing = format!("no progress for {timeout:?}");
        let (fault, detail) = if taken > sent {
            (Fault::Repeated, format!("{taken} notifications were received, but {sent} were sent: {nothing}"))
        } else {
            let why = "one was lost or a role hangs";
            let detail =
                format!("{nothing} after {sent} notifications were sent and {taken} received: {why}");
            (Fault::Lost, detail)
        };
        return Some(watch.failure(None, fault, detail));
    }
    let waiting = parties
        .setups
        .iter()
        .zip(processes)
        .filter(|(setup, _)| setup.party.role == Role::Responder)
        .filter(|(_, process)| process.phase < Phase::Finish && !process.ready)
        .collect::<Vec<_>>();
    if pattern.is_from_several() {
        return waiting.into_iter().find_map(|(receiver, _)| {
            let end = (receiver.ends[0].0, Role::Initiator);
            let mut senders = parties.setups.iter().filter(|setup| setup.ends.contains(&end)).enumerate();
            let missing = |(place, sender): (usize, &PartySetup)| {
                let received = page.progress(receiver.line + place).received;
                (page.progress(sender.line).sent > received).then_some((received + 1, sender.party))
            };
            let (number, sender) = senders.find_map(missing)?;
            let detail =
                format!("message {number} of {sender} was sent and has not arrived after {timeout:?}");
            Some(watch.failure(Some(receiver.party), Fault::Lost, detail))
        });
    }
    let waiting = waiting.into_iter().map(|(_, process)| process);
    let taken = |process: &RoleProcess<RoleResult>| page.progress(1 + process.party.index());
    let worker = waiting.min_by_key(|process| taken(process).received)?;
    let (count, party) = (taken(worker).sent, worker.party);
    let detail = format!(
        "no progress for {timeout:?} after {party} took {count} messages: one was lost or a role hangs"
    );
    Some(watch.failure(Some(party), Fault::Lost, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the failure if a sender has sent this number of messages, and the workers have received these.
    fn said(sent: u64, workers: &[&[u64]]) -> Option<String> {
        let worker = |numbers: &&[u64]| {
            let mut taken = TakenMessages { count: numbers.len() as u64, ..TakenMessages::default() };
            for number in *numbers {
                taken.sum += number;
                taken.squares += number * number;
            }
            taken
        };
        let workers: Vec<TakenMessages> = workers.iter().map(worker).collect();
        exactly_once(sent, &workers).err().map(|failure| format!("{:?}: {}", failure.fault, failure.detail))
    }

    #[test]
    fn numbers_beyond_all_sums_are_refused() {
        for last in [0, 1, 2, 3, 1000] {
            assert_eq!(
                sums_up_to(last),
                [(1..=last).sum::<u64>(), (1..=last).map(|number| number * number).sum::<u64>()]
            );
        }
        // A program may report any number.
        for (sent, count) in [(u64::MAX, 0), (0, u64::MAX), (u64::MAX, u64::MAX), (1 << 44, 1 << 44)] {
            let workers = [TakenMessages { count, ..TakenMessages::default() }];
            let detail = exactly_once(sent, &workers).unwrap_err().detail;
            assert!(detail.contains("not each of the"), "{detail}");
        }
    }

    #[test]
    fn workers_take_each_message_once() {
        assert_eq!(said(5, &[&[1, 4], &[2, 3, 5]]), None);
        assert_eq!(said(5, &[&[1, 2, 3, 4, 5], &[]]), None);
        let said = |workers: [&[u64]; 2]| said(5, &workers).unwrap_or_default();
        assert_eq!(said([&[1, 4], &[2, 3, 4, 5]]), "Repeated: message 4 arrived at two workers");
        assert_eq!(said([&[1], &[2, 3, 5]]), "Lost: message 4 arrived at no worker");
        let mixed = "the workers took 5 messages together, and not each of the 5 that were sent";
        // One message came twice and one never; and two messages each, with the same sum.
        assert_eq!(said([&[1, 4], &[2, 4, 5]]), format!("Lost: {mixed}"));
        assert_eq!(said([&[1, 3, 3], &[3, 5]]), format!("Lost: {mixed}"));
        assert!(said([&[1, 2, 3], &[1, 2, 3, 4, 5]]).starts_with("Repeated: the workers took 8"));
    }
}
