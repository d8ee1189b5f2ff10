//! The machine in which the module is loaded: QEMU, always emulated, with a deadline.
//!
//! KVM opens on machines that cannot run an ordinary kernel under it, and then hangs. So the emulator is
//! named, and KVM is used only by who asks for it.

use crate::folders::{Folders, empty_folder};
use crate::{results, step};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What QEMU ends with when the guest ended well: twice what `guest-exit` is told, and one. It is never 0,
/// which is also how QEMU ends when the kernel panics.
pub const EXIT_WELL: i32 = 33;

/// Where one asks for KVM.
const ACCELERATOR: &str = "FURLONG_QEMU_ACCEL";

/// The emulated processor has none of the faults that mitigations are for. Kernels report processors that did
/// not run for a while, and here it is the whole machine that may have to wait.
const KERNEL_OPTIONS: &str = "console=ttyS0 panic=-1 oops=panic mitigations=off watchdog_thresh=60 \
                              rcupdate.rcu_cpu_stall_timeout=60";

/// What a guest is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The tests, on two processors, with an allocator that watches over what is written.
    Test,
    /// Counting: on one processor, one nanosecond of the guest's time is one instruction.
    Speed,
    /// The tests, under a kernel that watches its modules.
    Debug,
}

impl Purpose {
    /// What init.sh is told, and the name of the folder that is kept.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Test => "test",
            Purpose::Speed => "speed",
            Purpose::Debug => "debug",
        }
    }

    /// The longest that such a guest may take: some times what it takes on an idle machine.
    fn deadline(self) -> Duration {
        Duration::from_secs(if self == Purpose::Debug { 1200 } else { 300 })
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
            // No option about clocks: on a busy machine the kernel misjudges those of emulated processors by far,
            // and rightly does not trust them.
            Purpose::Test => "slub_debug=FZPU",
            Purpose::Speed => "nokaslr",
            // All of its own watching is built in.
            Purpose::Debug => "rcupdate.rcu_cpu_stall_suppress=1",
        };
        format!("{KERNEL_OPTIONS} {own} FURLONG_GUEST={}", self.name())
    }
}

/// How a guest ended and what it left.
pub struct GuestResult {
    /// How QEMU ended; none at the deadline.
    pub status: Option<ExitStatus>,
    /// What init.sh wrote to the second serial port.
    pub results: String,
    /// The kernel's messages, from the first.
    pub console: String,
    /// What QEMU itself said.
    pub complaint: String,
    /// The folder with all of this in files.
    pub folder: PathBuf,
}

/// Boots a guest and waits for its end. One that never came as far as its own first line is booted once more.
pub fn run(folders: &Folders, purpose: Purpose, image: &Path, archive: &Path) -> anyhow::Result<GuestResult> {
    step::timed(&format!("the {} guest", purpose.name()), || {
        let ended = boot(folders, purpose, image, archive)?;
        if results::has_booted(&ended.results) {
            return Ok(ended);
        }
        eprintln!("xtask: the {} guest did not come up, and is booted once more", purpose.name());
        boot(folders, purpose, image, archive)
    })
}

fn boot(folders: &Folders, purpose: Purpose, image: &Path, archive: &Path) -> anyhow::Result<GuestResult> {
    let folder = folders.cache.join("guest").join(purpose.name());
    empty_folder(&folder)?;
    let [results_file, console, complaint] = ["results", "console", "qemu"].map(|name| folder.join(name));
    let said = std::fs::File::create(&complaint).context("cannot keep what QEMU says")?;
    // Whatever ends this program ends QEMU too.
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "qemu-system-x86_64"])
        .args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"])
        .args(["-machine", "q35", "-cpu", "max"])
        .args(purpose.machine(&accelerator()?))
        .args(["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"])
        // By their bare names, because a path may have a comma in it, which means something to QEMU.
        .args(["-serial", "file:console", "-serial", "file:results"])
        .current_dir(&folder)
        .arg("-kernel")
        .arg(image)
        .arg("-initrd")
        .arg(archive)
        .args(["-append", &purpose.kernel_options()])
        .stdin(Stdio::null())
        .stdout(said.try_clone().context("cannot keep what QEMU says")?)
        .stderr(said);
    let mut child = command.spawn().context("cannot start setpriv, of the package util-linux")?;
    let status = wait(&mut child, purpose, &results_file);
    if !matches!(status, Ok(Some(_))) {
        // It may have ended meanwhile; the wait shows.
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

/// Waits for QEMU until the deadline, and says meanwhile how far the guest has come.
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

/// The emulator, or KVM for who asks and can have it.
fn accelerator() -> anyhow::Result<String> {
    let Ok(asked) = std::env::var(ACCELERATOR) else {
        return Ok("tcg,thread=multi".to_owned());
    };
    let processor = std::fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
    match asked.as_str() {
        "kvm" if has_virtualization(&processor) => Ok(asked),
        "kvm" => bail!(
            "{ACCELERATOR}=kvm, but this processor has neither vmx nor svm, and ordinary kernels hang under the \
             KVM that it may have nevertheless: unset it"
        ),
        _ => bail!("{ACCELERATOR} may be kvm or not be set, and is '{asked}'"),
    }
}

/// Whether a processor with this in /proc/cpuinfo runs guests by itself.
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
