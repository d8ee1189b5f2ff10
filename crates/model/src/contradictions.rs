//! Requested conditions that exclude each other, the pattern or the mechanism, on every machine.

use crate::{
    Capabilities, Case, Family, Isolation, PageKind, Placement, Reach, RequestedCondition, Scheduling,
    SizeMix, Unavailable, Wait,
};

impl Case {
    /// Returns why no machine can run the case under its requested conditions, if none can.
    pub(crate) fn refuse_conditions(&self, capabilities: &Capabilities) -> Option<Unavailable> {
        self.refuse_on_another_host()
            .or_else(|| self.refuse_scheduling())
            .or_else(|| self.refuse_quota())
            .or_else(|| self.refuse_isolation(capabilities))
            .or_else(|| self.refuse_two_writes())
            .or_else(|| self.refuse_pages(capabilities))
    }

    fn refuse_on_another_host(&self) -> Option<Unavailable> {
        if self.placement != Placement::OtherHost {
            return None;
        }
        if self.conditions.limit_cpu_time() {
            let reason = "quotas and neighbours exist only on this host, and the responder is on another one";
            return Some(Unavailable::new(reason, "leave --quota and --beside out, or measure on one host"));
        }
        self.conditions.memory_node().map(|_| {
            let reason = "--memory-node applies to this host only";
            Unavailable::new(reason, "leave --memory-node or --peer out")
        })
    }

    fn refuse_scheduling(&self) -> Option<Unavailable> {
        let policy = self.conditions.iter().find_map(|condition| match condition {
            RequestedCondition::Scheduling(policy) => Some(*policy),
            _ => None,
        })?;
        let (is_real_time, is_idle) = (policy.is_real_time(), policy == Scheduling::Idle);
        let ignored = self.conditions.iter().find(|condition| match condition {
            RequestedCondition::Nice(_) => is_real_time || is_idle,
            RequestedCondition::Slice { .. } => is_real_time,
            _ => false,
        })?;
        let reason = format!("--{ignored} has no effect under --sched {policy}");
        Some(Unavailable::new(reason, "ask for one of the two"))
    }

    fn refuse_quota(&self) -> Option<Unavailable> {
        self.conditions.quota_percent()?;
        if let Some(policy) = self.conditions.real_time_policy() {
            let reason = format!("a quota does not limit processes under {policy}");
            return Some(Unavailable::new(reason, "ask for a quota with --sched other, batch or idle"));
        }
        (self.conditions.isolation() == Some(Isolation::Thread)).then(|| {
            let reason = "threads of one process share its control group";
            Unavailable::new(reason, "ask for a quota with --isolation fork or exec")
        })
    }

    fn refuse_isolation(&self, capabilities: &Capabilities) -> Option<Unavailable> {
        let isolation = self.conditions.isolation().filter(|isolation| *isolation != Isolation::Exec)?;
        let is_elsewhere = matches!(self.placement, Placement::OtherHost | Placement::OneProcess);
        let by_process = (capabilities.family, capabilities.reach)
            == (Family::Notification, Reach::PidNamespace)
            || matches!(self.wait, Wait::Signal | Wait::FcntlLock);
        let reason = if capabilities.family == Family::Adapter || self.subsystem.is_some() {
            format!("the roles of {} run another program", self.mechanism)
        } else if is_elsewhere {
            format!("the placement {} has no two roles on this machine", self.placement)
        } else if isolation == Isolation::Thread && by_process {
            format!("{} addresses or locks for a process, and both threads have the same", self.row())
        } else {
            return None;
        };
        Some(Unavailable::new(reason, "leave --isolation out"))
    }

