//! Options of `furlong run`.

use super::arrival::{AskedArrival, TraceReplayOptions};
use super::chart::ChartOptions;
use super::conditions::ConditionOptions;
use super::shared::{
    BENCHMARKS, CaseOptions, CommonOptions, EXIT_STATUS, Format, OUTPUT, PRECISION, PatternOptions,
    ProgramOptions, SavingOptions, TOPOLOGY, WORKLOAD,
};
use clap::Args;
use clap::builder::TypedValueParser;
use furlong_bench::peer::PeerAddress;
use furlong_bench::plan::{Plan, Repetitions};
use furlong_console::exit::Usage;
use furlong_model::{
    Arrival, ArrivalProcess, Counts, ExchangeOptions, FanOutOptions, Pauses, Percent, Placement, Rates, Slo,
    Time, Windows, one,
};
use furlong_stats::{FEWEST_FIRST_TRIALS, distinct};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

const RUN_EXAMPLES: &str =
    "A benchmark is MECHANISM/WAIT, such as pipe/block. A mechanism alone has its default wait strategy. A glob matches several.

Examples:
  furlong run                                    every mechanism with its default wait strategy
  furlong run posix-shm/spin pipe/spin           two benchmarks that busy-wait
  furlong run 'unix-*' tcp -s 128 -s 64KiB       UNIX sockets and TCP, two sizes
  furlong run --wait spin --place 0:1            every mechanism that can busy-wait, on CPUs 0 and 1
  furlong run '*-shm/*' --place same-core        shared memory with every wait strategy, on one core
  furlong run pipe tcp --rate 1k/s               fixed rate: latency includes the delay behind a stall
  furlong run pipe tcp --rate 1k/s..1M/s:x4      sweep of rates
  furlong run pipe posix-shm --think-time 1ms    a pause before each message
  furlong run pipe tcp --window 1..64:x4         1, 4, 16 and 64 round trips in flight, side by side
  furlong run pipe posix-shm --pairs 1..8        1, 2, 4 and 8 pairs in parallel
  furlong run pipe --pairs 8 --rate 10k/s --place same-core --watch --within 1min --save busy
                                                 8 pairs on one core for a minute, 10,000 messages per second each
  furlong run pipe posix-shm -m fan-out --receivers 4
                                                 each message to all of four receivers
  furlong run pipe posix-shm -m fan-out --receivers 4 --stall 1
                                                 throughput of three receivers while the first sleeps
  furlong run -m fan-in --senders 4              four senders to one receiver, over one link
  furlong run unix-stream -m fan-in --senders 20 --receivers 20 --pairs 10
                                                 10 groups, in each 20 senders to all of 20 receivers, as in hackbench
  furlong run -m work --workers 1..8             each message to one of 1, 2, 4 and 8 workers, over one link
  furlong run pipe unix-stream -m ready --links 1..1024:x4
                                                 wait for one of 1, 4, 16 … links: select, poll, epoll, io_uring
  furlong run pipe unix-stream -m one-way -s 64..1MiB:x4
                                                 throughput of a stream, over a sweep of sizes
  furlong run pipe posix-shm -m request --request 1 --response 256KiB
                                                 small requests, large responses
  furlong run pipe tcp -m connect                create, use once and remove a link for each message
  furlong run pipe -m one-way -s 64KiB --pipe-size 64KiB..1MiB:x4
                                                 four sizes of the pipe, side by side
  furlong run pipe --sched other --sched fifo:50
                                                 two scheduling policies of both roles, side by side
  furlong run --program './serve' --program './ask' pipe
                                                 your server and client, which print 'ready' and 'done 1000'
  furlong run --program './client'               your program, which starts its own server
  furlong run tcp udp --peer ssh://node-7        between this host and another host
  furlong run tcp -m one-way --peer command:sh --peer-address 127.0.0.1
                                                 over any command that runs a shell there; here on this host
  furlong run tcp unix-stream --boundary netns   between two network namespaces of this machine
  furlong run pipe --chart always                charts of the ranking and of the slowest round trips
  furlong run pipe tcp --within 1min             until both medians are within ±5 %, for a minute at most
  furlong run pipe tcp --across 3                three times, 10 s apart: differences between runs
  furlong run pipe --watch                       repeatedly, with a chart over time, until Ctrl-C
  furlong run pipe --self-check                  does a benchmark tie with itself here?
  furlong run pipe --format json                 one JSON object";

