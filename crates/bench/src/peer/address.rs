//! The address of another host: an ssh destination, or a command that provides a pipe to a shell on that host.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The host of the responders, as the user has typed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerAddress {
    typed: String,
    way: Way,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// The destination for ssh, `host` or `user@host`, and a port.
    Ssh(String, Option<u16>),
    /// A command line for the shell.
    Command(String),
}

/// The error for text that is not the address of a peer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a peer is ssh://[USER@]HOST[:PORT] or command:'COMMAND': {0}")]
pub struct InvalidPeer(String);

impl PeerAddress {
    /// Returns the command line for the shell on this host. It provides a pipe to a shell on the other host. ssh never
    /// asks for a password, because of `BatchMode`.
    pub(super) fn command(&self, patience: Duration) -> String {
        match &self.way {
            Way::Command(command) => command.clone(),
            Way::Ssh(whom, port) => {
                let seconds = patience.as_secs().max(1);
                let port = port.map_or_else(String::new, |port| format!("-p {port} "));
                format!("exec ssh -o BatchMode=yes -o ConnectTimeout={seconds} {port}-- {whom} sh")
            }
        }
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.typed)
    }
}

impl FromStr for PeerAddress {
    type Err = InvalidPeer;

    fn from_str(text: &str) -> Result<Self, InvalidPeer> {
        let invalid = |why: String| Err(InvalidPeer(why));
        let way = if let Some(command) = text.strip_prefix("command:") {
            if command.trim().is_empty() || command.contains('\0') {
                return invalid("the command is empty, or contains a zero byte".to_owned());
            }
            Way::Command(command.to_owned())
        } else if let Some(whom) = text.strip_prefix("ssh://") {
            ssh(whom).map_err(|why| InvalidPeer(format!("'{text}' {why}")))?
        } else {
            return invalid(format!("'{text}' is neither"));
        };
        Ok(PeerAddress { typed: text.to_owned(), way })
    }
}

/// Parses the part after `ssh://`. Accepts only text that has no other meaning to ssh or to a shell.
fn ssh(whom: &str) -> Result<Way, String> {
    let (user, place) = match whom.split_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, whom),
    };
    let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        // An IPv6 address contains colons.
        Some((host, rest)) => (host, (!rest.is_empty()).then_some(rest.strip_prefix(':').unwrap_or("?"))),
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    for name in user.into_iter().chain([host]) {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c) || (c == ':' && name == host);
        if name.is_empty() || name.starts_with('-') || !name.chars().all(allowed) {
            return Err(format!(
                "'{name}' is not a valid name: use letters, digits, '.', '_' and '-', and do not begin with '-'"
            ));
        }
    }
    let number = |port: &str| match port.parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!("'{port}' is not a valid port")),
    };
    let port = port.map(number).transpose()?;
    Ok(Way::Ssh(user.map_or_else(|| host.to_owned(), |user| format!("{user}@{host}")), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> String {
        text.parse::<PeerAddress>().unwrap().command(Duration::from_secs(10))
    }

    #[test]
    fn ssh_is_a_command_that_asks_nobody() {
        assert_eq!(command("ssh://node-7"), "exec ssh -o BatchMode=yes -o ConnectTimeout=10 -- node-7 sh");
        assert_eq!(
            command("ssh://me@node-7.example:2222"),
            "exec ssh -o BatchMode=yes -o ConnectTimeout=10 -p 2222 -- me@node-7.example sh"
        );
        assert!(command("ssh://[fe80::1]:22").ends_with("-p 22 -- fe80::1 sh"));
        assert_eq!(command("command:nsenter -t 1 sh"), "nsenter -t 1 sh");
    }

    #[test]
    fn what_could_mean_something_else_is_refused() {
        for text in [
            "",
            "node-7",
            "ssh://",
            "ssh://-oProxyCommand=x",
            "ssh://me@-x",
            "ssh://-me@x",
            "ssh://a b",
            "ssh://a;b",
            "ssh://a/b",
            "ssh://$(x)",
            "ssh://a:0",
            "ssh://a:70000",
            "ssh://a:b",
            "ssh://[::1]22",
            "ssh://@a",
            "command:",
            "command: ",
        ] {
            let told = text.parse::<PeerAddress>().unwrap_err().to_string();
            assert!(told.starts_with("a peer is ssh://[USER@]HOST[:PORT] or command:"), "{text}: {told}");
        }
    }
}
