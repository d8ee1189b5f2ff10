//! Recording of the times of a loop. The loops pass times on while a message is in flight, so this code need not be inlined: it
//! is compiled once for all of them.

use crate::messages::LoopResult;
use crate::role_error::{RoleError, step};
use crate::size_sequence::SizeSequence;
use crate::steady::SteadyPace;
use furlong_model::{Fault, Measurement, OpenLoop, Phase, SizeClass, Stall, TimerLateness};
use furlong_stats::{Distribution, HistogramError, HistogramRange, HistogramRecorder, encode_histogram};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Range of the histograms: 1 ns to 1 minute. A longer sample counts as 1 minute.
const RANGE: HistogramRange = HistogramRange { lowest: 1, highest: 60_000_000_000, digits: 3 };

/// Measurements of the role that holds the clock.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Timing {
    /// Round trips that were timed.
    pub round_trips: u64,
    /// Start of the timed part, in nanoseconds of the clock that all processes read.
    pub began_ns: u64,
    /// Duration of the timed part, in nanoseconds.
    pub elapsed_ns: u64,
    /// Round trips per reading of the clock.
    pub round_trips_per_sample: u32,
    /// Messages that were sent later than they were due.
    pub late_sends: u64,
    /// Lateness caused by the sender's timer; see [`Measurement::timer_late`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_late: Option<TimerLateness>,
    /// Ages of the messages in flight; see [`Measurement::outstanding_ns`].
    pub outstanding_ns: Option<[u64; 2]>,
    /// Messages in flight in an open loop; see [`Measurement::open_loop`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_loop: Option<OpenLoop>,
    /// Times of samples: HdrHistogram V2 with deflate, in base64.
    pub histogram: String,
    /// Times until the first and the median receiver had a message; see [`Measurement::reached`].
    pub reached: Option<[String; 2]>,
    /// Messages lost in the timed part; `None` if none can be lost.
    pub lost: Option<u64>,
    /// Messages that were retransmitted because they were not answered; `None` if the channel does not retransmit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_again: Option<u64>,
    /// Throughput around the stall, for the receiver that slept; see [`Measurement::stall`].
    pub stall: Option<Stall>,
    /// Times of messages of each size; see [`Measurement::size_classes`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub size_classes: Vec<SizeClass>,
}

impl Timing {
    /// Returns a measurement that contains only these times.
    pub fn measurement(self) -> Measurement {
        Measurement {
            round_trips: self.round_trips,
            elapsed_ns: self.elapsed_ns,
            round_trips_per_sample: self.round_trips_per_sample,
            histogram: self.histogram,
            late_sends: self.late_sends,
            timer_late: self.timer_late,
            outstanding_ns: self.outstanding_ns,
            open_loop: self.open_loop,
            verified_messages: 0,
            effective: BTreeMap::new(),
            depth: None,
            roles: Vec::new(),
            reached: self.reached,
            stall: self.stall,
            size_classes: self.size_classes,
            lost: self.lost,
            sent_again: self.sent_again,
            parts: Vec::new(),
            others: Vec::new(),
            adapter: None,
            warm_up: None,
            programs: None,
            ran_on: Vec::new(),
            environment: None,
        }
    }
}

/// Destination of the times of a loop, and the number of messages after which the loop ends.
pub struct Recorder {
    times: Times,
    /// Round trips, or messages one way, that are done or in flight.
    counted: u64,
    most: u64,
    classes: Option<ClassTimes>,
}

/// Times of the messages of each size.
struct ClassTimes {
    sizes: SizeSequence,
    /// Number of the next message that is recorded.
    number: u64,
    times: Vec<HistogramRecorder>,
}

/// Representation of the recorded times.
enum Times {
    /// Only the number of round trips.
    Number,
    /// The pace. If `ends_when_steady` is set, the loop ends as soon as the pace is steady.
    Pace { steady: SteadyPace, ends_when_steady: bool },
    /// All times.
    Histogram(Samples),
}