/// Options of `furlong run`.
#[derive(Debug, Clone, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunOptions {
    #[command(flatten)]
    pub cases: CaseOptions,
    #[command(flatten)]
    pub programs: ProgramOptions,
    #[command(flatten)]
    pub pattern: PatternOptions,
    #[command(flatten)]
    pub conditions: ConditionOptions,
    /// Send at a fixed rate, such as 10k/s, or a sweep such as 1k/s..1M/s:x2. Each pair sends at this rate. Round trips have one message in flight, or up to
    /// N with --window N. The latency of a delayed message counts from its due time, which corrects for coordinated omission. Can be repeated
    #[arg(long = "rate", value_name = "RATE", help_heading = WORKLOAD, group = "pace", conflicts_with = "think_times", allow_hyphen_values = true)]
    pub rates: Vec<Rates>,
    /// Vary --rate: poisson, burst:N, on-off:ON,OFF, trace:FILE [default: fixed]. burst:16 sends 16 messages at
    /// once. on-off:10ms,40ms sends all messages of 50ms in the first 10ms. trace:FILE replays the times and sizes of a trace,
    /// without --rate. Can be repeated
    #[arg(long, value_name = "PROCESS", help_heading = WORKLOAD)]
    pub arrival: Vec<AskedArrival>,
    #[command(flatten)]
    pub replay: TraceReplayOptions,
    /// Find the highest rate that keeps an objective, such as 'p99<100us'. It is printed with its 95 % interval. Each benchmark is first measured at its
    /// full rate, and then at rates that its earlier trials select, until the interval is within ±5 % or the time of --within is over
    /// [default: 2min]
    #[arg(long, value_name = "SLO", help_heading = WORKLOAD, group = "pace",
        conflicts_with_all = ["think_times", "watch", "self_check", "across", "precision", "count"])]
    pub find_rate: Option<Slo>,
    /// Pause for TIME after each response [default: 0], or a sweep 1us..1ms:x10. Can be repeated: every
    /// time becomes a benchmark
    #[arg(long = "think-time", alias = "gap", help_heading = WORKLOAD, value_name = "TIME", allow_hyphen_values = true)]
    pub think_times: Vec<Pauses>,
    /// Keep N messages in flight [default: 1], or a sweep such as 1..64:x4. Each is timed from its send to its response. With --rate: send
    /// messages when they are due, while fewer than N are in flight (open loop). Can be repeated: every number becomes a benchmark
    #[arg(long = "window", help_heading = WORKLOAD, value_name = "N", allow_hyphen_values = true)]
    pub windows: Vec<Windows>,
    /// Run N pairs of processes in parallel, and compare with one. Groups with -m fan-in. A number, or a sweep such as 1..64:x2
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub pairs: Counts,
    /// Number of receivers of -m fan-out [default: 2]. A number, or a sweep such as 1..16:x2. With -m fan-in, the receivers of each
    /// group [default: 1]
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", allow_hyphen_values = true)]
    pub receivers: Option<Counts>,
    /// Put receiver N of -m fan-out to sleep, and measure the others
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..).try_map(NonZeroU32::try_from))]
    pub stall: Option<NonZeroU32>,
    /// Number of senders of -m fan-in [default: 2], in each group. A number, or a sweep
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", allow_hyphen_values = true)]
    pub senders: Option<Counts>,
    /// Number of workers of -m work [default: 2]. A number, or a sweep
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", allow_hyphen_values = true)]
    pub workers: Option<Counts>,
    /// Number of links of -m ready [default: 2]. A number, or a sweep such as 1..4096:x4. One link carries each message
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", allow_hyphen_values = true)]
    pub links: Option<Counts>,
    /// Run the responder on ssh://USER@HOST:PORT or command:COMMAND. ssh must log in without a prompt. COMMAND must
    /// run a shell on the other host. furlong copies itself there for the run if this version is missing. Without names, every
    /// benchmark that reaches another host runs
    #[arg(long, help_heading = TOPOLOGY, value_name = "PEER", conflicts_with_all = ["count", "places", "boundary"])]
    pub peer: Option<PeerAddress>,
    /// Address on which the responder of --peer listens [default: the address that ssh has used]
    #[arg(long, hide_short_help = true, help_heading = TOPOLOGY, value_name = "ADDRESS", requires = "peer")]
    pub peer_address: Option<IpAddr>,
    #[command(flatten)]
    pub precision: PrecisionOptions,
    /// Measured time of a trial [default: 40ms]. With --rate or --think-time: 100 messages, at most 1s. With several pairs,
    /// receivers, senders, workers or links: 100ms, and up to 2s if not all of them ran in parallel. With --quota: at least
    /// 500ms
    #[arg(long, help_heading = PRECISION, value_name = "TIME", allow_hyphen_values = true)]
    pub budget: Option<Time>,
    /// Warm up each trial for TIME or more [default: until steady]. The default is at most 60ms. For programs that compile while they run, the
    /// default is until they become no faster for a second, at most 5s
    #[arg(long, help_heading = PRECISION, value_name = "TIME", allow_hyphen_values = true)]
    pub warm_up: Option<Time>,
    /// Count the system calls of round trips too, in a separate pass
    #[arg(long, help_heading = BENCHMARKS)]
    pub count: bool,
    /// Repeat until Ctrl-C or the end of --within, and draw each trial over time
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["count", "self_check", "trials", "precision", "across"])]
    pub watch: bool,
    /// Compare each benchmark with itself under two names, which must tie
    #[arg(long, help_heading = BENCHMARKS, conflicts_with_all = ["count", "require", "precision", "within", "across"])]
    pub self_check: bool,
    /// Number of comparisons of --self-check
    #[arg(long, hide_short_help = true, help_heading = BENCHMARKS, value_name = "N", default_value_t = 20, requires = "self_check", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub repeats: u32,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Output format
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    #[command(flatten)]
    pub chart: ChartOptions,
    #[command(flatten)]
    pub saving: SavingOptions,
    /// Exit with status 7 if any of the benchmarks cannot run here
    #[arg(long, help_heading = EXIT_STATUS)]
    pub require: bool,
    /// Exit with status 5 if the machine was too noisy
    #[arg(long, help_heading = EXIT_STATUS)]
    pub strict: bool,
}

