//! `perf_event_open`: events that the kernel counts or logs for one process.

use crate::error::{check, retry};
use crate::linux::handle::own;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// `struct perf_event_attr` as of its fifth version (Linux 4.1), which later kernels read as well.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Attributes {
    /// Kind of event, one of the constants below.
    pub kind: u32,
    pub bytes: u32,
    /// Event of this kind.
    pub config: u64,
    /// Increase of the count after which a sample is written; 0 for no samples.
    pub sample_period: u64,
    /// Content of a sample.
    pub sample_type: u64,
    /// Values that a read returns in addition to the count.
    pub read_format: u64,
    /// Bit field.
    pub flags: u64,
    /// With `WATERMARK`: number of bytes in the ring that makes the descriptor readable.
    pub wakeup: u32,
    pub breakpoint_type: u32,
    pub config_1: u64,
    pub config_2: u64,
    pub branch_sample_type: u64,
    pub sample_registers_user: u64,
    pub sample_stack_user: u32,
    pub clock: i32,
    pub sample_registers_interrupt: u64,
    pub aux_watermark: u32,
    pub sample_max_stack: u16,
    pub reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == 112, "PERF_ATTR_SIZE_VER5");

/// `CLOCK_MONOTONIC`, in the form of the attribute `clock`.
pub(super) const CLOCK_MONOTONIC: i32 = libc::CLOCK_MONOTONIC;

pub(super) const KIND_HARDWARE: u32 = 0;
pub(super) const KIND_TRACEPOINT: u32 = 2;
pub(super) const KIND_HARDWARE_CACHE: u32 = 3;

/// The event does not count until it is enabled.
const DISABLED: u64 = 1 << 0;
/// Later children and threads of the thread are covered, too.
pub(super) const INHERIT: u64 = 1 << 1;
/// Excludes the kernel's work for the process.
pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
/// Excludes a hypervisor's work for the process.
pub(super) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// The event is enabled when the process calls `execve`.
pub(super) const ENABLE_ON_EXEC: u64 = 1 << 12;
/// The ring gets records of new and exited threads.
pub(super) const TASKS: u64 = 1 << 13;
/// `wakeup` is in bytes.
pub(super) const WATERMARK: u64 = 1 << 14;

/// Records that are not samples end with the thread and the time.
pub(super) const IDENTIFY_ALL: u64 = 1 << 18;
/// Times are those of `clock`.
pub(super) const USE_CLOCK: u64 = 1 << 25;
/// The ring gets records of context switches.
pub(super) const SWITCHES: u64 = 1 << 26;

/// A sample contains the process and the thread.
pub(super) const SAMPLE_THREAD: u64 = 1 << 1;
/// A sample contains the time.
pub(super) const SAMPLE_TIME: u64 = 1 << 2;
/// A sample contains the data of the event itself.
pub(super) const SAMPLE_RAW: u64 = 1 << 10;

/// A read also returns how long the event was enabled, and how long it was counted, in nanoseconds.
pub(super) const READ_TIMES: u64 = 1 << 0 | 1 << 1;

const CLOSE_ON_EXEC: libc::c_ulong = 8;
/// The PID is a descriptor of the directory of a control group.
const PID_IS_GROUP: libc::c_ulong = 4;
const ENABLE: u32 = 0x2400;
const DISABLE: u32 = 0x2401;
const SET_OUTPUT: u32 = 0x2405;
const SET_FILTER: u32 = 0x4008_2406;

/// One event of one process.
#[derive(Debug)]
pub(super) struct Event(OwnedFd);

impl Event {
    /// Opens the event, disabled, for the thread `pid`. Later children and threads are not counted.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if the user may not, with the missing right; `Unsupported` if there is no such event.
    pub fn open(attributes: Attributes, pid: i32) -> io::Result<Event> {
        Event::open_on(attributes, pid, -1)
    }

    /// Opens the event, disabled, for the thread `pid` while it runs on `cpu`; -1 is any CPU. Only events of one CPU may have
    /// `INHERIT` and a ring.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Event::open).
    pub fn open_on(attributes: Attributes, pid: i32, cpu: i32) -> io::Result<Event> {
        Event::open_with(attributes, pid, cpu, CLOSE_ON_EXEC)
    }

