//! Fuzz targets: each calls one reader of files or of a protocol, and checks the values that it accepts. The variable
//! `FURLONG_FUZZ` names the target. If it is not set, the program prints the names of all targets.
#![no_main]

mod checks;
mod files;
mod protocols;
mod runs;
use furlong_testing::damage::damaged;
use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::sync::LazyLock;

/// A reader with its checks.
type Target = fn(&[u8]);

/// Targets by name. The inputs of a target are in the directory of its name in `corpus`; `run-printed` also uses those of `run`.
const TARGETS: [(&str, Target); 17] = [
    ("run", runs::read),
    ("run-printed", runs::print),
    ("run-compared", runs::compare),
    ("experiment", files::experiment),
    ("workload", files::workload),
    ("manifest", files::manifest),
    ("answers", files::answers),
    ("journal", files::journal),
    ("words", files::words),
    ("trace", files::trace),
    ("adapter-lines", protocols::adapter),
    ("peer-lines", protocols::peer),
    ("program-lines", protocols::own_programs),
    ("greeting", protocols::greeting),
    ("broadcast", protocols::broadcast),
    ("inbox", protocols::inbox),
    ("http", protocols::http),
];

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FURLONG_FUZZ").unwrap_or_default();
    let found = TARGETS.iter().find(|(other, _)| *other == name);
    let Some((_, target)) = found else {
        println!("{}", TARGETS.map(|(name, _)| name).join("\n"));
        std::process::exit(0);
    };
    *target
});

fuzz_target!(init: LazyLock::force(&TARGET), |data: &[u8]| TARGET(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // libFuzzer changes bytes, so most results are not valid JSON, TOML or requests. These damages keep the text valid.
    if seed % 2 == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let damaged = damaged(&data[..size], seed.into());
    if damaged.len() > max_size.min(data.len()).min(2 * size + 1000) {
        // Long inputs are slow, and the hostile files already cover them.
        return fuzzer_mutate(data, size, max_size);
    }
    let size = damaged.len();
    data[..size].copy_from_slice(&damaged[..size]);
    size
});

fuzz_crossover!(|data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
    // Lines of the second text are inserted between those of the first text, or replace them.
    let mut random = fastrand::Rng::with_seed(seed.into());
    let mut others = data2.split_inclusive(|byte| *byte == b'\n');
    let mut mixed = Vec::new();
    for line in data1.split_inclusive(|byte| *byte == b'\n') {
        let other = others.next().filter(|_| random.usize(..3) == 0);
        if other.is_none() || random.bool() {
            mixed.extend_from_slice(line);
        }
        mixed.extend_from_slice(other.unwrap_or_default());
    }
    let size = mixed.len().min(out.len());
    out[..size].copy_from_slice(&mixed[..size]);
    size
});
