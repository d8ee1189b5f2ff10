//! Seccomp profiles in the JSON form of Docker and of the OCI runtime specification.
//!
//! Rules that a profile includes only for capabilities are left out, because roles behind a boundary have none.

use furlong_model::DOCKER;
use furlong_os::Context;
use furlong_os::linux::seccomp::{
    ARCHITECTURE, ArgumentTest, Comparison, FilterRule, SeccompFilter, Verdict,
};
use furlong_os::linux::system_call;
use serde::Deserialize;
use std::fs;
use std::io;

/// Docker's default profile, reduced to the rules that forbid a call or test its arguments.
const DOCKER_PROFILE: &str = include_str!("docker.json");
/// Error number of a forbidden call if the profile names none.
const EPERM: u16 = 1;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    default_action: String,
    default_errno_ret: Option<u16>,
    #[serde(default)]
    architectures: Option<Vec<String>>,
    #[serde(default)]
    syscalls: Vec<ProfileRule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProfileRule {
    names: Vec<String>,
    action: String,
    errno_ret: Option<u16>,
    #[serde(default)]
    args: Option<Vec<ProfileTest>>,
    #[serde(default)]
    includes: Option<ProfileScope>,
    #[serde(default)]
    excludes: Option<ProfileScope>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProfileTest {
    index: u8,
    value: u64,
    #[serde(default)]
    value_two: u64,
    op: String,
}

#[derive(Deserialize, Default)]
struct ProfileScope {
    #[serde(default)]
    caps: Vec<String>,
    #[serde(default)]
    arches: Vec<String>,
}

/// Returns the filter of a profile: Docker's, or that of a file.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a profile.
pub(super) fn filter(profile: &str) -> io::Result<SeccompFilter> {
    if profile != DOCKER {
        let text = read(profile).context(|| format!("read {profile}"))?;
        return parse(&text).context(|| profile.to_owned());
    }
    let mut filter = parse(DOCKER_PROFILE)?;
    let is_named = |number: &u32| filter.rules.iter().any(|rule| rule.call == *number);
    let others: Vec<_> =
        system_call::all().filter_map(number_of).filter(|number| !is_named(number)).collect();
    let allow = |call| FilterRule { call, tests: Vec::new(), verdict: Verdict::ALLOW };
    filter.rules.extend(others.into_iter().map(allow));
    filter.rules.sort_by_key(FilterRule::order);
    Ok(filter)
}

/// Reads a profile. A FIFO or a device would block or never end.
fn read(profile: &str) -> io::Result<String> {
    /// Docker's profile has 12 KiB.
    const MOST_BYTES: u64 = 1 << 20;
    let found = fs::metadata(profile)?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(io::Error::other("a profile is a regular file of up to 1 MiB"));
    }
    fs::read_to_string(profile)
}

fn number_of(name: &str) -> Option<u32> {
    system_call::number(name).and_then(|number| u32::try_from(number).ok())
}

fn parse(text: &str) -> io::Result<SeccompFilter> {
    let profile: Profile = serde_json::from_slice(text.as_bytes())?;
    let (_, architecture, _) = ARCHITECTURE;
    if profile.architectures.is_some_and(|all| !all.is_empty() && !all.iter().any(|one| one == architecture))
    {
        return Err(invalid("architectures", &format!("not for this machine; add {architecture}")));
    }
    let errno = profile.default_errno_ret.unwrap_or(EPERM);
    let mut rules = Vec::new();
    for rule in profile.syscalls.iter().filter(|rule| rule.is_included()) {
        let verdict = verdict(&rule.action, rule.errno_ret.unwrap_or(errno))?;
        let tests: Vec<_> = rule.args.iter().flatten().map(ProfileTest::read).collect::<Result<_, _>>()?;
        for call in rule.names.iter().filter_map(|name| number_of(name)) {
            rules.extend(alternatives(&tests).into_iter().map(|tests| FilterRule { call, tests, verdict }));
        }
    }
    rules.sort_by_key(FilterRule::order);
    Ok(SeccompFilter { rules, default: verdict(&profile.default_action, errno)? })
}

/// Returns the tests of each rule. Two tests of one argument are alternatives, as in runc.
fn alternatives(tests: &[ArgumentTest]) -> Vec<Vec<ArgumentTest>> {
    let is_repeated =
        |test: &ArgumentTest| tests.iter().filter(|other| other.index == test.index).count() > 1;
    match tests.iter().any(is_repeated) {
        true => tests.iter().map(|test| vec![*test]).collect(),
        false => vec![tests.to_vec()],
    }
}

fn verdict(name: &str, errno: u16) -> io::Result<Verdict> {
    let valid = "choose SCMP_ACT_ALLOW, _ERRNO, _LOG, _TRAP, _KILL, _KILL_THREAD or _KILL_PROCESS";
    Verdict::named(name, errno).ok_or_else(|| invalid(name, valid))
}

fn invalid(found: &str, valid: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("'{found}' is not valid: {valid}"))
}

impl ProfileRule {
    fn is_included(&self) -> bool {
        let (_, _, here) = ARCHITECTURE;
        let names = |scope: &ProfileScope| scope.arches.iter().any(|one| one == here);
        let includes = self.includes.as_ref();
        includes.is_none_or(|scope| scope.caps.is_empty() && (scope.arches.is_empty() || names(scope)))
            && !self.excludes.as_ref().is_some_and(names)
    }
}

impl ProfileTest {
    fn read(&self) -> io::Result<ArgumentTest> {
        let (all, value) = (u64::MAX, self.value);
        let (comparison, holds_if, mask, value) = match self.op.as_str() {
            "SCMP_CMP_EQ" => (Comparison::Equal, true, all, value),
            "SCMP_CMP_NE" => (Comparison::Equal, false, all, value),
            "SCMP_CMP_LT" => (Comparison::GreaterOrEqual, false, all, value),
            "SCMP_CMP_LE" => (Comparison::Greater, false, all, value),
            "SCMP_CMP_GT" => (Comparison::Greater, true, all, value),
            "SCMP_CMP_GE" => (Comparison::GreaterOrEqual, true, all, value),
            "SCMP_CMP_MASKED_EQ" => (Comparison::Equal, true, value, self.value_two),
            other => return Err(invalid(other, "choose SCMP_CMP_EQ, _NE, _LT, _LE, _GT, _GE or _MASKED_EQ")),
        };
        match self.index {
            0..=5 => Ok(ArgumentTest { index: self.index, mask, comparison, value, holds_if }),
            index => Err(invalid(&index.to_string(), "arguments have the indexes 0 to 5")),
        }
    }
}