    /// Opens the event, disabled, for all threads of a control group and its subgroups, while they run on `cpu`.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Event::open), and `Unsupported` if the group's hierarchy does not have the `perf_event` controller.
    pub fn open_for_group(attributes: Attributes, group: BorrowedFd<'_>, cpu: i32) -> io::Result<Event> {
        Event::open_with(attributes, group.as_raw_fd(), cpu, CLOSE_ON_EXEC | PID_IS_GROUP)
    }

    fn open_with(attributes: Attributes, pid: i32, cpu: i32, flags: libc::c_ulong) -> io::Result<Event> {
        let attributes = Attributes {
            bytes: size_of::<Attributes>() as u32,
            flags: attributes.flags | DISABLED,
            ..attributes
        };
        // SAFETY: the kernel only reads the attributes, which contain their size. The second -1 means no group.
        let number = check(unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, pid, cpu, -1, flags)
        })
        .map_err(explain)?;
        // SAFETY: opened just now.
        Ok(Event(unsafe { own(number as libc::c_int) }))
    }

    /// Starts counting.
    pub fn enable(&self) -> io::Result<()> {
        self.control(ENABLE)
    }

    /// Stops counting, and keeps the count.
    pub fn disable(&self) -> io::Result<()> {
        self.control(DISABLE)
    }

    /// Writes the records of this event into the ring of `other`, an event of the same CPU and clock.
    pub fn write_into(&self, other: &Event) -> io::Result<()> {
        // SAFETY: the command takes a descriptor, which is open.
        retry(|| unsafe { libc::ioctl(self.0.as_raw_fd(), SET_OUTPUT as _, other.0.as_raw_fd()) }).map(drop)
    }

    /// Drops samples of a tracepoint unless this expression of its fields is true, such as `id == 0 || id == 1`.
    ///
    /// # Errors
    /// Returns `InvalidInput` if the kernel cannot parse it.
    pub fn filter(&self, expression: &CStr) -> io::Result<()> {
        // SAFETY: the kernel copies the text, which is NUL-terminated.
        retry(|| unsafe { libc::ioctl(self.0.as_raw_fd(), SET_FILTER as _, expression.as_ptr()) }).map(drop)
    }

    fn control(&self, command: u32) -> io::Result<()> {
        // SAFETY: these commands take a plain integer.
        retry(|| unsafe { libc::ioctl(self.0.as_raw_fd(), command as _, 0) }).map(drop)
    }

    /// Reads the count, and the `N - 1` further numbers that the attributes request.
    pub fn read<const N: usize>(&self) -> io::Result<[u64; N]> {
        let mut values = [0u64; N];
        let wanted = size_of_val(&values);
        // SAFETY: the kernel writes at most `wanted` bytes, which is the size of `values`.
        let got = retry(|| unsafe { libc::read(self.0.as_raw_fd(), values.as_mut_ptr().cast(), wanted) })?;
        if got as usize == wanted {
            Ok(values)
        } else {
            Err(io::Error::other(format!("the event gave {got} bytes of {wanted}")))
        }
    }

    /// Returns the event's descriptor.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Adds the meaning of the kernel's error.
fn explain(error: io::Error) -> io::Error {
    const CALL: &str = "perf_event_open";
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
            let level = level.as_deref().map_or("unknown", str::trim);
            let text = format!(
                "{CALL}: {error}: this needs CAP_PERFMON, or a lower kernel.perf_event_paranoid than {level}, \
                 and no filter that forbids the call"
            );
            io::Error::new(io::ErrorKind::PermissionDenied, text)
        }
        Some(libc::EMFILE) => {
            let text = format!("{CALL}: {error}: raise the limit of open files (ulimit -n)");
            io::Error::new(error.kind(), text)
        }
        Some(libc::ESRCH) => io::Error::new(io::ErrorKind::NotFound, format!("{CALL}: {error}")),
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
            let text = format!("{CALL}: {error}: this machine offers no such counter");
            io::Error::new(io::ErrorKind::Unsupported, text)
        }
        _ => io::Error::new(error.kind(), format!("{CALL}: {error}")),
    }
}
