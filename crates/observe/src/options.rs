//! Options of `furlong ipc`.

use crate::identity::ObjectKind;
use clap::Args;
use furlong_console::ListFormat;

const EXAMPLES: &str =
    "furlong lists objects that link two processes, and orphans, which no process uses. --all adds the others.
Nothing is changed. As root, furlong also sees the objects of other users.

Kinds: pipe, fifo, unix, tcp, udp, posix-mq, posix-shm, posix-sem, sysv-mq, sysv-shm, sysv-sem, memfd, \
anon-shm, file-shm, eventfd, signalfd, epoll, io-uring

Examples:
  furlong ipc                                    links between processes, and orphans
  furlong ipc 4711                               links of process 4711
  furlong ipc --kind posix-mq --kind sysv-mq --all
                                                 all message queues
  furlong ipc --orphans                          objects that can probably be removed
  furlong ipc --all --format json                everything, with all holders and both ends of sockets";

/// Options of `furlong ipc`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct IpcOptions {
    /// List only objects of the processes PID [default: all processes]
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pids: Vec<i32>,
    /// List only objects of this kind; can be repeated
    #[arg(long = "kind", value_name = "KIND", value_enum, hide_possible_values = true)]
    pub kinds: Vec<ObjectKind>,
    /// List only objects that no process uses
    #[arg(long, conflicts_with_all = ["pids", "all"])]
    pub orphans: bool,
    /// Also list objects that only one process uses
    #[arg(long)]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}
