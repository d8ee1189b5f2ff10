//! `cargo xtask hostile SEED`: damages text between a program and its reader.

use fastrand::Rng;
use furlong_testing::damage::damaged;
use std::io::{self, BufRead, Read, Write};

/// Damages standard input: either the whole text at once, or one of every few lines as they arrive.
///
/// # Errors
/// Returns an error if reading or writing fails.
pub fn filter(seed: u64, by_line: bool) -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    if !by_line {
        let mut text = Vec::new();
        input.read_to_end(&mut text)?;
        return output.write_all(&damaged(&text, seed));
    }
    let mut random = Rng::with_seed(seed);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if random.usize(..4) == 0 {
            line = damaged(&line, random.u64(..));
        }
        output.write_all(&line)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
