//! Estimate of the duration of a replay, from the published figures.

use crate::replay::bytes_per_second;
use furlong_model::{Amount, ExchangeWork, Experiment, Figure, Measure, PublishedFigures, Target, Work};
use std::time::Duration;

/// Start, warm-up and end of a trial.
const AROUND_A_TRIAL_S: f64 = 0.12;
/// Duration of one exchange without a published figure: that of a round trip of a pipe between two cores.
const USUAL_EXCHANGE_S: f64 = 20e-6;
/// Duration of one byte of a bulk transfer, which is written and read once.
const BYTE_S: f64 = 1e-9;
/// Start of one process, which is timed.
const PROCESS_START_S: f64 = 5e-3;

/// Returns about how long the replay of an experiment takes on a machine like that of its publication.
pub fn estimate(experiment: &Experiment) -> Duration {
    let measure = &experiment.measure;
    let of_size = |size_bytes: usize| -> f64 {
        let measured = experiment.rows.iter().filter(|row| row.target.is_some());
        measured
            .map(|row| {
                let published = row.published.iter().find(|figures| figures.size_bytes == size_bytes);
                let is_region = matches!(row.target, Some(Target::Backing(_)));
                AROUND_A_TRIAL_S
                    + if is_region {
                        region_s(measure, size_bytes)
                    } else {
                        trial_s(measure, size_bytes, published)
                    }
            })
            .sum()
    };
    let rows_s: f64 = measure.sizes_bytes.iter().map(|size| of_size(*size)).sum();
    let starts_s = experiment.starts.len() as f64 * PROCESS_START_S;
    Duration::from_secs_f64((rows_s + starts_s) * f64::from(measure.trials))
}

fn region_s(measure: &Measure, size_bytes: usize) -> f64 {
    let Work::Handover { repetitions, .. } = measure.work else { return 0.0 };
    size_bytes as f64 * BYTE_S * f64::from(repetitions)
}

fn trial_s(measure: &Measure, size_bytes: usize, published: Option<&PublishedFigures>) -> f64 {
    let Work::Exchange(exchange) = &measure.work else { return 0.0 };
    let Some(amount) = exchange.trial_amount() else {
        return ExchangeWork::TRIAL_WITHOUT_AMOUNT.as_secs_f64();
    };
    let each_s = published.and_then(|figures| exchange_s(measure, figures)).unwrap_or(USUAL_EXCHANGE_S);
    (each_s * amount.exchanges(size_bytes) as f64).min(Amount::LONGEST_TRIAL.as_secs_f64())
}

/// Returns the published duration of one exchange: a time, otherwise that of its bytes.
fn exchange_s(measure: &Measure, published: &PublishedFigures) -> Option<f64> {
    let figure = |figure: Figure| published.figures.get(&figure).copied().filter(|value| *value > 0.0);
    let times = [Figure::MeanUs, Figure::MedianUs, Figure::MinUs, Figure::P99Us];
    let size_bytes = published.size_bytes;
    let of_bytes = || Some(size_bytes as f64 / bytes_per_second(size_bytes, measure, figure)?);
    times.into_iter().find_map(figure).map(|us| us * 1e-6).or_else(of_bytes)
}

#[cfg(test)]
mod tests {
    use crate::{estimate, published, read_experiment};

    #[test]
    fn published_figures_give_the_duration() {
        let of = |name: &str| {
            let (file, text) = published().iter().find(|(known, _)| *known == name).unwrap();
            estimate(&read_experiment(text, file).unwrap()).as_secs_f64()
        };
        // Nine benchmarks, two sizes and ten trials of 5,000 round trips, most of which take less than 15 us.
        assert!((20.0..60.0).contains(&of("racehorse")), "{}", of("racehorse"));
        for (name, _) in published() {
            let seconds = of(name);
            assert!(seconds > 0.5 && seconds < 1200.0, "{name}: {seconds} s");
        }
    }
}