    fn refuse_two_writes(&self) -> Option<Unavailable> {
        if !self.conditions.has_two_writes() {
            return None;
        }
        if self.pattern().shares_an_end() {
            return Some(Unavailable::new(
                "several processes write to one end, so that headers and bodies of two writes would mix",
                "ask for --writes 1, or for another pattern",
            ));
        }
        let size_bytes = self.conditions.size_mix().map_or(self.size_bytes, SizeMix::smallest_bytes);
        let one_size = || self.exchange.request().map_or(size_bytes, |request| request.size_bytes);
        let request_bytes = self.conditions.request_mix().map_or_else(one_size, SizeMix::smallest_bytes);
        let words = ("a message of 1 byte has no header and body", "ask for messages of 2 bytes or more");
        (request_bytes.min(size_bytes) < 2).then(|| Unavailable::new(words.0, words.1))
    }

    fn refuse_pages(&self, capabilities: &Capabilities) -> Option<Unavailable> {
        let kind = self.conditions.pages()?;
        let name = &self.mechanism;
        let reason = match (capabilities.family, capabilities.reach) {
            (Family::Library | Family::Adapter, _) | (Family::Memory, Reach::Device) => {
                format!("{name} allocates its memory itself, in pages that --pages cannot select")
            }
            (Family::Memory, Reach::FileSystem) if kind == PageKind::Huge => {
                format!("{name} is a file, and its file system has no huge pages")
            }
            _ => return None,
        };
        Some(Unavailable::new(reason, "leave --pages out, or choose other shared memory"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CONDITION_KINDS, Limits};

    fn refused(conditions: &str, change: impl FnOnce(&mut Case, &mut Capabilities)) -> Option<String> {
        let mut case = Case::round_trip("row", Wait::Block, 128, Placement::OtherCore);
        for (name, value) in conditions.split(' ').filter_map(|condition| condition.split_once('=')) {
            let kind = CONDITION_KINDS.iter().find(|kind| kind.name == name).unwrap();
            case.conditions = case.conditions.with(kind.read(value).unwrap());
        }
        let mut capabilities = Capabilities { family: Family::Socket, ..Capabilities::library("a row") };
        change(&mut case, &mut capabilities);
        case.refusal(&capabilities, &Limits::none()).map(|why| why.reason)
    }

    #[test]
    fn conditions_that_exclude_each_other_are_refused() {
        for (conditions, why) in [
            ("sched=fifo:50 nice=5", "--nice 5 has no effect under --sched fifo:50"),
            ("sched=deadline slice=1ms", "--slice 1ms has no effect under --sched deadline:8ms/20ms"),
            ("sched=idle nice=5", "--nice 5 has no effect under --sched idle"),
            ("sched=rr:1 quota=20%", "a quota does not limit processes under rr:1"),
            ("quota=20% isolation=thread", "threads of one process share its control group"),
        ] {
            assert_eq!(refused(conditions, |_, _| {}).as_deref(), Some(why));
        }
        for conditions in ["sched=batch nice=5 slice=1ms quota=20%", "quota=none sched=fifo:1", "nice=5"] {
            assert_eq!(refused(conditions, |_, _| {}), None, "{conditions}");
        }
    }

    #[test]
    fn conditions_that_the_case_rules_out_are_refused() {
        let alone = |case: &mut Case, _: &mut Capabilities| case.placement = Placement::OneProcess;
        let lock = |case: &mut Case, capabilities: &mut Capabilities| {
            (case.wait, capabilities.waits) = (Wait::FcntlLock, &[Wait::FcntlLock]);
        };
        let one_byte = |case: &mut Case, _: &mut Capabilities| case.size_bytes = 1;
        let file = |_: &mut Case, capabilities: &mut Capabilities| capabilities.family = Family::Memory;
        type Change = fn(&mut Case, &mut Capabilities);
        let refusals: [(&str, Change, &str); 4] = [
            ("isolation=fork", alone, "has no two roles"),
            ("isolation=thread", lock, "both threads have the same"),
            ("writes=2", one_byte, "no header and body"),
            ("pages=huge", file, "its file system has no huge pages"),
        ];
        for (conditions, change, why) in refusals {
            let reason = refused(conditions, change);
            assert!(reason.as_ref().is_some_and(|reason| reason.contains(why)), "{conditions}: {reason:?}");
        }
        assert_eq!(refused("isolation=exec", alone), None);
        assert_eq!(refused("pages=4k", file), None);
    }
}