/// Recorded times.
struct Samples {
    histogram: HistogramRecorder,
    round_trips: u64,
    /// Samples with an end before their beginning, because the clock went back.
    went_back: u64,
}

impl Recorder {
    /// Creates a recorder that only counts. It ends a loop after `most` messages, `under_way` of which are sent before the
    /// first time is recorded.
    pub fn counting(under_way: u32, most: Option<u64>) -> Recorder {
        Recorder {
            times: Times::Number,
            counted: under_way.into(),
            most: most.unwrap_or(u64::MAX),
            classes: None,
        }
    }

    /// Creates a recorder of the pace of a loop. If `ends_when_steady` is set, it ends the loop as soon as the pace is steady.
    pub fn for_pace(ends_when_steady: bool) -> Recorder {
        let times = Times::Pace { steady: SteadyPace::default(), ends_when_steady };
        Recorder { times, ..Recorder::counting(0, None) }
    }

    /// Creates a recorder of all times, which ends a loop after `most` messages like [`Recorder::counting`].
    pub fn for_samples(under_way: u32, most: Option<u64>) -> Result<Recorder, RoleError> {
        let histogram = step(Phase::Timed, "make a histogram", HistogramRecorder::new(RANGE))?;
        let times = Times::Histogram(Samples { histogram, round_trips: 0, went_back: 0 });
        Ok(Recorder { times, ..Recorder::counting(under_way, most) })
    }

    /// Records the times of each size too. The first recorded message has the number `first`, and all others follow in order.
    pub fn by_size(self, sizes: SizeSequence, first: u64) -> Result<Recorder, RoleError> {
        let times = sizes.classes().map(|_| HistogramRecorder::new(RANGE)).collect::<Result<Vec<_>, _>>();
        let times = step(Phase::Timed, "make a histogram per size", times)?;
        Ok(Recorder { classes: Some(ClassTimes { sizes, number: first, times }), ..self })
    }

    /// Records the time of this number of round trips, or messages one way, and returns whether the loop goes on. A negative
    /// time has wrapped around.
    #[inline(never)]
    pub fn keep(&mut self, sample_ns: u64, round_trips: u32) -> bool {
        self.counted += u64::from(round_trips);
        match &mut self.times {
            Times::Number => {}
            Times::Pace { steady, ends_when_steady } => {
                if steady.after(sample_ns) && *ends_when_steady {
                    return false;
                }
            }
            Times::Histogram(samples) => samples.keep(sample_ns, round_trips),
        }
        if let Some(ClassTimes { sizes, number, times }) = &mut self.classes {
            times[sizes.class(*number)].record(sample_ns.max(1));
            *number += 1;
        }
        self.counted < self.most
    }

    /// Returns the best pace of the last windows, in nanoseconds per round trip; `None` if the observation was too short.
    pub fn pace_ns(&self) -> Option<f64> {
        match &self.times {
            Times::Pace { steady, .. } => steady.pace_ns(),
            _ => None,
        }
    }

    /// Returns the times of a loop with the result `result`, if they were recorded.
    pub fn timing(self, result: &LoopResult, per_sample: u32) -> Result<Option<Timing>, RoleError> {
        let Times::Histogram(Samples { histogram, round_trips, went_back }) = self.times else {
            return Ok(None);
        };
        if went_back > 0 {
            let what = format!("the monotonic clock went back {went_back} times");
            return Err(RoleError::new(Fault::Error, what).at(Phase::Timed));
        }
        let size_classes = self.classes.map_or_else(Vec::new, |ClassTimes { sizes, times, .. }| {
            let class = |(size_bytes, times): (usize, HistogramRecorder)| SizeClass {
                size_bytes,
                histogram: times.encode(),
            };
            sizes.classes().zip(times).filter(|(_, times)| !times.is_empty()).map(class).collect()
        });
        Ok(Some(Timing {
            round_trips,
            began_ns: result.began_ns,
            elapsed_ns: result.elapsed_ns,
            round_trips_per_sample: per_sample,
            late_sends: result.late.map_or(0, |late| late.all),
            timer_late: result.late.map(|late| late.by_timer),
            outstanding_ns: result.outstanding_ns,
            open_loop: result.open_loop,
            histogram: histogram.encode(),
            reached: None,
            lost: result.lost,
            sent_again: None,
            stall: None,
            size_classes,
        }))
    }
}