impl RunOptions {
    /// Returns the paces at which messages are sent, except for traces: each once, and at least one.
    pub fn arrivals(&self) -> Vec<Arrival> {
        let pauses = self.think_times.iter().flat_map(|times| &times.0);
        let pauses = pauses.map(|time| Arrival::with_think_time(time.as_nanos() as u64));
        let rates = self.rates.iter().flat_map(|rates| &rates.0).map(|rate| rate.interval_ns());
        let process = |arrival: &AskedArrival| match arrival {
            AskedArrival::Process(process) => Some(*process),
            AskedArrival::Trace(_) => None,
        };
        let mut processes: Vec<_> = self.arrival.iter().filter_map(process).collect();
        if processes.is_empty() {
            processes.push(ArrivalProcess::FIXED);
        }
        let processes = &processes;
        let due = rates.flat_map(|interval_ns| processes.iter().map(move |process| process.at(interval_ns)));
        let mut arrivals = Vec::new();
        for arrival in pauses.chain(due) {
            if !arrivals.contains(&arrival) {
                arrivals.push(arrival);
            }
        }
        if arrivals.is_empty() { vec![Arrival::ClosedLoop] } else { arrivals }
    }

    /// Returns the options that depend on the pattern.
    pub fn exchange_options(&self) -> ExchangeOptions {
        let PatternOptions { pattern, request, response, request_by, .. } = &self.pattern;
        let numbers = |given: &Option<Counts>| given.as_ref().map(|given| given.0.clone());
        ExchangeOptions {
            pattern: *pattern,
            arrivals: self.arrivals(),
            windows: if self.windows.is_empty() {
                vec![one()]
            } else {
                distinct(self.windows.iter().flat_map(|windows| windows.0.clone()))
            },
            request_bytes: request.map(|size| size.0),
            request_by: request_by.clone(),
            has_responses: !response.is_empty(),
            pairs: self.pairs.0.clone(),
            parties: [
                ("--receivers", numbers(&self.receivers)),
                ("--senders", numbers(&self.senders)),
                ("--workers", numbers(&self.workers)),
                ("--links", numbers(&self.links)),
            ],
            fan_out: FanOutOptions { stall: self.stall },
            placements: self
                .peer
                .as_ref()
                .map_or_else(|| self.cases.places.clone(), |_| vec![Placement::OtherHost]),
            counts_calls: self.count,
        }
    }
}

