//! The cases that can be measured with zero-copy access.

use crate::{Capabilities, Case, Copies, Limits, Unavailable, format_bytes};

impl Case {
    /// Returns why zero-copy access is impossible in this case, if the case requires it and it is.
    pub(crate) fn refuse_access(&self, capabilities: &Capabilities, limits: &Limits) -> Option<Unavailable> {
        let Case { mechanism, access, .. } = self;
        if access.is_copy() {
            return None;
        }
        let largest = self.sizes_bytes().into_iter().max().unwrap_or_default();
        let (reason, remedy) = if capabilities.copies != Copies::TwoOrNone {
            let reason =
                format!("{mechanism} has no zero-copy access: messages cannot be written and read in place");
            (
                reason,
                "leave --access out, or ask for rows with zero-copy access: memory that both processes map"
                    .to_owned(),
            )
        } else if self.pattern().makes_links() {
            let reason = "connect creates a link for each message; its cost does not depend on --access";
            (reason.to_owned(), "leave --access out".to_owned())
        } else if let Some(most) = limits.max_in_place_bytes.filter(|most| largest > *most) {
            let (largest, most) = (format_bytes(largest), format_bytes(most));
            let reason = format!("{largest} is more than the {most} that {mechanism} loans in one piece");
            (reason, format!("ask for up to {most}, or leave --access out"))
        } else {
            return None;
        };
        Some(Unavailable::new(reason, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Pattern, Placement, Wait};

    #[test]
    fn only_what_lends_is_measured_in_place() {
        let usual: Capabilities = Capabilities::library("");
        let lends = Capabilities { copies: Copies::TwoOrNone, ..usual };
        let limits = Limits::none().in_place_up_to(1000);
        let refused = |access, pattern, size_bytes, capabilities: &Capabilities| {
            let case = Case::round_trip("channel", Wait::Block, size_bytes, Placement::OneProcess);
            let case = Case { access, ..case.with_pattern(pattern) };
            case.refusal(capabilities, &limits).map(|why| why.reason)
        };
        let trip = Pattern::RoundTrip;
        for access in Access::ALL {
            assert_eq!(refused(access, trip, 1000, &lends), None, "{access}");
        }
        assert_eq!(refused(Access::Copy, trip, 1001, &lends), None);
        let says = |refused: Option<String>, what: &str| {
            assert!(refused.as_ref().is_some_and(|reason| reason.contains(what)), "{refused:?} and {what}");
        };
        says(refused(Access::InPlace, trip, 1001, &lends), "1000B");
        says(refused(Access::StampsInPlace, Pattern::Connect, 8, &lends), "a link for each message");
        let copies = Capabilities { copies: Copies::Two, ..lends };
        says(refused(Access::InPlace, trip, 8, &copies), "channel has no zero-copy access");
    }

    #[test]
    fn what_does_not_touch_every_byte_says_so_in_its_name() {
        let row =
            |access| Case { access, ..Case::round_trip("channel", Wait::Spin, 8, Placement::Free) }.row();
        assert_eq!(
            Access::ALL.map(row),
            ["channel/spin", "channel/spin (in place)", "channel/spin (stamps in place)"]
        );
    }
}