/// Merges histograms. Each comes with the number of round trips per sample. If these numbers differ, each sample is weighted
/// with its number of round trips.
///
/// # Errors
/// Returns a message if one of the histograms cannot be decoded.
pub fn merged(histograms: &[(&str, u32)]) -> Result<String, String> {
    let each: Result<Vec<_>, _> =
        histograms.iter().map(|(text, batch)| Ok((Distribution::decode(text)?, u64::from(*batch)))).collect();
    let each = each.map_err(|error: HistogramError| error.to_string())?;
    let alike = each.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let counts = each.iter().flat_map(|(times, batch)| {
        let weight = if alike { 1 } else { *batch };
        times.buckets().map(move |(value, count)| (value as u64, count * weight))
    });
    encode_histogram(RANGE, counts).map_err(|error| error.to_string())
}

impl Samples {
    /// Records the mean time of this number of round trips.
    #[inline]
    fn keep(&mut self, sample_ns: u64, round_trips: u32) {
        // The mean is rounded to the nearest nanosecond. 0 is outside the range of the histogram, and batches are long enough
        // to avoid it.
        let round_trips = u64::from(round_trips);
        if sample_ns > i64::MAX as u64 {
            self.went_back += 1;
            return;
        }
        self.round_trips += round_trips;
        self.histogram.record(((sample_ns + round_trips / 2) / round_trips).max(1));
    }
}
/// Returns the timing of samples that another clock took, each of `batch` messages.
pub fn timing_of(times_ns: &[u64], batch: u32) -> Result<Timing, RoleError> {
    recorded(Recorder::for_samples(0, None)?, times_ns, batch)
}

/// Returns the timing of messages that another clock timed, in all and by size. The first one has the number `first`.
pub fn timing_by_size(times_ns: &[u64], sizes: SizeSequence, first: u64) -> Result<Timing, RoleError> {
    recorded(Recorder::for_samples(0, None)?.by_size(sizes, first)?, times_ns, 1)
}

fn recorded(mut recorder: Recorder, times_ns: &[u64], batch: u32) -> Result<Timing, RoleError> {
    for time_ns in times_ns {
        recorder.keep(*time_ns, batch);
    }
    let round_trips = times_ns.len() as u64 * u64::from(batch);
    let result = LoopResult::seen_from_outside(round_trips, times_ns.iter().sum());
    recorder.timing(&result, batch)?.ok_or_else(|| RoleError::new(Fault::Error, "no times were kept"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_went_back_is_no_time() {
        assert!(timing_of(&[7, 0, 9], 1).is_ok());
        let error = timing_of(&[5u64.wrapping_sub(9)], 1).unwrap_err();
        assert_eq!((error.fault, error.phase), (Fault::Error, Some(Phase::Timed)));
        assert_eq!(error.detail, "the monotonic clock went back 1 times");
    }

    #[test]
    fn samples_of_more_round_trips_count_more_where_others_are_of_fewer() {
        let times = |times_ns: &[u64], batch| timing_of(times_ns, batch).unwrap().histogram;
        let counted = |histograms: &[(&str, u32)]| {
            let merged = Distribution::decode(&merged(histograms).unwrap()).unwrap();
            merged.buckets().map(|(_, count)| count).collect::<Vec<_>>()
        };
        let (slow, fast) = (times(&[900], 1), times(&[500, 500], 5));
        assert_eq!(counted(&[(&slow, 1), (&fast, 5)]), [10, 1]);
        assert_eq!(counted(&[(&fast, 5), (&fast, 5)]), [4]);
    }
}
