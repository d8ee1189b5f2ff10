//! Facts about this machine that affect results.

use crate::windows::affinity::{core_siblings, logical_processors};
use crate::windows::return_value::{check_number, wide};
use crate::windows::{affinity, available_memory, identity, runtime};
use furlong_model::{Cache, Conditions, Machine, Runtime};
use std::ptr::{null, null_mut};
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::System::Power::{PowerGetActiveScheme, PowerReadFriendlyName};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{
    CacheData, CacheInstruction, CacheUnified, OSVERSIONINFOW, RelationCache,
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION,
};

const VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
const PROCESSOR: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";

/// Collects the available facts. The caller determines `private_ipc_namespace`; Windows has no such namespaces.
pub fn machine(private_ipc_namespace: bool) -> Machine {
    let processors = affinity::allowed().unwrap_or_default();
    let first = processors.first().copied().unwrap_or(0);
    Machine {
        system: "Windows".to_owned(),
        kernel: version(),
        architecture: std::env::consts::ARCH.to_owned(),
        distribution: registry(VERSION, "ProductName"),
        runtime: runtime::wine_version().map_or(Runtime::Native, Runtime::Wine),
        processor: registry(PROCESSOR, "ProcessorNameString").map(|name| name.trim().to_owned()),
        threads_share_cores: Some(processors.iter().any(|&cpu| core_siblings(cpu).len() > 1)),
        processors,
        caches: caches(first),
        memory_bytes: available_memory::status().map(|status| status.ullTotalPhys),
        mitigations: Vec::new(),
        clock_source: Some("QueryPerformanceCounter".to_owned()),
        governor: governor(0),
        deepest_idle_state: None,
        transparent_huge_pages: None,
        transparent_huge_pages_shared: None,
        hypervisor: None,
        limits: Vec::new(),
        private_ipc_namespace,
        root: identity::is_administrator(),
        host: None,
        core_choice: None,
        conditions: Some(Box::new(Conditions {
            build: Some(crate::BUILD.to_owned()),
            ..Conditions::default()
        })),
    }
}

/// Returns `None`, because on Windows the kernel version does not determine the available calls.
pub fn kernel_version() -> Option<(u32, u32)> {
    None
}

/// Returns the name of this host.
pub fn host_name() -> Option<String> {
    std::env::var("COMPUTERNAME").ok().filter(|name| !name.is_empty())
}

/// Returns the real version and build, for example `10.0.19045`. Other calls return an older version to programs that do not know
/// a newer one.
fn version() -> String {
    let size = size_of::<OSVERSIONINFOW>() as u32;
    let mut version = OSVERSIONINFOW { dwOSVersionInfoSize: size, ..Default::default() };
    // SAFETY: one structure is filled, which contains its size.
    unsafe { RtlGetVersion(&raw mut version) };
    format!("{}.{}.{}", version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber)
}

/// Returns a text of the machine's registry.
fn registry(key: &str, name: &str) -> Option<String> {
    let mut text = [0u16; 256];
    let mut bytes = size_of_val(&text) as u32;
    let (key, name) = (wide(key), wide(name));
    // SAFETY: both names end with a zero, and at most `bytes` bytes are written.
    let read = check_number(unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            RRF_RT_REG_SZ,
            null_mut(),
            text.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    });
    read.ok().map(|()| until_zero(&text)).filter(|text| !text.is_empty())
}

fn until_zero(text: &[u16]) -> String {
    String::from_utf16_lossy(text.split(|unit| *unit == 0).next().unwrap_or_default())
}

/// Returns the name of the power plan, for example `Balanced`.
pub fn governor(_processor: usize) -> Option<String> {
    let mut scheme = null_mut();
    let mut text = [0u16; 256];
    let mut bytes = size_of_val(&text) as u32;
    // SAFETY: the first call returns the address of a GUID that this process must free; the second writes at most `bytes` bytes.
    let read = unsafe {
        check_number(PowerGetActiveScheme(null_mut(), &raw mut scheme)).ok()?;
        let read = check_number(PowerReadFriendlyName(
            null_mut(),
            scheme,
            null(),
            null(),
            text.as_mut_ptr().cast(),
            &raw mut bytes,
        ));
        LocalFree(scheme.cast());
        read
    };
    read.ok().map(|()| until_zero(&text)).filter(|text| !text.is_empty())
}

/// Returns the caches of a CPU.
fn caches(processor: usize) -> Vec<Cache> {
    let of_processor = |found: &SYSTEM_LOGICAL_PROCESSOR_INFORMATION| {
        found.Relationship == RelationCache && found.ProcessorMask >> processor & 1 == 1
    };
    let mut caches: Vec<Cache> = logical_processors()
        .iter()
        .filter(|found| of_processor(found))
        .map(|found| {
            // SAFETY: the entry describes a cache.
            let cache = unsafe { found.Anonymous.Cache };
            #[expect(non_upper_case_globals, reason = "they are Windows' names")]
            let kind = match cache.Type {
                CacheUnified => "Unified",
                CacheInstruction => "Instruction",
                CacheData => "Data",
                _ => "Trace",
            };
            Cache { level: cache.Level, kind: kind.to_owned(), size_bytes: u64::from(cache.Size) }
        })
        .collect();
    caches.sort_by_key(|cache| (cache.level, cache.kind.clone()));
    caches
}
