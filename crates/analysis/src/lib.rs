//! Analysis of furlong's records, from any machine on any machine.
//!
//! Measurement and analysis are connected only by records: this crate measures nothing and runs on every system. A run
//! is read ([`Run::read`]) or built ([`Run::from_records`]). [`DecodedRun::of`] decodes and checks it once for all
//! computations. `furlong-render` prints the results as text.
//!
//! ```no_run
//! use furlong_analysis::{DecodedRun, Run};
//! # fn main() -> Result<(), furlong_analysis::ReadError> {
//! let run = Run::read("run.jsonl")?;
//! assert!(!DecodedRun::of(&run).summary.rows.is_empty());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod advice;
mod alike;
mod atlas;
mod batch_knee;
mod batches;
mod cache_line;
mod capacity;
mod checks;
mod comparable;
mod compare;
mod complete_rounds;
mod condition_effects;
mod conditions;
mod consistent;
mod costs;
mod count;
mod count_summary;
mod cpu_map;
mod declared;
mod decoded_run;
// The tests of furlong-stats draw from these distributions too.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../stats/src/fixture/source.rs"]
mod distributions;
mod disturbed_row;
mod environment;
mod exchange;
mod experiment;
mod explain;
mod findings;
#[cfg(test)]
mod fixture;
mod fleet;
mod growth;
mod impossible;
mod in_flight;
mod law;
mod left_out;
mod little;
mod machine_facts;
mod message_path;
mod noise;
mod not_explained;
mod over_time;
mod own_loop;
mod ranking;
mod rate_sweep;
mod reached;
mod recommend;
mod reference;
mod regimes;
mod renamed_keys;
mod replay;
mod row;
mod run;
mod run_facts;
mod saturation;
mod self_check;
mod shares;
mod size_classes;
mod skipped;
mod sound;
mod stalled;
mod standings;
mod store;
mod summary;
mod tail;
mod terms;
pub mod text;
mod timeline;
mod trials;
mod tuning;

pub use advice::Advice;
pub use alike::CommonProperties;
pub use atlas::{
    ATLAS_SCHEMA, Atlas, AtlasClaim, Axis, ExplainingAxis, MeasuredSetting, PublishedAnswer, Question,
    Setting, SettingResult, atlas,
};
pub use batch_knee::{BatchKnee, BatchedRow};
pub use batches::BatchFigures;
pub use capacity::{
    Capacity, CapacityPoint, CapacitySearch, Edge, HighestRate, capacity_search, capacity_searches,
};
pub use checks::broken_record;
pub use comparable::{ComparableInterval, Ratio};
pub use compare::{
    COMPARISON_SCHEMA, Cause, Change, ChangedCall, CommonChange, ComparedCapacity, ComparedCount,
    ComparedRow, ComparedRun, Comparison, ComparisonRefusal, CountChange, CountedQuantity, Difference,
    InconclusiveReason, OnlyIn, Power, RunPart, Share, compare,
};
pub use condition_effects::{ConditionEffects, ValueEffect, VariedBenchmark};
pub use conditions::{Condition, unusual_conditions};
pub use costs::{CONTEXT_SWITCH, COSTS_SCHEMA, CostEstimate, Costs, WAKE_UP, cost_name};
pub use count::{CountRow, CountingMethod, Figures, RoleFigures};
pub use count_summary::{COUNT_SCHEMA, CountSummary};
pub use cpu_map::{CPU_MAP_SCHEMA, CpuMap, CpuMapFinding, CpuMapSettings, PairLatency, RelationLatency};
pub use declared::undeclared_calls;
pub use decoded_run::{DecodedRun, NamedRun};
pub use disturbed_row::DisturbedRow;
pub use environment::{EnvironmentFigures, QuotaFigures};
pub use exchange::{
    Cpu, ExchangeFigures, FEWEST_BEYOND, MedianTime, PageFaults, Switches, Times, fewest_samples,
};
pub use experiment::{ExperimentError, estimate, published, read_experiment};
pub use explain::{
    Agreement, EXPLANATION_SCHEMA, ExplainedRow, Explanation, UnmodelledRow, explain, explain_saved,
    not_covered,
};
pub use findings::{Finding, NamedRow, WaitingProgram};
pub use fleet::{
    CORE_TO_CORE, FLEET_SCHEMA, FleetBy, FleetChange, FleetComparison, FleetGroup, FleetInconclusive,
    FleetMap, FleetReason, FleetRow, FleetRun, HostFigure, HostOutlier, MappedCost, MappedHost, Outlier,
    UnusedReason, UnusedRun, compare_and_map_fleet, compare_fleet, machine_facts_by_name, platform,
};
pub use furlong_model::Unit;
pub use growth::{Bottleneck, Growth, GrowthLimit, Growths};
pub use in_flight::InFlightFigures;
pub use law::Law;
pub use left_out::LeftOut;
pub use message_path::{Actor, Step};
pub use noise::{CoreToCore, Disturbance, Level, Verdict, disturbances};
pub use not_explained::NotExplained;
pub use over_time::{OverTime, TrialTimes, over_time};
pub use ranking::{Group, PayloadKind, describe_placement};
pub use rate_sweep::{AtRate, RatePoint, RateSweep};
pub use reached::ReachMedians;
pub use recommend::{
    Alternative, Answer, Budget, BudgetKind, ChoiceChange, EarlierAnswer, EliminatedCandidate, Gain, Offer,
    RECOMMENDATION_SCHEMA, RankedBenchmark, Recommendation, SLEEPING, SPINNING, Sensitivity, SloVerdict,
    Switch, WorkloadChange, finalists, out_of_reach, places, recommend, row_refusal, shortlist, surroundings,
    without_boundary,
};
pub use regimes::{InBoth, Regimes};
pub use replay::{
    BestNow, BestSize, ClaimReason, ClaimStatus, ClaimVerdict, Durations, FasterAdded, FastestThen,
    MeasuredFigure, Pairs, REPLAY_SCHEMA, RankChange, Replay, ReplayRow, ReplayStart, ReplayStatus,
    Throughput, is_kept, replay, throughput,
};
pub use row::{Row, RowStatus, RowWarmUp, TimerLate};
pub use run::{Problem, Run};
pub use run_facts::RunFacts;
pub use saturation::{CarriedMost, RateLimit, Saturation};
pub use self_check::{CheckedRow, CopyFigures, MissingComparisons, SelfCheck, self_check};
pub use shares::{AgainstOne, Shares};
pub use size_classes::SizeClassTimes;
pub use skipped::{SkippedCase, SkippedStatus};
pub use stalled::StallFigures;
pub use standings::{Leader, Leaders, Standings};
pub use store::ReadError;
pub use summary::{SUMMARY_SCHEMA, Summary};
pub use tail::{Tail, size_tails, tails};
pub use terms::{Part, Source, Term};
pub use timeline::{MessagePath, ModelledSteps, NoTimeline, Timeline, TimelineStep, UntracedRow};
pub use tuning::{Effect, TUNING_SCHEMA, TunedBenchmark, TunedCondition, TuningResult};
