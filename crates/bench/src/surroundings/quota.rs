//! A control group with a CPU quota for each role of a trial.

use crate::persistent::PersistentResource;
use crate::session::{CleanupGuard, Session};
use furlong_model::{Case, QuotaUse, RequestedCondition, Unavailable};
use furlong_os::control_group::{self, CpuGroup};
use furlong_os::facts;
use std::io;
use std::path::PathBuf;

/// Groups of the parties, in their order.
pub(super) struct Quotas<'a>(Vec<RoleGroup<'a>>);

/// Group of one party.
struct RoleGroup<'a> {
    folder: PathBuf,
    /// Counters before the measured part, and then after it.
    counters: Vec<QuotaUse>,
    _removes: CleanupGuard<'a>,
}

/// Returns why this process cannot create such groups, or why they would not limit the roles, or `None`.
pub(super) fn refusal(case: &Case) -> Option<Unavailable> {
    let is_policy = |condition: &RequestedCondition| matches!(condition, RequestedCondition::Scheduling(_));
    let inherited = || {
        let inherited = facts::machine(false).conditions?;
        inherited.policy.filter(|_| inherited.priority > Some(0) && !case.conditions.iter().any(is_policy))
    };
    if let Some(policy) = inherited() {
        let reason = format!("a quota does not limit processes under {policy}, which furlong inherited");
        return Some(Unavailable::new(reason, "ask for a quota with --sched other, batch or idle"));
    }
    let error = CpuGroup::find().and_then(|group| group.check()).err()?;
    Some(Unavailable::new(
        format!("no control group with a CPU quota can be created: {error}"),
        "run furlong as root, or with cgroup v2 in a delegated group: systemd-run --user --scope -p Delegate=yes \
         furlong ... (as root without --user)",
    ))
}

impl<'a> Quotas<'a> {
    /// Creates a group for each party.
    pub(super) fn create(percent: u8, parties: usize, session: &'a Session) -> io::Result<Quotas<'a>> {
        let own = CpuGroup::find()?;
        let disables_controller = own.enables_controller();
        let create = |place| {
            let folder = own.child(&format!("{}-{place}", session.name()));
            let group = PersistentResource::QuotaGroup { folder: folder.clone(), disables_controller };
            let removes = session.making(group)?;
            own.create(&folder, percent)?;
            Ok(RoleGroup { folder, counters: Vec::new(), _removes: removes })
        };
        (0..parties).map(create).collect::<io::Result<_>>().map(Quotas)
    }

    /// Moves a process into the group of the party at this place.
    pub(super) fn enter(&self, place: usize, pid: i32) -> io::Result<()> {
        control_group::enter(&self.0[place].folder, pid)
    }

    /// Reads the counters of all groups.
    pub(super) fn read(&mut self) {
        for group in &mut self.0 {
            group.counters.extend(control_group::counters(&group.folder));
        }
    }

    /// Returns the quota of each party, and its use between the first and the last reading.
    pub(super) fn used(&self) -> Vec<QuotaUse> {
        let used = |group: &RoleGroup<'_>| Some(group.counters.last()?.since(group.counters.first()?));
        self.0.iter().filter_map(used).collect()
    }
}
