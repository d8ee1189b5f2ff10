//! The script for the shell on the other host. It starts furlong of this version: the installed one, or a copy of this
//! program.
//!
//! A shell may read ahead on its input, so nothing more is sent before it has answered. The copy is sent in parts, and
//! each part is acknowledged. A part fits into the pipe, so no write blocks without a timeout.

use std::time::Duration;

/// The hidden verb, `furlong peer FOLDER SECONDS`: a directory that is removed when it ends, and the longest time
/// without input.
pub(super) const PEER_VERB: &str = "peer";

/// The first word of the first answer. The operating system, the instruction set and the output of `furlong --version`
/// follow.
pub(super) const MARK: &str = "furlong-peer";

/// The length of each further command, in bytes. The script reads exactly this number, so that it does not read the
/// data that follows.
const TOLD_BYTES: usize = 32;

/// Returns a further command to the script: `use`, or `part BYTES`.
pub(super) fn told(what: &str) -> Vec<u8> {
    format!("{what:<width$}\n", width = TOLD_BYTES - 1).into_bytes()
}

/// Returns the line for the shell. The script creates a private directory, which is removed when the script ends, and
/// prints its answer. It starts the agent with the installed furlong (`use`), or with a copy that arrives in parts
/// (`part BYTES`, then `use`). It ends with its input, or after `lease` without input. The reads of the shell have this
/// timeout only if the command `timeout` is installed. Without a timeout, the shell would not notice a cut cable.
pub(super) fn script(lease: Duration) -> String {
    let lease_s = lease.as_secs().max(1);
    // The body must not contain an apostrophe, because apostrophes enclose it.
    let body = format!(
        r#"umask 077
d=$(mktemp -d "${{TMPDIR:-/tmp}}/furlong-peer-XXXXXXXX") || exit 1
trap "rm -rf -- \"$d\"" EXIT
trap "exit 1" HUP INT PIPE TERM
f=furlong
echo "{MARK} $(uname -s) $(uname -m) $(furlong --version 2>/dev/null)"
t=$(command -v timeout) && t="$t {lease_s}"
while told=$($t head -c {TOLD_BYTES}); do
  set -- $told
  case ${{1-}} in
  part) f=$d/furlong; $t head -c "$2" >>"$f" || exit 1; chmod 700 "$f"; echo taken ;;
  use) "$f" {verb} "$d" {lease_s}; exit ;;
  *) exit 1 ;;
  esac
done
"#,
        verb = PEER_VERB
    );
    format!("exec sh -c '{body}'\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_one_word_for_the_shell() {
        let script = script(Duration::from_secs(90));
        assert_eq!(script.matches('\'').count(), 2, "{script}");
        assert!(script.contains("peer \"$d\" 90;") && script.ends_with("'\n"), "{script}");
        // Every system accepts that number of bytes in a pipe at once.
        assert!(script.len() < 4096);
        assert_eq!(told("part 1048576").len(), TOLD_BYTES);
    }
}
