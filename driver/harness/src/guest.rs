//! The virtual machine in which the module is loaded: QEMU, emulated by default, with a deadline.
//!
//! On some machines /dev/kvm opens but an ordinary kernel under KVM hangs. The emulator is therefore named
//! explicitly, and KVM is used only on request.

use crate::folders::{Folders, empty_folder};
use crate::{results, step};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Exit status of QEMU after a successful guest: 2n + 1, where n is the argument of `guest-exit`. It is never 0,
/// because QEMU exits with 0 if the kernel panics.
pub const EXIT_WELL: i32 = 33;

/// Environment variable that requests KVM.
const ACCELERATOR: &str = "FURLONG_QEMU_ACCEL";

/// No mitigations, because the emulated CPU has no such vulnerabilities. The timeouts are long because kernels report
/// stalled CPUs, and here the whole machine may have to wait.
const KERNEL_OPTIONS: &str = "console=ttyS0 panic=-1 oops=panic mitigations=off watchdog_thresh=60 \
                              rcupdate.rcu_cpu_stall_timeout=60";

/// Purpose of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Tests on two CPUs, with an allocator that detects invalid writes.
    Test,
    /// Instruction counts: on one CPU, each instruction takes one nanosecond of the guest's time.
    Speed,
    /// Tests under a kernel that checks its modules.
    Debug,
}

impl Purpose {
    /// Returns the argument of init.sh, which is also the name of the directory that is kept.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Test => "test",
            Purpose::Speed => "speed",
            Purpose::Debug => "debug",
        }
    }

    /// Returns the deadline of the guest: several times its duration on an idle machine.
    fn deadline(self) -> Duration {
        Duration::from_secs(if self == Purpose::Debug { 1200 } else { 600 })
    }

    fn machine(self, accelerator: &str) -> Vec<&str> {
        match self {
            Purpose::Test | Purpose::Debug => vec!["-accel", accelerator, "-smp", "2", "-m", "512"],
            Purpose::Speed => {
                vec!["-accel", "tcg", "-icount", "shift=0,sleep=off", "-smp", "1", "-m", "512"]
            }
        }
    }

    fn kernel_options(self) -> String {
        let own = match self {
            // No option about clocks: on a busy machine, the kernel misjudges the clocks of emulated CPUs and
            // correctly rejects them.
            Purpose::Test => "slub_debug=FZPU",
            Purpose::Speed => "nokaslr",
            // The checks of the debug kernel are built in.
            Purpose::Debug => "rcupdate.rcu_cpu_stall_suppress=1",
        };
        format!("{KERNEL_OPTIONS} {own} FURLONG_GUEST={}", self.name())
    }
}

/// Exit and output of a guest.
pub struct GuestResult {
    /// Exit status of QEMU; `None` at the deadline.
    pub status: Option<ExitStatus>,
    /// Text that init.sh wrote to the second serial port.
    pub results: String,
    /// Kernel messages from the first one.
    pub console: String,
    /// Output of QEMU itself.
    pub complaint: String,
    /// Directory with these texts as files.
    pub folder: PathBuf,
}

/// Boots a guest and waits until it exits. A guest that does not reach init.sh is booted once more.
pub fn run(folders: &Folders, purpose: Purpose, image: &Path, archive: &Path) -> anyhow::Result<GuestResult> {
    step::timed(&format!("the {} guest", purpose.name()), || {
        let ended = boot(folders, purpose, image, archive)?;
        if results::has_booted(&ended.results) {
            return Ok(ended);
        }
        eprintln!("xtask: the {} guest did not boot, and is booted again", purpose.name());
        boot(folders, purpose, image, archive)
    })
}

