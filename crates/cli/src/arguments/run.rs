//! What `furlong run` takes.

use super::chart::ChartOptions;
use super::shared::{CaseOptions, CommonOptions, Format, PatternOptions, ProgramOptions, SavingOptions};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use furlong_bench::peer::PeerAddress;
use furlong_bench::plan::{Across, Plan};
use furlong_console::exit::Usage;
use furlong_model::{
    Arrival, Boundary, Counts, ExchangeOptions, FanOutOptions, Percent, Placement, Rates, Time,
};
use furlong_stats::FEWEST_FIRST_TRIALS;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

/// The most messages that can be asked to be outstanding.
const MOST_OUTSTANDING: i64 = 1_000_000;

/// The boundaries that there can be between roles on one machine, so far.
fn boundary() -> impl TypedValueParser<Value = Boundary> {
    let network = PossibleValue::new(Boundary::NetworkNamespace.name()).alias("netns");
    PossibleValuesParser::new([network]).map(|_| Boundary::NetworkNamespace)
}

const RUN_EXAMPLES: &str =
    "A row is MECHANISM/WAIT, as in pipe/block. A mechanism alone means its usual wait; globs name several.

Examples:
  furlong run                                    every mechanism with its usual wait
  furlong run posix-shm/spin pipe/spin           two rows that wait the same way
  furlong run 'unix-*' tcp -s 128 -s 64KiB       UNIX sockets and TCP, two sizes
  furlong run --wait spin --place 0:1            everything that can spin, on processors 0 and 1
  furlong run '*-shm/*' --place same-core        shared memory with every doorbell, on one core
  furlong run pipe tcp --rate 1k/s               at a fixed rate: what a stall does to the messages behind it
  furlong run pipe tcp --rate 1k/s..1M/s:x4      over a sweep of rates: up to which one their latency stays as it is
  furlong run pipe posix-shm --think-time 1ms    a message after a pause
  furlong run pipe unix-stream --window 8        round trips with 8 messages outstanding
  furlong run pipe posix-shm --pairs 1..8        1, 2, 4 and 8 pairs at once: what they have together, and each
  furlong run pipe posix-shm -m fan-out --receivers 4
                                                 each message to every one of four receivers
  furlong run pipe posix-shm -m fan-out --receivers 4 --stall 1
                                                 the same, and what three receive while the first sleeps
  furlong run -m fan-in --senders 4              from four senders to one receiver, all by one link
  furlong run -m work --workers 1..8             each message to one of 1, 2, 4 and 8 workers, all at one link
  furlong run pipe unix-stream -m ready --links 1..1024:x4
                                                 waiting for one of 1, 4, 16 … links by select, poll, epoll and io_uring
  furlong run pipe unix-stream -m one-way -s 64..1MiB:x4
                                                 throughput of a stream, over a sweep of sizes
  furlong run pipe posix-shm -m request --request 1 --response 256KiB
                                                 a small request and a large response
  furlong run pipe tcp -m connect                a link for each message: made, used once and removed
  furlong run pipe -m one-way -s 64KiB --pipe-size 1MiB
  furlong run --program './serve' --program './ask' pipe
                                                 your own server and client, which print 'ready' and 'done 1000'
  furlong run --program './client'               your own program, which starts its server itself
  furlong run tcp udp --peer ssh://node-7        between this host and another one
  furlong run tcp -m one-way --peer command:sh --peer-address 127.0.0.1
                                                 the same by whatever gives a pipe to a shell there: here one of this host
  furlong run tcp unix-stream --boundary netns   between two network namespaces of this machine
  furlong run pipe --chart always                its ranking and its slowest round trips, drawn
  furlong run pipe tcp --within 1min             until both medians are within ±5 %, or a minute is over
  furlong run pipe tcp --across 3                three times, 10 s apart: what stays the same
  furlong run pipe --watch                       again and again, drawn over time, until Ctrl-C
  furlong run pipe --self-check                  does a row tie with itself here?
  furlong run pipe --format json                 one JSON object, for programs";

