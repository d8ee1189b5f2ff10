//! Seccomp filters: rules for system calls, compiled to a program that the kernel runs before each call.
//!
//! The program is a linear chain of comparisons, as libseccomp generates by default. Since Linux 5.11, the kernel remembers the calls
//! that a program allows without a look at their arguments, and does not run it for them.

use crate::error::{Context, check};
use crate::linux::system_call;
use std::io;

/// Architecture of this program in the kernel's audit numbers, and its names in profiles of OCI and of Docker.
#[cfg(target_arch = "x86_64")]
pub const ARCHITECTURE: (u32, &str, &str) = (0xc000_003e, "SCMP_ARCH_X86_64", "amd64");
#[cfg(target_arch = "aarch64")]
pub const ARCHITECTURE: (u32, &str, &str) = (0xc000_00b7, "SCMP_ARCH_AARCH64", "arm64");

/// First number of the calls of x32, which x86-64 programs can make, too.
const X32: u32 = 0x4000_0000;
/// Offsets in `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;
/// Most comparisons before the instruction to which they jump, whose distance is one byte.
const LONGEST_CHAIN: usize = 200;

/// Decision of a filter: a number of the kernel (`SECCOMP_RET_*`), with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict(u32);

impl Verdict {
    /// Permits the call.
    pub const ALLOW: Verdict = Verdict(libc::SECCOMP_RET_ALLOW);

    /// Fails the call with this error number.
    pub const fn errno(number: u16) -> Verdict {
        Verdict(libc::SECCOMP_RET_ERRNO | number as u32)
    }

    /// Returns the verdict with this name of libseccomp, with `errno` for calls that fail.
    pub fn named(name: &str, errno: u16) -> Option<Verdict> {
        Some(match name {
            "SCMP_ACT_ALLOW" => Verdict::ALLOW,
            "SCMP_ACT_LOG" => Verdict(libc::SECCOMP_RET_LOG),
            "SCMP_ACT_ERRNO" => Verdict::errno(errno),
            "SCMP_ACT_KILL_PROCESS" => Verdict(libc::SECCOMP_RET_KILL_PROCESS),
            "SCMP_ACT_KILL" | "SCMP_ACT_KILL_THREAD" => Verdict(libc::SECCOMP_RET_KILL_THREAD),
            "SCMP_ACT_TRAP" => Verdict(libc::SECCOMP_RET_TRAP),
            _ => return None,
        })
    }

    const fn permits(self) -> bool {
        self.0 == libc::SECCOMP_RET_ALLOW || self.0 == libc::SECCOMP_RET_LOG
    }
}

/// Comparison of an argument with a value, as 64-bit numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
}

/// Test of one argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentTest {
    /// Index of the argument, 0 to 5.
    pub index: u8,
    /// Bits of the argument that are compared.
    pub mask: u64,
    /// Comparison with the value.
    pub comparison: Comparison,
    /// Value.
    pub value: u64,
    /// Result of the comparison if the test holds.
    pub holds_if: bool,
}

/// Rule for one system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterRule {
    /// Number of the call.
    pub call: u32,
    /// Tests that all must hold.
    pub tests: Vec<ArgumentTest>,
    /// Decision if they do.
    pub verdict: Verdict,
}

impl FilterRule {
    /// Returns its place in a filter: by call, with rules that test arguments before a rule that decides for all others.
    pub fn order(&self) -> (u32, bool) {
        (self.call, self.tests.is_empty())
    }
}

/// A filter: the first rule that holds decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeccompFilter {
    /// Rules in order.
    pub rules: Vec<FilterRule>,
    /// Decision for all other calls.
    pub default: Verdict,
}

impl SeccompFilter {
    /// Returns whether the filter forbids a call with this name whatever its arguments are.
    pub fn forbids(&self, name: &str) -> bool {
        let numbers: Vec<u32> = system_call::numbers(name).collect();
        let permitted = |number: &u32| {
            let mut rules = self.rules.iter().filter(|rule| rule.call == *number);
            let decided = self.rules.iter().any(|rule| rule.call == *number && rule.tests.is_empty());
            rules.any(|rule| rule.verdict.permits()) || (!decided && self.default.permits())
        };
        !numbers.is_empty() && !numbers.iter().any(permitted)
    }

