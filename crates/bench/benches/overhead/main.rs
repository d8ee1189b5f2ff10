//! The overhead of furlong's loop, compared with a loop written by hand.
//!
//! For each benchmark, both loops run in turn on the same CPUs with messages of the same size. The ratio is computed
//! within each pair: 1.00 means that the harness costs nothing. The last line compares shared memory with the bare
//! transfer of a cache line. In cross-core comparisons, both CPUs are kept from halting. Run it with `cargo bench -p
//! furlong-bench --bench overhead`, or add `-- pipe` for the benchmarks of one mechanism.

mod awake;
mod by_hand;

use awake::IdlePreventer;
use by_hand::Hand;
use furlong_bench::registry::find;
use furlong_bench::session::{Options, Session, enter_private_namespace};
use furlong_bench::trial::{MessageExchange, Settings, TrialContext};
use furlong_bench::{
    ChildProgram, MechanismEntry, bare_pair, child_main, placement, registry, requested_child,
};
use furlong_model::{Case, ChildStart, Outcome, Pattern, Placement, Wait, format_ns};
use furlong_stats::{median, median_interval};
use std::process::ExitCode;
use std::time::Duration;

/// The number of pairs of trials per benchmark.
const PAIRS: u32 = 21;

/// The time for each trial of a pair.
const BUDGET: Duration = Duration::from_millis(30);

/// The message size, in bytes.
const SIZE_BYTES: usize = 128;

/// The size of the messages that are compared with a cache line, in bytes.
const LINE_BYTES: usize = 8;

/// The benchmarks, each with the equivalent loop written by hand.
const ROWS: [(&str, Wait, Hand); 6] = [
    ("pipe", Wait::Block, Hand::Pipe),
    ("unix-stream", Wait::Block, Hand::UnixStream),
    ("posix-mq", Wait::Block, Hand::PosixMq),
    ("tcp", Wait::Block, Hand::Tcp),
    ("posix-shm", Wait::Futex, Hand::SharedMemory { sleeping: true }),
    ("posix-shm", Wait::Spin, Hand::SharedMemory { sleeping: false }),
];

fn main() -> ExitCode {
    if let Some(control) = requested_child() {
        return ExitCode::from(child_main(registry, control) as u8);
    }
    match compare_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("overhead: {error}");
            ExitCode::FAILURE
        }
    }
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn compare_all() -> Result<()> {
    let _ = enter_private_namespace();
    let program = ChildProgram::own()?;
    let session = Session::open(Options { program, file_folder: None, handle_signals: false })?;
    let settings = Settings { budget: BUDGET, ..Settings::default() };
    let bench = Bench { mechanisms: registry(), session, settings };

    println!(
        "{SIZE_BYTES}-byte messages, {PAIRS} pairs of {} ms, ratio with 95 % interval; two cores are kept from halting",
        BUDGET.as_millis()
    );
    println!("{:<18} {:<10}  {:>9}  {:>9}  ratio", "row", "placement", "furlong", "by hand");
    // The argument of the user is the first without dashes, because Cargo adds `--bench`.
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let is_asked = |name: &str| asked.as_deref().is_none_or(|asked| asked == name);
    let rows = || ROWS.into_iter().filter(|(name, ..)| is_asked(name));
    for (mechanism, wait, hand) in rows() {
        for place in [Placement::SameCore, Placement::OtherCore] {
            // On one core, a process that busy-waits uses up its time slice before the other process can run.
            if wait == Wait::Spin && place == Placement::SameCore {
                continue;
            }
            bench.against_hand(mechanism, wait, hand, place, SIZE_BYTES)?;
        }
    }
    println!("\n{SIZE_BYTES}-byte messages one way");
    for (mechanism, wait, hand) in rows().filter(|row| matches!(row.2, Hand::Pipe | Hand::UnixStream)) {
        for place in [Placement::SameCore, Placement::OtherCore] {
            bench.against_stream(mechanism, wait, hand, place)?;
        }
    }
    if is_asked("posix-shm") { bench.against_bare_line() } else { Ok(()) }
}

struct Bench {
    mechanisms: Vec<MechanismEntry>,
    session: Session,
    settings: Settings,
}

