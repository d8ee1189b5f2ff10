//! Boundaries between the roles: preparations before a run, and steps of a role.

mod profile;
mod relay;

use crate::two_networks;
use furlong_mechanism::LinkSpecification;
use furlong_model::{
    Boundary, Capabilities, Case, Failure, Fault, Phase, RequestedConditions, Role, Unavailable,
};
use furlong_os::linux::attempt::attempt;
use furlong_os::linux::seccomp::SeccompFilter;
use furlong_os::linux::{container, landlock};
pub(crate) use relay::{joined as relayed, run as relay};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Whether this process is in one of two network namespaces, or why they cannot be created; empty if none were requested.
static NETWORKS: OnceLock<Result<(), Unavailable>> = OnceLock::new();

/// Boundaries that were tried, each with the reason why it is not possible here.
static TRIED: Mutex<BTreeMap<Boundary, Option<Unavailable>>> = Mutex::new(BTreeMap::new());

const LANDLOCK_REMEDY: &str =
    "use Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK, and landlock in the kernel parameter lsm=";
const USER_REMEDY: &str =
    "run furlong as root (CAP_SETUID, CAP_SETGID), in a user namespace that has UID 65534";
const CONTAINER_REMEDY: &str = "run it where user namespaces are allowed (sysctl user.max_user_namespaces, \
     kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), and with a usable TMPDIR";

/// System calls of a role's loop around those of its mechanism.
const CALLS_OF_ROLES: [&str; 6] = ["read", "write", "getrusage", "munmap", "close", "exit_group"];

/// Enters the namespaces that benchmarks with these conditions need. Call it before the second thread starts. If namespaces cannot
/// be created, those benchmarks are refused.
pub fn prepare<'a>(conditions: impl IntoIterator<Item = &'a RequestedConditions>) {
    let boundaries: Vec<_> = conditions.into_iter().filter_map(RequestedConditions::boundary).collect();
    if boundaries.iter().any(|boundary| boundary.separates_networks()) {
        NETWORKS.get_or_init(|| two_networks::enter(boundaries.iter().any(|boundary| boundary.has_bridge())));
    }
}

/// Returns why a boundary is not possible here for any mechanism. An attempt starts a process, so each boundary is tried once.
pub fn impossible(boundary: &Boundary) -> Option<Unavailable> {
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    tried.entry(boundary.clone()).or_insert_with(|| try_here(boundary)).clone()
}

fn try_here(boundary: &Boundary) -> Option<Unavailable> {
    let folder = std::env::temp_dir();
    let (tried, remedy) = match boundary {
        Boundary::Landlock => (attempt(|| landlock::allow_only(&folder)), LANDLOCK_REMEDY),
        Boundary::User => (attempt(container::become_nobody), USER_REMEDY),
        Boundary::Container => (attempt(|| container::enter(&folder)), CONTAINER_REMEDY),
        _ => (Ok(()), ""),
    };
    if let Err(error) = tried {
        return Some(Unavailable::new(
            format!("the boundary {boundary} is not possible here: {error}"),
            remedy,
        ));
    }
    let error = profile::filter(boundary.seccomp_profile()?).err()?;
    let reason = format!("the filter of {boundary} cannot be used: {error}");
    Some(Unavailable::new(reason, "name a profile in the JSON form of Docker or OCI"))
}

/// Returns why a boundary is not possible here, or forbids calls of the mechanism; `None` without a boundary.
pub(crate) fn refusal(case: &Case, capabilities: &Capabilities) -> Option<Unavailable> {
    let boundary = case.conditions.boundary()?;
    let networks = NETWORKS.get().filter(|_| case.crosses_networks(capabilities));
    let refused = networks.and_then(|networks| networks.clone().err()).or_else(|| impossible(boundary));
    if refused.is_some() {
        return refused;
    }
    let filter = filter(&case.conditions).ok()??;
    let mut declared = capabilities.declared_calls(case.wait, case.size_bytes);
    declared.extend(capabilities.declared_in(case));
    let needed = declared.iter().filter(|(_, bounds)| bounds.most != Some(0)).map(|(name, _)| name.as_str());
    let forbidden = |name: &&str| filter.forbids(name);
    let (by, name) = match CALLS_OF_ROLES.into_iter().find(forbidden) {
        Some(name) => ("every benchmark", name),
        None => ("it", needed.into_iter().find(forbidden)?),
    };
    let filter = format!("the seccomp filter forbids the system call {name}, which {by} needs");
    let reason = format!("forbidden by the boundary {boundary}: {filter}");
    Some(Unavailable::new(reason, "allow the call in the profile, or choose another mechanism"))
}

/// Enters the boundary of this role, before it opens its end. If the role continues in a new process, this one waits for it.
pub(crate) fn enter(
    conditions: &RequestedConditions,
    role: Role,
    specification: &LinkSpecification,
) -> io::Result<()> {
    match conditions.boundary() {
        Some(Boundary::Landlock) => landlock::allow_only(&specification.folder),
        Some(Boundary::User) if role == Role::Responder => container::become_nobody(),
        Some(Boundary::Container) => container::enter(&specification.folder),
        _ => Ok(()),
    }
}

/// Installs the seccomp filter of this role's boundary, if it has one.
pub(crate) fn filter_calls(conditions: &RequestedConditions) -> io::Result<()> {
    filter(conditions)?.map_or(Ok(()), |filter| filter.install())
}

/// Returns the facts of the boundary, by name: the number of instructions of a seccomp filter, and of calls of the mechanism for
/// which the kernel runs it.
pub(crate) fn facts(case: &Case, capabilities: &Capabilities) -> Vec<(String, u64)> {
    let Ok(Some(filter)) = filter(&case.conditions) else { return Vec::new() };
    let declared = capabilities.declared_calls(case.wait, case.size_bytes);
    let evaluated = declared.keys().filter(|name| filter.is_evaluated(name)).count();
    [("seccomp-instructions", filter.instructions()), ("seccomp-evaluated-calls", evaluated)]
        .map(|(name, value)| (name.to_owned(), value as u64))
        .into()
}

fn filter(conditions: &RequestedConditions) -> io::Result<Option<SeccompFilter>> {
    let profile = conditions.boundary().and_then(Boundary::seccomp_profile);
    profile.map(profile::filter).transpose()
}

/// Returns why a trial failed, if its boundary is the cause: a role could not open its end, or could not use it.
pub(crate) fn explained(case: &Case, capabilities: &Capabilities, failure: &Failure) -> Option<Unavailable> {
    let boundary = case.conditions.boundary().filter(|boundary| boundary.restricts_roles())?;
    let is_early = failure.phase < Phase::WarmUp;
    let is_denied = match failure.fault {
        Fault::Error => failure.detail.contains("os error"),
        Fault::Killed => failure.detail.contains("SIGSYS"),
        _ => false,
    };
    (is_early && is_denied).then(|| {
        let filter = filter(&case.conditions).ok().flatten();
        let declared = capabilities.declared_calls(case.wait, case.size_bytes).into_keys();
        let tested: Vec<_> =
            declared.filter(|name| filter.as_ref().is_some_and(|filter| filter.is_evaluated(name))).collect();
        let by_filter = match &tested[..] {
            [] => String::new(),
            names => format!("; the filter tests the arguments of {}", names.join(", ")),
        };
        let reason = format!("forbidden by the boundary {boundary}: {failure}{by_filter}");
        Unavailable::new(reason, "choose a mechanism that crosses this boundary")
    })
}