    /// Returns whether the kernel runs the program for this call, because a rule tests its arguments.
    pub fn is_evaluated(&self, name: &str) -> bool {
        let mut numbers = system_call::numbers(name);
        numbers.any(|number| self.rules.iter().any(|rule| rule.call == number && !rule.tests.is_empty()))
    }

    /// Returns the number of instructions of the program.
    pub fn instructions(&self) -> usize {
        self.program().len()
    }

    /// Installs the filter for this process, which can neither remove it nor gain rights from now on. The process must have one
    /// thread.
    ///
    /// # Errors
    /// Returns an error if the kernel has no seccomp filters or the program is too long.
    pub fn install(&self) -> io::Result<()> {
        let mut program = self.program();
        let length = u16::try_from(program.len()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "the filter has too many instructions")
        })?;
        let program = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
        set_no_new_privileges()?;
        // SAFETY: the kernel copies `length` instructions from the vector, which lives until the call returns.
        check(unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
        })
        .map(drop)
        .context(|| "seccomp SECCOMP_SET_MODE_FILTER")
    }

    fn program(&self) -> Vec<libc::sock_filter> {
        let mut program = vec![
            load(ARCHITECTURE_AT),
            jump(libc::BPF_JEQ, ARCHITECTURE.0, 1, 0),
            decide(Verdict(libc::SECCOMP_RET_KILL_PROCESS)),
            load(NUMBER_AT),
        ];
        if cfg!(target_arch = "x86_64") {
            program.extend([jump(libc::BPF_JGE, X32, 0, 1), decide(Verdict::errno(libc::ENOSYS as u16))]);
        }
        let decides = |rule: &&FilterRule| !rule.tests.is_empty() || rule.verdict != self.default;
        let rules: Vec<_> = self.rules.iter().filter(decides).cloned().collect();
        let mut rules = &rules[..];
        while let Some(first) = rules.first() {
            let is_alike = |rule: &&FilterRule| rule.tests.is_empty() && rule.verdict == first.verdict;
            let alike = rules.iter().take_while(is_alike).count().min(LONGEST_CHAIN);
            if alike > 0 {
                // Each comparison jumps to the verdict behind the chain if it holds.
                let comparisons = rules[..alike].iter().enumerate();
                program.extend(
                    comparisons.map(|(place, rule)| jump(libc::BPF_JEQ, rule.call, (alike - place) as u8, 0)),
                );
                program.extend([statement(libc::BPF_JMP | libc::BPF_JA, 1), decide(first.verdict)]);
            } else {
                program.extend(tested(first));
            }
            rules = &rules[alike.max(1)..];
        }
        program.push(decide(self.default));
        program
    }
}

/// Returns the instructions of a rule that tests arguments. They load the number again for the next rule.
fn tested(rule: &FilterRule) -> Vec<libc::sock_filter> {
    // Built from the end, because a test that fails jumps behind the verdict.
    let body = rule.tests.iter().rev().fold(vec![decide(rule.verdict)], |rest, test| {
        let failed = rest.len() as u8;
        [comparison(test, failed), rest].concat()
    });
    let length = (body.len() + 1) as u8;
    [vec![jump(libc::BPF_JEQ, rule.call, 0, length)], body, vec![load(NUMBER_AT)]].concat()
}

/// Returns the instructions of a test: they continue behind their end if it holds, and `failed` instructions later if not. The two
/// halves of an argument are compared one after the other, the high half first.
fn comparison(test: &ArgumentTest, failed: u8) -> Vec<libc::sock_filter> {
    let half = |at: u32, mask: u64| {
        let load = load(ARGUMENTS_AT + 8 * u32::from(test.index) + at);
        [load, statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask as u32)]
    };
    let [high, low] = [(test.value >> 32) as u32, test.value as u32];
    let [yes, no] = if test.holds_if { [0, failed] } else { [failed, 0] };
    let operation = match test.comparison {
        Comparison::Equal => libc::BPF_JEQ,
        Comparison::Greater => libc::BPF_JGT,
        Comparison::GreaterOrEqual => libc::BPF_JGE,
    };
    let mut program = half(4, test.mask >> 32).to_vec();
    // The low half decides if the high halves are equal. It has three instructions, which a jump of the high half skips.
    if test.comparison != Comparison::Equal {
        program.push(jump(libc::BPF_JGT, high, yes + 4, 0));
    }
    program.push(jump(libc::BPF_JEQ, high, 0, no + 3));
    program.extend(half(0, test.mask));
    program.push(jump(operation, low, yes, no));
    program
}

