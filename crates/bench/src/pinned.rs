//! Small measurements in processes of their own, each pinned to a processor, that leave figures on a page.

use furlong_os::AsHandle;
use furlong_os::affinity;
use furlong_os::memory::{Region, page_bytes};
use furlong_os::process::{Bond, fork};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The longest to wait for all processes, in milliseconds.
const PATIENCE_MS: u64 = 2_000;

/// What the processes have left, by index.
#[derive(Debug)]
pub(crate) struct Figures(Region);

impl Figures {
    /// Leaves a figure under an index below 512.
    pub(crate) fn leave(&self, index: usize, figure: f64) {
        // Zeroes mean that nothing was left.
        self.0.double_word(index * 8).store(figure.to_bits().wrapping_add(1), Ordering::Release);
    }

    /// The figure under an index, if one was left.
    pub(crate) fn get(&self, index: usize) -> Option<f64> {
        let bits = self.0.double_word(index * 8).load(Ordering::Acquire);
        bits.checked_sub(1).map(f64::from_bits)
    }
}

/// What one process does.
pub(crate) type Body<'a> = Box<dyn FnOnce(&Figures) + 'a>;

/// Runs each body in a process of its own on its processor, all at the same time, and gives what they left. One
/// that does not come to an end in time is killed.
///
/// # Errors
/// If no process could be started.
pub(crate) fn measure(bodies: Vec<(usize, Body<'_>)>) -> io::Result<Arc<Figures>> {
    let figures = Arc::new(Figures(Region::anonymous(page_bytes())?));
    let start = |(processor, body): (usize, Body<'_>)| {
        let figures = Arc::clone(&figures);
        fork(&[], io::stderr().as_handle(), Bond::DiesWithParent, move || {
            let pinned = affinity::pin(processor).is_ok();
            if pinned {
                body(&figures);
            }
            i32::from(!pinned)
        })
    };
    let mut children = bodies.into_iter().map(start).collect::<io::Result<Vec<_>>>()?;
    for child in &mut children {
        // One that was stopped is killed when it is dropped.
        child.wait_at_most(PATIENCE_MS);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_leaves_its_figures_and_none_it_did_not_measure() {
        let processor = affinity::allowed().unwrap()[0];
        let bodies: Vec<(usize, Body<'_>)> = vec![
            (processor, Box::new(|figures| figures.leave(0, 0.0))),
            (processor, Box::new(|figures| figures.leave(1, -1.5))),
        ];
        let figures = measure(bodies).unwrap();
        assert_eq!([figures.get(0), figures.get(1), figures.get(2)], [Some(0.0), Some(-1.5), None]);
    }
}
