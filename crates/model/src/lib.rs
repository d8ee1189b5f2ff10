//! The data types of furlong: capabilities of mechanisms, cases and records.
//!
//! Layer 0: no input or output, no operating system, no clock. This crate reads records on any machine.
#![forbid(unsafe_code)]

mod access;
mod arrival;
mod axis;
mod between_hosts;
mod between_namespaces;
mod boundary;
mod calls;
mod capabilities;
mod case;
mod conditions;
mod contradictions;
mod cost;
mod count;
mod declared_calls;
mod depth;
mod environment;
mod exchange;
mod experiment;
mod figure;
mod handover;
mod impossible;
mod in_place;
mod limits;
mod machine;
mod meaning;
mod message_trace;
mod name;
mod named_enum;
mod noise;
mod overlap;
mod pattern;
mod placement;
mod process_start;
mod quantity;
mod record;
mod requested_condition;
mod role;
mod shown;
mod subsystem;
mod text;
mod topology;
mod trial;
mod wait;
mod window;
mod workload;

pub use access::Access;
pub use arrival::{Arrival, ArrivalProcess};
pub use axis::{Axis, AxisValue};
pub use between_hosts::PeerHost;
pub use boundary::{Boundary, DOCKER};
pub use calls::{Bounds, Call, Calls};
pub use capabilities::{
    ATOMIC_BYTES, Capabilities, Copies, Family, KernelBuffer, Lifetime, OwnedCapabilities, PeerDeath, Reach,
    Sharing, Start, WhenFull,
};
pub use case::{Case, DecidingFigure, mechanism_of, row_name};
pub use conditions::{Conditions, DEBUG_BUILD, DEFAULT_CPU_WEIGHT, DEFAULT_TIMER_SLACK_NS};
pub use cost::{Cost, CostFigure, CostReading};
pub use count::{Count, CountMethod, RoleCount};
pub use depth::{Depth, NoBound, Room};
pub use environment::{NeighbourUse, QuotaUse, TrialEnvironment};
pub use exchange::{Exchange, Request};
pub use experiment::{
    Amount, Claim, Context, ExchangeWork, Experiment, ExperimentRow, ExperimentStart, MeaningClaim, Measure,
    PublishedFigures, PublishedMachine, RowTarget, Statement, Target, Work,
};
pub use figure::Figure;
pub use handover::{
    Backing, Handover, HandoverCount, HandoverMeasurement, HandoverOutcome, HandoverTimes, HandoverTrial,
    Touch,
};
pub use impossible::{impossible_figure, impossible_in_text};
pub use limits::{Limits, Unavailable};
pub use machine::{Cache, CoreChoice, Machine, Runtime};
pub use meaning::{Evidence, Meaning, MeaningProbe, MeaningReading};
pub use message_trace::{CallResult, MessageEvent, MessageEventKind, MessageTrace, TracedTrial};
pub use name::InvalidName;
pub use noise::{Noise, NoiseReading};
pub use overlap::Overlap;
pub use pattern::{
    ExchangeOptions, FAN_OUT_BOUND, FanInOptions, FanOutOptions, Links, Pattern, PatternCase, PatternFacts,
    RejectedOption, Unit,
};
pub use placement::{Placement, ProcessorList};
pub use process_start::{StartMethod, StartReading};
pub use quantity::{
    ByteSize, Counts, InvalidQuantity, Pauses, Percent, Rate, Rates, Sizes, Time, Windows, format_bytes,
    format_digits, format_exact_ns, format_ns, format_rate, is_one, one, printed_ns, three_digits,
};
pub use record::{End, Harness, Record, RunHeader, SCHEMA};
pub use requested_condition::beside::Neighbour;
pub use requested_condition::isolation::Isolation;
pub use requested_condition::kernel_setting::KernelSetting;
pub use requested_condition::pages::PageKind;
pub use requested_condition::scheduling::Scheduling;
pub use requested_condition::sockets::{SocketOption, SocketOptions};
pub use requested_condition::trace::Replay;
pub use requested_condition::traffic::{ServiceTime, SizeMix};
pub use requested_condition::{CONDITION_KINDS, ConditionKind, RequestedCondition, RequestedConditions};
pub use role::{Party, Phase, Role};
pub use shown::is_unseen;
pub use subsystem::{ChildStart, ConsoleMode, Subsystem};
pub use text::{beginning, display_width, listing, shortened, table_lines, wrap};
pub use topology::{
    CoreKind, Cpu, CpuList, CpuRelation, CpuTopology, InvalidCpuList, PairGroup, RelatedPair,
};
pub use trial::{
    AdapterFacts, BatchTally, Failure, Fault, Measurement, OpenLoop, OtherProcess, Outcome, Part,
    ProgramFacts, RoleTally, SizeClass, Stall, TimerLateness, Trial, WarmUp,
};
pub use wait::{Wait, WaitKind};
pub use window::{Direction, most_outstanding};
pub use workload::{
    BoundaryAttempt, Candidate, Disqualifier, ExcludedBenchmark, IntegrationCost, InvalidSlo, Language, Need,
    Objective, ObservedTraffic, Shortlist, Slo, Trust, UnmeasuredBoundary, Workload,
};