impl Bench {
    /// Returns the mean time of one trial per round trip or one-way message, in nanoseconds, and their number.
    fn furlong(&self, case: &Case) -> Result<(f64, u64)> {
        let entry = find(&self.mechanisms, &case.mechanism, case.wait).ok_or("no such row")?;
        let processors = placement::pinned(self.session.cpus(), case.placement, &case.all_parties())?;
        let work = MessageExchange {
            peer: None,
            mechanisms: &self.mechanisms,
            entry,
            request_carrier: None,
            case,
            child: ChildStart::default(),
        };
        let outcome = TrialContext { work, processors, session: &self.session }.run(&self.settings);
        match outcome.map_err(|_| "interrupted")? {
            Outcome::Measured(measured) => {
                Ok((measured.elapsed_ns as f64 / measured.round_trips as f64, measured.round_trips))
            }
            other => Err(format!("{case}: {other:?}").into()),
        }
    }

    fn against_hand(
        &self,
        mechanism: &str,
        wait: Wait,
        hand: Hand,
        place: Placement,
        size_bytes: usize,
    ) -> Result<()> {
        let processors = placement::resolve(place)?;
        let _awake = awake(place, processors)?;
        let case = Case::round_trip(mechanism, wait, size_bytes, place);
        // The loop by hand makes as many round trips as furlong makes in its time budget.
        let (_, round_trips) = self.furlong(&case)?;
        let by_hand = || by_hand::round_trip_ns(hand, size_bytes, round_trips, processors);
        print(&case.row(), place, &pairs(|| Ok(self.furlong(&case)?.0), || Ok(by_hand()?))?);
        Ok(())
    }

    fn against_stream(&self, mechanism: &str, wait: Wait, hand: Hand, place: Placement) -> Result<()> {
        let processors = placement::resolve(place)?;
        let _awake = awake(place, processors)?;
        let case = Case::round_trip(mechanism, wait, SIZE_BYTES, place).with_pattern(Pattern::OneWay);
        let (_, messages) = self.furlong(&case)?;
        let by_hand = || by_hand::message_ns(hand, SIZE_BYTES, messages, processors);
        print(&case.row(), place, &pairs(|| Ok(self.furlong(&case)?.0), || Ok(by_hand()?))?);
        Ok(())
    }

    fn against_bare_line(&self) -> Result<()> {
        const TRIES: usize = 5;
        let [first, second] = placement::resolve(Placement::OtherCore)?;
        let bare = || {
            let mut figures =
                (0..TRIES).map(|_| bare_pair::round_trip_ns(self.session.program(), [first, second]));
            figures.find_map(|figure| figure.transpose()).ok_or("the cores were busy")?.map_err(Into::into)
        };
        let case = Case::round_trip("posix-shm", Wait::Spin, LINE_BYTES, Placement::OtherCore);
        let ours = || Ok(self.furlong(&case)?.0);
        println!(
            "\n{LINE_BYTES}-byte messages, then against the bare transfer of a cache line there and back"
        );
        let hand = Hand::SharedMemory { sleeping: false };
        self.against_hand("posix-shm", Wait::Spin, hand, Placement::OtherCore, LINE_BYTES)?;
        print("posix-shm/spin", Placement::OtherCore, &pairs(ours, bare)?);
        Ok(())
    }
}

/// Keeps both CPUs from halting if there are two. On one core the two processes never sleep at once, so it does not
/// halt.
fn awake(place: Placement, processors: [usize; 2]) -> Result<Option<IdlePreventer>> {
    Ok((place == Placement::OtherCore).then(|| IdlePreventer::on(processors)).transpose()?)
}

/// Returns the times of both loops, which run in turn. The order changes with every pair.
fn pairs(ours: impl Fn() -> Result<f64>, theirs: impl Fn() -> Result<f64>) -> Result<Vec<(f64, f64)>> {
    (0..PAIRS)
        .map(|pair| {
            if pair.is_multiple_of(2) {
                let first = ours()?;
                Ok((first, theirs()?))
            } else {
                let first = theirs()?;
                Ok((ours()?, first))
            }
        })
        .collect()
}

fn print(row: &str, place: Placement, pairs: &[(f64, f64)]) {
    let ratios: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours / theirs).collect();
    let of = |values: Vec<f64>| median(&values).unwrap_or(f64::NAN);
    let [low, high] = median_interval(&ratios).unwrap_or([f64::NAN; 2]);
    println!(
        "{row:<18} {place:<10}  {:>9}  {:>9}  {:.3} ({low:.3} to {high:.3})",
        format_ns(of(pairs.iter().map(|pair| pair.0).collect())),
        format_ns(of(pairs.iter().map(|pair| pair.1).collect())),
        of(ratios),
    );
}
