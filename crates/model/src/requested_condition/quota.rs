//! Requested CPU quota of each role.

use super::{ConditionKind, RequestedCondition};

fn parse(text: &str) -> Option<RequestedCondition> {
    if text == "none" {
        return Some(RequestedCondition::Quota { percent: None });
    }
    let digits = text.strip_suffix('%')?;
    let percent = digits.parse().ok().filter(|percent| (1..=100).contains(percent))?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(RequestedCondition::Quota { percent: Some(percent) })
}

/// Quotas. One percent of the default period is 1 ms, the smallest quota that Linux accepts.
pub(super) static QUOTA: ConditionKind = ConditionKind {
    name: "quota",
    placeholder: "PERCENT",
    help: "Limit each role to this share of one CPU, such as 20%. Each role has a control group; none has no limit. Can be \
           repeated",
    read: parse,
    valid: "write a share of one CPU from 1% to 100%, or none",
    applies: |_, _| true,
    candidates: &[],
    neutral: Some("none"),
    permanent: |condition| format!("systemd unit: CPUQuota={}", condition.value()),
};
