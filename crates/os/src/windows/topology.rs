//! The CPU topology that Windows describes.

use crate::windows::affinity::logical_processors;
use furlong_model::{Cpu, CpuTopology};
use windows_sys::Win32::System::SystemInformation::{
    RelationCache, RelationNumaNode, RelationProcessorCore, RelationProcessorPackage,
};

/// Returns the topology of these CPUs.
pub fn read(allowed: &[usize]) -> CpuTopology {
    let mut cpus: Vec<Cpu> = allowed.iter().map(|number| Cpu::new(*number)).collect();
    for part in logical_processors() {
        let first = part.ProcessorMask.trailing_zeros() as usize;
        for cpu in cpus.iter_mut().filter(|cpu| part.ProcessorMask >> cpu.number & 1 == 1) {
            #[expect(non_upper_case_globals, reason = "they are Windows' names")]
            match part.Relationship {
                RelationProcessorCore => cpu.core = first,
                RelationProcessorPackage => cpu.socket = first,
                // SAFETY: the entry describes a node.
                RelationNumaNode => cpu.node = unsafe { part.Anonymous.NumaNode.NodeNumber } as usize,
                // SAFETY: the entry describes a cache.
                RelationCache => match unsafe { part.Anonymous.Cache.Level } {
                    2 => cpu.l2 = Some(first),
                    3 => cpu.l3 = Some(first),
                    _ => {}
                },
                _ => {}
            }
        }
    }
    CpuTopology::new(cpus)
}
