//! What the shell on the other host is told: to start furlong there, of this version, from there or from here.
//!
//! A shell may read ahead on its input, so that it is sent nothing more before it has answered. What is copied comes in parts,
//! each of which is answered, so that a pipe holds it and nobody waits who cannot be woken.

use std::time::Duration;

/// The hidden verb: `furlong peer FOLDER SECONDS`, with a folder that goes when it ends, and how long it may hear nothing.
pub(super) const PEER_VERB: &str = "peer";

/// What the first answer begins with; behind it stand the system, the instruction set, and what furlong there says of itself.
pub(super) const MARK: &str = "furlong-peer";

/// Bytes in what it is told next: as many as are read, so that nothing of what follows is taken for it.
const TOLD_BYTES: usize = 32;

/// What the script is told next: `use`, or `part BYTES`.
pub(super) fn told(what: &str) -> Vec<u8> {
    format!("{what:<width$}\n", width = TOLD_BYTES - 1).into_bytes()
}

/// The line that makes a shell do this: a private folder, which goes when it ends; the answer; furlong from there (`use`) or in
/// parts from here (`part BYTES`, then `use`); and its other side. All of it ends with the input or when nothing has come for so
/// long, if `timeout` is there for what the shell does itself: of a cable that is cut it hears nothing.
pub(super) fn script(lease: Duration) -> String {
    let lease_s = lease.as_secs().max(1);
    // No apostrophe may stand in it.
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
        // What a pipe takes at once on every system.
        assert!(script.len() < 4096);
        assert_eq!(told("part 1048576").len(), TOLD_BYTES);
    }
}
