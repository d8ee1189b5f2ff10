//! The way in which a process waits for messages, or for room.

use super::flows::EndTotals;
use serde::Serialize;

/// Way of waiting. Its name in JSON is in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitStrategy {
    /// The thread sleeps in the call that transfers.
    Blocks,
    /// The thread sleeps in a call that waits for readiness, such as `poll`.
    AwaitsReadiness,
    /// The thread repeats calls that fail or find nothing.
    BusyWaits,
    /// The calls succeed at once.
    NeverWaits,
}

impl WaitStrategy {
    /// Returns the way in which the calls of an end wait; `None` without messages and failed attempts.
    pub fn find(end: &EndTotals) -> Option<WaitStrategy> {
        let EndTotals { messages, would_block, sleeps, readiness_calls, readiness_sleeps, .. } = *end;
        if messages + would_block + sleeps == 0 {
            return None;
        }
        // An edge-triggered event loop has about one failed attempt per readiness call.
        let repeats_calls = 2 * would_block > messages && would_block > 2 * readiness_calls;
        let repeats_checks = readiness_calls > 8 * messages && readiness_sleeps < readiness_calls / 4;
        Some(if repeats_calls || repeats_checks {
            WaitStrategy::BusyWaits
        } else if 5 * readiness_calls >= messages && readiness_sleeps >= sleeps {
            WaitStrategy::AwaitsReadiness
        } else if 20 * sleeps >= messages {
            WaitStrategy::Blocks
        } else {
            WaitStrategy::NeverWaits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategy_follows_from_the_calls() {
        let end = EndTotals { calls: 100, messages: 100, ..EndTotals::default() };
        let find = |end: EndTotals| WaitStrategy::find(&end);
        assert_eq!(find(EndTotals::default()), None);
        assert_eq!(find(end.clone()), Some(WaitStrategy::NeverWaits));
        assert_eq!(find(EndTotals { sleeps: 60, ..end.clone() }), Some(WaitStrategy::Blocks));
        let polled = EndTotals { readiness_calls: 100, readiness_sleeps: 90, ..end.clone() };
        assert_eq!(find(polled.clone()), Some(WaitStrategy::AwaitsReadiness));
        // An edge-triggered loop reads until a read fails.
        assert_eq!(find(EndTotals { would_block: 100, ..polled }), Some(WaitStrategy::AwaitsReadiness));
        assert_eq!(find(EndTotals { would_block: 500, ..end.clone() }), Some(WaitStrategy::BusyWaits));
        let checks = EndTotals { readiness_calls: 2000, readiness_sleeps: 3, ..end };
        assert_eq!(find(checks), Some(WaitStrategy::BusyWaits));
        // A receiver that got nothing.
        let empty = EndTotals { calls: 1, sleeps: 1, ..EndTotals::default() };
        assert_eq!(find(empty), Some(WaitStrategy::Blocks));
    }
}