const fn statement(code: u32, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

const fn load(offset: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

const fn decide(verdict: Verdict) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, verdict.0)
}

const fn jump(operation: u32, value: u32, holds: u8, fails: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: (libc::BPF_JMP | operation | libc::BPF_K) as u16,
        jt: holds,
        jf: fails,
        k: value,
    }
}

/// Forbids this process and its descendants to gain rights, which the kernel requires before an ordinary user restricts itself.
pub(crate) fn set_no_new_privileges() -> io::Result<()> {
    // SAFETY: plain integers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
        .map(drop)
        .context(|| "prctl no_new_privs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::process::{Bond, Exit, fork};
    use std::os::fd::AsFd;

    /// Calls `kill` with a value in a process with a filter of one tested rule. Returns whether the rule has failed the call.
    fn outcome((comparison, holds_if): (Comparison, bool), value: u64, mask: u64, argument: u64) -> bool {
        let call = libc::SYS_kill as u32;
        // The second argument of kill is a signal. A filter sees 64 bits, and the kernel reads 32.
        let test = ArgumentTest { index: 1, mask, comparison, value, holds_if };
        let other = FilterRule { call: libc::SYS_getppid as u32, tests: Vec::new(), verdict: Verdict::ALLOW };
        let rule = FilterRule { call, tests: vec![test, test], verdict: Verdict::errno(libc::EXDEV as u16) };
        let filter = SeccompFilter { rules: vec![other, rule], default: Verdict::ALLOW };
        let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || {
            filter.install().unwrap();
            // SAFETY: PID 0x7fff_ffff does not exist, so no signal is sent.
            let failed = unsafe { libc::syscall(libc::SYS_kill, i32::MAX, argument) } == -1;
            let error = io::Error::last_os_error().raw_os_error();
            i32::from(failed && error == Some(libc::EXDEV))
        })
        .unwrap();
        match child.wait() {
            Some(Exit::Code(code @ 0..=1)) => code == 1,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_are_compared_as_64_bits() {
        use Comparison::{Equal, Greater, GreaterOrEqual};
        let values = [0, 1, 5, 1 << 32, (1 << 32) + 5, 5 << 32, u64::MAX];
        for (value, argument) in
            values.iter().flat_map(|value| values.iter().map(move |other| (*value, *other)))
        {
            for (comparison, expected) in [
                ((Equal, true), argument == value),
                ((Equal, false), argument != value),
                ((GreaterOrEqual, false), argument < value),
                ((Greater, false), argument <= value),
                ((Greater, true), argument > value),
                ((GreaterOrEqual, true), argument >= value),
            ] {
                let found = outcome(comparison, value, u64::MAX, argument);
                assert_eq!(found, expected, "{argument:#x} {comparison:?} {value:#x}");
            }
        }
        assert!(outcome((Equal, true), 1 << 32, 1 << 32, (1 << 32) + 5));
        assert!(!outcome((Equal, true), 1 << 32, 1 << 32, 5));
    }

    #[test]
    fn calls_are_forbidden_by_name() {
        let rule = |name: &str| FilterRule {
            call: system_call::numbers(name).next().unwrap(),
            tests: Vec::new(),
            verdict: Verdict::ALLOW,
        };
        // More rules than a chain of comparisons can have.
        let names = ["read", "ppoll", "pselect6"].into_iter().cycle().take(2 * LONGEST_CHAIN + 1);
        let filter = SeccompFilter { rules: names.map(rule).collect(), default: Verdict::errno(1) };
        let forbidden = |name: &str| filter.forbids(name);
        assert!(!forbidden("read") && !forbidden("select") && !forbidden("poll"));
        assert!(forbidden("write") && !forbidden("no-such-call"));
        assert!(!filter.is_evaluated("read"));
        assert_eq!(
            filter.instructions(),
            2 * LONGEST_CHAIN + 1 + 3 * 2 + 7 - 2 * usize::from(cfg!(target_arch = "aarch64"))
        );
    }
}