/// What `furlong run` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunOptions {
    #[command(flatten)]
    pub cases: CaseOptions,
    #[command(flatten)]
    pub programs: ProgramOptions,
    #[command(flatten)]
    pub pattern: PatternOptions,
    /// Send at a fixed rate, as 10k/s, with one message outstanding: one that is due while another is under way waits, and
    /// its time counts from when it was due (corrected for coordinated omission). Or at each rate of a sweep, such as
    /// 1k/s..1M/s:x2; may be repeated
    #[arg(long = "rate", value_name = "RATE", conflicts_with = "think_time", allow_hyphen_values = true)]
    pub rates: Vec<Rates>,
    /// Wait this long after each response before the next message is sent
    #[arg(long, alias = "gap", value_name = "TIME", allow_hyphen_values = true)]
    pub think_time: Option<Time>,
    /// Keep this many messages outstanding: so many are sent, and then the next one for each response. Each is timed from its
    /// send to its response
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=MOST_OUTSTANDING).try_map(NonZeroU32::try_from))]
    pub window: NonZeroU32,
    /// Let so many pairs do this at the same moment, each with processes and a link of its own, and compare with one pair
    /// alone; a number or a sweep such as 1..64:x2
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub pairs: Counts,
    /// With -m fan-out: so many receivers; a number or a sweep such as 1..16:x2. 2 if not given
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub receivers: Option<Counts>,
    /// With -m fan-out: let the receiver with this number sleep for a while, and say what the others get meanwhile
    #[arg(long, value_name = "RECEIVER", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..).try_map(NonZeroU32::try_from))]
    pub stall: Option<NonZeroU32>,
    /// With -m fan-in: so many senders, all by one link; a number or a sweep. 2 if not given
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub senders: Option<Counts>,
    /// With -m work: so many workers, all at one link; a number or a sweep. 2 if not given
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub workers: Option<Counts>,
    /// With -m ready: so many links, of which one carries each message; a number or a sweep such as 1..4096:x4. 2 if not given
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub links: Option<Counts>,
    /// Run the responder on another host: ssh://HOST or ssh://USER@HOST:PORT (ssh has to come in without a question), or
    /// command:'COMMAND', which gives a pipe to a shell there. furlong is copied there for the run if this version is not there.
    /// Without names of rows, all that reach another host are measured
    #[arg(long, value_name = "PEER", conflicts_with_all = ["count", "places"])]
    pub peer: Option<PeerAddress>,
    /// The address of the other host at which the responder listens, and that this host reaches; if not given, the one by which
    /// ssh has reached it
    #[arg(long, value_name = "ADDRESS", requires = "peer")]
    pub peer_address: Option<IpAddr>,
    /// Put a boundary of this machine between the roles: network-namespace (or netns), a network namespace for each with a virtual
    /// Ethernet pair in between, as between two containers. What does not go by the network is as without it. Needs root or user
    /// namespaces; nothing of the machine's own network is touched
    #[arg(long, value_name = "BOUNDARY", value_parser = boundary(), conflicts_with = "peer")]
    pub boundary: Option<Boundary>,
    #[command(flatten)]
    pub precision: PrecisionOptions,
    /// Time measured in each trial: 40ms if not given; at a pace, time for 100 messages, but not above 1s; of several, 100ms, and up to 2s where not all were measured at the same moment
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub budget: Option<Time>,
    /// Warm each trial up for at least this long [default: until its pace is steady, at most 60ms; programs that compile while they
    /// run: until they become no faster for a second, at most 5s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub warm_up: Option<Time>,
    /// Count the system calls of each row too, of round trips, in a pass of its own
    #[arg(long)]
    pub count: bool,
    /// Measure the rows again and again, and draw each trial over time, until Ctrl-C or until --within is over: how this
    /// machine changes
    #[arg(long, conflicts_with_all = ["count", "self_check", "trials", "precision", "across"])]
    pub watch: bool,
    /// Measure each row against itself under two names, and say how often the two tie
    #[arg(long, conflicts_with_all = ["count", "require", "precision", "within", "across"])]
    pub self_check: bool,
    /// How often --self-check compares
    #[arg(long, value_name = "N", default_value_t = 20, requires = "self_check", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub repeats: u32,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    #[command(flatten)]
    pub chart: ChartOptions,
    #[command(flatten)]
    pub saving: SavingOptions,
    /// Exit with 7 if anything asked for cannot run here
    #[arg(long)]
    pub require: bool,
    /// Exit with 5 if the machine was too noisy
    #[arg(long)]
    pub strict: bool,
}

impl RunOptions {
    /// Returns the paces at which messages are sent: each once, and at least one.
    pub fn arrivals(&self) -> Vec<Arrival> {
        if let Some(time) = self.think_time {
            return vec![Arrival::ThinkTime(time.0.as_nanos() as u64)];
        }
        let mut arrivals = Vec::new();
        for rate in self.rates.iter().flat_map(|rates| &rates.0) {
            let arrival = Arrival::Interval(rate.interval_ns());
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
            window: self.window,
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

/// How many trials each row has.
#[derive(Debug, Clone, Copy, Args)]
pub struct PrecisionOptions {
    /// Trials of each row, interleaved with those of all others. Given alone: exactly so many. With --precision: at least
    /// so many. 9 if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    trials: Option<u32>,
    /// After the first trials, measure rows further whose medians are less certain than this, the least certain first: 5%
    /// if neither this nor --trials is given
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    precision: Option<Percent>,
    /// Repeat all of it so often, some time apart: the interval of a median then holds those of all repetitions
    #[arg(long, value_name = "N", conflicts_with_all = ["precision", "within"], allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(2..=100))]
    across: Option<u32>,
    /// The time between two repetitions of --across
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "across", allow_hyphen_values = true)]
    apart: Time,
    /// How long all trials may take together: the one under way is finished. If not given, all first trials are made, and
    /// further ones take no longer than those did; of several pairs, receivers, senders or workers, as many as take 40 s, and
    /// at least three of each row
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
        let across = self.across.map(|repetitions| Across { repetitions, apart: self.apart.0 });
        Ok(Plan { trials, precision, across, within: self.within.map(|time| time.0), ..plan })
    }
}