/// Numbers and times of trials.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = PRECISION)]
pub struct PrecisionOptions {
    /// Number of trials, or with --precision the minimum [default: 9]. Trials of all benchmarks are interleaved
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    trials: Option<u32>,
    /// Add trials until each median is within ±PERCENT [default: 5%]. With --trials alone, none are added
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    precision: Option<Percent>,
    /// Repeat the whole run N times. The interval of a median then includes the medians of all repetitions
    #[arg(long, value_name = "N", conflicts_with_all = ["precision", "within"], allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(2..=100))]
    across: Option<u32>,
    /// Time between two repetitions of --across
    #[arg(
        long,
        hide_short_help = true,
        value_name = "TIME",
        default_value = "10s",
        requires = "across",
        allow_hyphen_values = true
    )]
    apart: Time,
    /// Longest time of all trials together. The last trial is completed. By default, all first trials run, and further trials take no
    /// longer than the first ones. With several pairs, receivers, senders or workers: 40 s, and at least three trials of each benchmark
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    within: Option<Time>,
}

impl PrecisionOptions {
    /// First trials of a row where the number is not given.
    const TRIALS: u32 = 9;
    /// How certain a median is to be where nothing is said.
    const PRECISION: f64 = 0.05;

    /// The longest time in which nothing is measured.
    pub fn longest_pause(&self) -> Duration {
        self.across.map_or(Duration::ZERO, |_| self.apart.0)
    }

    /// What was asked for, in a plan. A self-check compares copies with the same number of trials.
    ///
    /// # Errors
    /// Too few first trials for a precision.
    pub fn apply(&self, plan: Plan) -> Result<Plan, Usage> {
        let trials = self.trials.unwrap_or(Self::TRIALS);
        let precision = match (self.precision, self.trials) {
            _ if plan.self_check.is_some() || self.across.is_some() => None,
            (Some(_), Some(few)) if few < FEWEST_FIRST_TRIALS => {
                let why = format!(
                    "--precision needs --trials {FEWEST_FIRST_TRIALS} or more: fewer do not say how far trials differ"
                );
                return Err(Usage(why));
            }
            (Some(precision), _) => Some(precision.share()),
            (None, Some(_)) => None,
            (None, None) => Some(Self::PRECISION),
        };
        let across = self.across.map(|repetitions| Repetitions { repetitions, apart: self.apart.0 });
        Ok(Plan { trials, precision, across, within: self.within.map(|time| time.0), ..plan })
    }
}