fn boot(folders: &Folders, purpose: Purpose, image: &Path, archive: &Path) -> anyhow::Result<GuestResult> {
    let folder = folders.cache.join("guest").join(purpose.name());
    empty_folder(&folder)?;
    let [results_file, console, complaint] = ["results", "console", "qemu"].map(|name| folder.join(name));
    let said = std::fs::File::create(&complaint).context("cannot save the output of QEMU")?;
    // QEMU ends with this program, whatever ends it.
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "qemu-system-x86_64"])
        .args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"])
        .args(["-machine", "q35", "-cpu", "max"])
        .args(purpose.machine(&accelerator()?))
        .args(["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"])
        // Bare file names, because a comma in a path would separate QEMU options.
        .args(["-serial", "file:console", "-serial", "file:results"])
        .current_dir(&folder)
        .arg("-kernel")
        .arg(image)
        .arg("-initrd")
        .arg(archive)
        .args(["-append", &purpose.kernel_options()])
        .stdin(Stdio::null())
        .stdout(said.try_clone().context("cannot save the output of QEMU")?)
        .stderr(said);
    let mut child = command.spawn().context("cannot start setpriv, of the package util-linux")?;
    let status = wait(&mut child, purpose, &results_file);
    if !matches!(status, Ok(Some(_))) {
        // QEMU may have exited by now; `wait` reports it.
        let _ = child.kill();
        child.wait().context("cannot wait for QEMU")?;
    }
    let status = status?;
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let ended = GuestResult {
        status,
        results: read(&results_file),
        console: read(&console),
        complaint: read(&complaint),
        folder,
    };
    Ok(ended)
}

/// Waits for QEMU until the deadline, and prints the progress of the guest.
fn wait(child: &mut Child, purpose: Purpose, results_file: &Path) -> anyhow::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut said = 0;
    while start.elapsed() < purpose.deadline() {
        if let Some(status) = child.try_wait().context("cannot wait for QEMU")? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(100));
        let so_far = std::fs::read(results_file).unwrap_or_default();
        let so_far = String::from_utf8_lossy(&so_far).into_owned();
        let begun: Vec<_> = results::begun(&so_far).collect();
        for name in begun.iter().skip(said) {
            let seconds = start.elapsed().as_secs_f64();
            eprintln!("xtask: the {} guest at {seconds:.1} s: {name}", purpose.name());
        }
        said = begun.len();
    }
    Ok(None)
}

/// Returns the emulator, or KVM if it is requested and available.
fn accelerator() -> anyhow::Result<String> {
    let Ok(asked) = std::env::var(ACCELERATOR) else {
        return Ok("tcg,thread=multi".to_owned());
    };
    let processor = std::fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
    match asked.as_str() {
        "kvm" if has_virtualization(&processor) => Ok(asked),
        "kvm" => bail!(
            "{ACCELERATOR}=kvm, but this CPU has neither vmx nor svm, and ordinary kernels hang under the \
             KVM that it may have nevertheless: unset it"
        ),
        _ => bail!("{ACCELERATOR} may be kvm or not be set, and is '{asked}'"),
    }
}

/// Returns whether a CPU with this text of /proc/cpuinfo supports hardware virtualization.
fn has_virtualization(processor: &str) -> bool {
    let flags = processor.lines().filter(|line| line.starts_with("flags"));
    flags.flat_map(str::split_whitespace).any(|flag| flag == "vmx" || flag == "svm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_says_whether_it_runs_guests() {
        assert!(has_virtualization("processor : 0\nflags\t\t: fpu vme svm lm\n"));
        assert!(!has_virtualization("flags\t\t: fpu vme svme\nvmx flags\t: ept\n"));
    }

    #[test]
    fn instructions_are_counted_in_the_one_guest_and_memory_watched_in_the_other() {
        let speed = Purpose::Speed.machine("kvm");
        assert!(speed.contains(&"tcg") && speed.contains(&"shift=0,sleep=off") && !speed.contains(&"kvm"));
        assert!(Purpose::Speed.kernel_options().ends_with(" nokaslr FURLONG_GUEST=speed"));
        assert!(Purpose::Test.machine("kvm").starts_with(&["-accel", "kvm", "-smp", "2"]));
        assert!(Purpose::Test.kernel_options().contains(" slub_debug=FZPU "));
    }
}
