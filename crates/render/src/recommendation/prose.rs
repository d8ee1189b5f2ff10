//! The sentences of a recommendation.

use super::super::document::Block;
use super::super::findings::two_levels;
use super::super::object::Said;
use super::super::origin::date;
use furlong_analysis::text::{format_count, format_per_second, format_ratio, listed, plain, three_digits};
use furlong_analysis::{
    Alternative, Budget, BudgetKind, CarriedMost, Earlier, Eliminated, Level, Ranked, Recommendation,
    Repeated, SLEEPING, SPINNING, Sensitivity, SloVerdict, WorkloadChange, fewest_samples, places,
};
use furlong_model::{
    Boundary, Language, Objective, Pattern, Placement, Reach, Slo, Tried, Trust, Unit, Wait, Workload,
    format_bytes, format_ns, format_rate, is_one, row_name,
};
use furlong_stats::trials_of_comparison;

/// Rows of one reason that are named one by one.
const NAMED: usize = 6;
/// A row that carried less than this share of the rate has figures at another rate.
const CARRIES: f64 = 0.9;

/// Describes the workload in one sentence.
pub(crate) fn asked(workload: &Workload) -> String {
    let what = workload.pattern.exchanged(workload.size_bytes, workload.request_bytes.unwrap_or(1));
    let rate = workload.per_second().map_or_else(
        || ", as fast as they go".to_owned(),
        |per_second| format!(", {}", format_rate(per_second)),
    );
    let objective = match workload.objective {
        Objective::Latency => "the lowest latency",
        Objective::Throughput => "the highest throughput",
        Objective::Cpu => "the least processor time",
        Objective::Simplicity => "the least work to write",
    };
    let mut more: Vec<String> = Vec::new();
    if workload.boundaries != [Boundary::Process] {
        let boundaries: Vec<_> =
            workload.boundaries.iter().map(|boundary| boundary.name().to_owned()).collect();
        more.push(format!("across {}", boundaries.join(", ")));
    }
    more.extend(workload.slo.map(|slo| slo.to_string()));
    if workload.trust == Trust::None {
        more.push("without trust".to_owned());
    }
    let (pattern, parties) = workload.pattern_and_parties();
    if !is_one(&parties) {
        more.push(format!("{parties} {}", pattern.several()));
    } else if workload.receivers > 1 {
        more.push(format!("{} receivers", workload.receivers));
    }
    if workload.latest {
        more.push("only the newest message counts".to_owned());
    }
    let needs = workload.needs.iter().map(|need| need.name().to_owned());
    more.extend(needs);
    let languages: Vec<_> = workload.languages.iter().map(|language| language.title()).collect();
    if !languages.is_empty() {
        more.push(format!("in {}", languages.join(" and ")));
    }
    let more = if more.is_empty() { String::new() } else { format!("; {}", more.join(", ")) };
    format!("Asked: {what}{rate}, for {objective}{more}.")
}

/// Reports what a process beyond the boundary could reach in a test.
pub(crate) fn tried(recommendation: &Recommendation) -> Option<String> {
    let word = |reach: Reach| match reach {
        Reach::IpcNamespace => "a System V object by its number",
        Reach::PidNamespace => "a process by its number",
        Reach::Network => "an address of the loopback",
        Reach::Fork | Reach::Descriptor | Reach::FileSystem | Reach::Device => {
            "a UNIX socket by its path, and so descriptors"
        }
    };
    let (reached, missed): (Vec<&Tried>, Vec<&Tried>) =
        recommendation.tried.iter().partition(|tried| tried.failed.is_none());
    let words = |tried: &[&Tried]| match tried {
        [] => "nothing".to_owned(),
        some => some.iter().map(|tried| word(tried.reach)).collect::<Vec<_>>().join("; "),
    };
    let between = Boundary::measured_of(&recommendation.workload.boundaries);
    let measured = match between.is_nothing() {
        true => "",
        false => " What goes by the network was measured across a virtual Ethernet pair.",
    };
    (!recommendation.tried.is_empty()).then(|| {
        format!(
            "Tried here, from a process in namespaces of its own: reached {}; not reached: {}.{measured}",
            words(&reached),
            words(&missed)
        )
    })
}

/// Returns the answer in one line.
pub(crate) fn heading(recommendation: &Recommendation) -> String {
    match &recommendation.choice {
        Some(choice) if recommendation.provisional => format!("Provisional: {}", plain(&choice.name())),
        Some(choice) => format!("Take {}", plain(&choice.name())),
        None if recommendation.run.partial => {
            "No answer: the run ended before any candidate was measured".to_owned()
        }
        None => match &recommendation.carried_most {
            Some(CarriedMost { saturation, .. }) => {
                let asked = format_rate(saturation.asked_per_second);
                match recommendation.run.noise.level {
                    Level::Unreliable => {
                        format!("No answer yet: nothing carried {asked} on this busy machine")
                    }
                    _ if recommendation.carried_by_spinning.is_some() => {
                        format!("No row carries {asked} here without busy-waiting")
                    }
                    _ => format!("No row carries {asked} here"),
                }
            }
            None if recommendation.candidates > 0 => format!(
                "No answer: none of {} candidates could be measured at this workload",
                recommendation.candidates
            ),
            None => "Nothing on this machine may serve this workload".to_owned(),
        },
    }
}

/// Reports the highest rate that any benchmark carried.
fn most(recommendation: &Recommendation) -> Option<String> {
    let CarriedMost { mechanism, wait, saturation } = recommendation.carried_most.as_ref()?;
    let of_others = match recommendation.carried_by_spinning {
        Some(_) => "Of the others, ",
        None => "",
    };
    Some(format!(
        "{of_others}{} carried the most: {}.",
        plain(&row_name(mechanism, *wait)),
        format_per_second(saturation.carried_per_second)
    ))
}

/// Names the benchmark that `--spin` would add if no other carries the rate.
fn by_spinning(row: &Ranked) -> String {
    format!(
        "{} carries it, with a median of {}, and uses {} of one processor: --spin allows that.",
        plain(&row.name()),
        format_ns(row.p50_ns),
        share(row.cpu_share)
    )
}

/// Lists the reasons for and against the choice.
pub(crate) fn reasons(recommendation: &Recommendation) -> Vec<String> {
    let Some(choice) = &recommendation.choice else {
        if recommendation.run.partial {
            return Vec::new();
        }
        let mut lines: Vec<String> = recommendation.carried_by_spinning.iter().map(by_spinning).collect();
        lines.extend(most(recommendation));
        if recommendation.run.noise.level == Level::Unreliable && !lines.is_empty() {
            lines.push(
                "The machine was unreliable during this run, and may carry more when it is not: ask again when furlong doctor \
                 finds it fit."
                    .to_owned(),
            );
        }
        lines.push("What was left out, and why, is below.".to_owned());
        return lines;
    };
    let workload = &recommendation.workload;
    let unit = unit(workload);
    let mut lines: Vec<String> = Vec::new();
    if recommendation.run.noise.level == Level::Unreliable {
        lines.push(
            "The machine was unreliable during this run, so another row may be the best: ask again when furlong doctor finds \
             it fit."
                .to_owned(),
        );
    }
    lines.extend(too_short(recommendation, choice));
    let is_comparable = choice.figure_ci95.is_some();
    lines.extend(recommendation.earlier.as_ref().map(|answer| earlier(answer, is_comparable)));
    let measured = match choice.messages {
        few @ 0..1000 => few.to_string(),
        many => format_count(many as f64),
    };
    let is_of_cpu = workload.objective == Objective::Cpu;
    let median_ns = if is_of_cpu { choice.p50_ns } else { choice.figure };
    if is_stream(workload) {
        let bytes = choice
            .bytes_per_second
            .map_or_else(String::new, |bytes| format!(", {} GB/s", three_digits(bytes / 1e9)));
        lines.push(format!(
            "It carries one {unit} every {}, {} per second{bytes} ({measured} measured).",
            format_ns(median_ns),
            format_count(choice.per_second)
        ));
    } else {
        lines.push(format!(
            "Half of the {unit}s take up to {}{} ({measured} measured).",
            format_ns(median_ns),
            choice.p99_ns.map_or_else(String::new, |ns| format!(", 99 % up to {}", format_ns(ns))),
        ));
        lines.extend(choice.bytes_per_second.filter(|_| workload.objective == Objective::Throughput).map(
            |bytes| {
                let per_second = format_count(choice.per_second / receivers(workload));
                format!("That is {per_second} {unit}s and {} GB per second.", three_digits(bytes / 1e9))
            },
        ));
    }
    let carried = choice.per_second / receivers(workload);
    lines.extend(workload.per_second().filter(|asked| carried < CARRIES * asked).map(|asked| {
        let (carried, asked) = (format_count(carried), format_rate(asked));
        format!(
            "It carried {carried} {unit}s per second, and {asked} were asked: its trials were interrupted."
        )
    }));
    let who = if is_one(&workload.pattern_and_parties().1) { "Both" } else { "All" };
    lines.push(format!(
        "{who} processes together use {} of one processor, {} a {unit}{}.",
        share(choice.cpu_share),
        format_ns(if is_of_cpu { choice.figure } else { choice.cpu_ns }),
        if receivers(workload) > 1.0 { " and receiver" } else { "" },
    ));
    lines.extend((choice.wait == Wait::Adaptive && !workload.spin).then(|| {
        "A process that waits spins for as long as a wake-up takes, and sleeps then: messages that follow each other more closely \
         keep its processor busy."
            .to_owned()
    }));
    lines.extend(
        choice.slo.zip(workload.slo).map(|(verdict, slo)| holds(slo, verdict, recommendation.run.partial)),
    );
    lines.extend(recommendation.budget.map(|budget| budget_line(&budget, recommendation.simpler.as_ref())));
    lines.extend(runtimes(&workload.languages));
    lines.extend(standing(recommendation, choice));
    lines.extend(dropped(recommendation));
    let integration_costs: Vec<_> =
        choice.integration_costs.iter().map(|integration_cost| plain(&integration_cost.what)).collect();
    if !integration_costs.is_empty() {
        lines.push(format!("Left to you: {}.", integration_costs.join("; ")));
    }
    lines.extend(recommendation.two_levels.as_ref().map(two_levels));
    lines.extend(choice.caveats.iter().map(|caveat| format!("Note: {}.", plain(caveat))));
    lines
}

/// Explains why the answer rests on an incomplete measurement, and how to complete it.
fn too_short(recommendation: &Recommendation, choice: &Ranked) -> Vec<String> {
    let is_partial = recommendation.run.partial;
    let [cause, within, remedy] = match is_partial {
        true => ["The run was interrupted", "were measured before the run was interrupted", "ask again"],
        false => ["The time was over", "fitted into the time", "ask with a longer --within"],
    };
    let early = recommendation.early_look_alone.then(|| {
        let longer = match is_partial {
            true => "A whole run measures the best of them longer.",
            false => "A longer --within measures the best of them longer.",
        };
        format!(
            "{cause} before the longer look: this is the early look alone, a few short trials of each candidate. {longer}"
        )
    });
    let none_has_interval = recommendation.ranked.iter().all(|row| row.figure_ci95.is_none());
    let few = choice.figure_ci95.is_none().then(|| {
        let (of, which) = match none_has_interval {
            true => ("each".to_owned(), "between them"),
            false => (plain(&choice.name()), "from it"),
        };
        format!(
            "Fewer than three trials of {of} {within}, so no difference {which} is significant: {remedy}."
        )
    });
    early.into_iter().chain(few).collect()
}

/// Reports the earlier answer to the same question, and what to do if it differs.
fn earlier(earlier: &Earlier, is_comparable: bool) -> String {
    let (when, row) = (date(earlier.started_unix_s), plain(&earlier.row));
    match earlier.now {
        Repeated::Same => format!("The answer was the same at {when}."),
        Repeated::Tie => {
            format!("At {when} the answer was {row}, which ties with it: take either.")
        }
        Repeated::Other if !is_comparable => format!(
            "At {when} the answer was {row}, and there are too few trials to compare the two. Measure longer (--within 2min)."
        ),
        Repeated::Other => format!(
            "At {when} the answer was {row}: between the two runs the machine changed by more than the rows differ. Measure \
             longer (--within 2min), at another time."
        ),
    }
}

/// Explains what the figures omit if a program runs in an interpreter or a virtual machine; `None` if none does.
fn runtimes(languages: &[Language]) -> Option<String> {
    let has_runtime =
        |language: &&Language| matches!(language, Language::Python | Language::Node | Language::Java);
    let names: Vec<_> = languages.iter().filter(has_runtime).map(|language| language.title()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "All times are of native code: what {} adds to each message is not in them.",
            names.join(" and ")
        )
    })
}

/// Reports the rank of the choice: alone in front, or tied with others. Returns `None` if too little was measured.
fn standing(recommendation: &Recommendation, choice: &Ranked) -> Option<String> {
    let first = recommendation.ranked.first()?;
    let others = recommendation.ranked.iter().filter(|row| row.name() != choice.name());
    let (failing, rivals): (Vec<&Ranked>, Vec<&Ranked>) =
        others.partition(|row| choice.meets() && !row.meets());
    let tied = |rows: &[&Ranked]| {
        let is_tied = |row: &&&Ranked| **row == first || recommendation.ties.contains(&row.name());
        rows.iter().filter(is_tied).map(|row| plain(&row.name())).collect::<Vec<_>>()
    };
    let slo = recommendation.workload.slo.filter(|_| !failing.is_empty()).map(|slo| slo.to_string());
    if recommendation.workload.objective == Objective::Simplicity {
        return simplest(&rivals, choice, slo.as_deref());
    }
    let tied_rivals = tied(&rivals);
    let standing = match tied_rivals.as_slice() {
        [] => alone(recommendation, &rivals, slo.as_deref())?,
        others => {
            let is_tied = |row: &&&Ranked| others.contains(&plain(&row.name()));
            let least = rivals.iter().filter(is_tied).map(|row| row.effort).min();
            let effort = match least {
                Some(least) if least > choice.effort => ": of these it is the least work to use",
                Some(least) if least == choice.effort => ": none of these is less work to use",
                _ => "",
            };
            let (number, others) = (others.len() + 1, listed(others, NAMED));
            format!("It is one of {number} that tie, with {others}{effort}.")
        }
    };
    let missing = match (tied(&failing).as_slice(), slo) {
        ([], _) | (_, None) => String::new(),
        (tied, Some(slo)) => {
            let figure = figure_name(recommendation.workload.objective);
            let [tie, they] = if let [_] = tied { ["ties", "it does"] } else { ["tie", "they do"] };
            let tied = listed(tied, NAMED);
            format!(" By {figure} alone, {tied} {tie} with the first; {they} not meet {slo}.")
        }
    };
    Some(standing + &missing)
}

/// Reports the rank of the choice if the objective is the least integration effort. Benchmarks of equal effort are
/// ordered by their median.
fn simplest(rivals: &[&Ranked], choice: &Ranked, slo: Option<&str>) -> Option<String> {
    let equal: Vec<&&Ranked> = rivals.iter().filter(|row| row.effort == choice.effort).collect();
    let names = |rows: &[&&Ranked]| rows.iter().map(|row| plain(&row.name())).collect::<Vec<_>>();
    let among = slo.map_or_else(String::new, |slo| format!(" of the rows that are not known to miss {slo}"));
    if equal.is_empty() {
        return (!rivals.is_empty() || slo.is_some())
            .then(|| format!("It alone is the least work to use{among}."));
    }
    let tied: Vec<&&Ranked> = equal.iter().copied().filter(|row| !row.differs_from(choice)).collect();
    let faster = match tied.as_slice() {
        [] => "of these it is the fastest".to_owned(),
        tied => format!("not significantly slower: {}", listed(&names(tied), NAMED)),
    };
    let (number, names) = (equal.len() + 1, listed(&names(&equal), NAMED));
    Some(format!("It is one of {number} that are the least work to use{among}, with {names}; {faster}."))
}

/// Lists the benchmarks that may be as good as the first but were not measured longer, because the first pass does
/// not distinguish them from it.
fn dropped(recommendation: &Recommendation) -> Vec<String> {
    let rows = &recommendation.eliminated;
    let than = rows.first().map(|row| plain(&row.than)).unwrap_or_default();
    // The first of the longer look need not be the first of the early look.
    let is_as_good = |row: &&Eliminated| row.times_interval.is_some_and(|[low, _]| low <= 1.0);
    let name = |row: &Eliminated| plain(&row_name(&row.mechanism, row.wait));
    let tied: Vec<String> = rows.iter().filter(is_as_good).map(name).collect();
    let uncompared = rows.iter().filter(|row| row.times_interval.is_none()).count();
    let compared = match recommendation.workload.objective {
        Objective::Cpu => "without significantly more CPU time",
        _ => "not significantly slower",
    };
    let tied = (!tied.is_empty()).then(|| {
        format!(
            "Not measured longer, but {compared} than {than} in the early look: {}.",
            listed(&tied, NAMED)
        )
    });
    let uncompared = (uncompared > 0).then(|| {
        format!("Not measured longer, with fewer than three trials in the early look: {uncompared}.")
    });
    tied.into_iter().chain(uncompared).collect()
}

/// Reports the rank of a choice that is tied with none of its rivals. `slo` is present if other benchmarks miss it.
fn alone(recommendation: &Recommendation, rivals: &[&Ranked], slo: Option<&str>) -> Option<String> {
    let is_unknown = recommendation.ranked.iter().any(Ranked::may_miss);
    let [meets, meet] =
        if is_unknown { ["is not known to miss", "are not known to miss"] } else { ["meets", "meet"] };
    let next = match (rivals, slo) {
        ([], Some(slo)) => return Some(format!("It is the only one that {meets} {slo}.")),
        (rivals, _) => rivals.first()?,
    };
    next.times_interval?;
    let uncompared = rivals.iter().filter(|row| row.times_interval.is_none()).count();
    let uncompared = match uncompared {
        0 => String::new(),
        number => format!("; {number} with fewer than three trials are not compared"),
    };
    let next_at =
        format!("{} at {}{uncompared}", plain(&next.name()), factor(next.times, next.times_interval));
    Some(match slo {
        Some(slo) => format!(
            "It is first alone among the {} that {meet} {slo}; the next of them is {next_at}.",
            rivals.len() + 1
        ),
        None => format!("It is first alone; the next is {next_at}."),
    })
}

/// Names the figure that benchmarks are compared by.
fn figure_name(objective: Objective) -> &'static str {
    if objective == Objective::Cpu { "CPU time" } else { "the median" }
}

/// Formats a factor with its interval, as in `1.51x (1.20-1.93)`.
pub(crate) fn factor(times: f64, interval: Option<[f64; 2]>) -> String {
    let between =
        interval.map_or_else(String::new, |ends| format!(" ({})", ends.map(format_ratio).join("-")));
    format!("{}x{between}", format_ratio(times))
}

/// Returns whether messages are sent back to back, so that times are those between two of them.
fn is_stream(workload: &Workload) -> bool {
    let is_paced = workload.interval_ns.is_some()
        && workload.objective != Objective::Throughput
        && !workload.pattern_and_parties().0.shares_an_end();
    // With several receivers, or if only the newest message counts, one message is in flight.
    workload.pattern.is_stream() && !is_paced && !workload.pattern_and_parties().0.is_to_all()
}

/// Returns the number of receivers of each message. Rates and CPU times of such benchmarks count the message once per
/// receiver.
fn receivers(workload: &Workload) -> f64 {
    let (pattern, parties) = workload.pattern_and_parties();
    if pattern.is_to_all() { f64::from(parties.get()) } else { 1.0 }
}

fn holds(slo: Slo, verdict: SloVerdict, is_partial: bool) -> String {
    let SloVerdict { holds, quantile, measured_ns, limit_ns, few } = verdict;
    let Some((holds, measured_ns)) = holds.zip(measured_ns) else {
        let (percentile, needed) = (slo.percentile(), fewest_samples(slo.quantile));
        let remedy = if is_partial { "" } else { " A longer --within measures more." };
        return format!("Whether {slo} holds is unknown: {percentile} needs {needed} samples.{remedy}");
    };
    let measured = format_ns(measured_ns);
    let times =
        three_digits(if holds { limit_ns / measured_ns.max(1.0) } else { measured_ns / limit_ns.max(1.0) });
    if quantile < slo.quantile {
        let lower = Slo { quantile, ..slo }.percentile();
        return format!("{slo} does not hold: even {lower} is {times} times the limit ({measured}).");
    }
    let few = if few { "; too few messages for this percentile" } else { "" };
    match holds {
        true => format!("{slo} holds: {measured} is {times} times below{few}."),
        false => format!("{slo} does not hold: {measured} is {times} times the limit{few}."),
    }
}

/// Reports the share of a budget. If the share is negligible, also names a simpler benchmark that would suffice.
fn budget_line(budget: &Budget, simpler: Option<&Alternative>) -> String {
    let of = match budget.from {
        BudgetKind::Work => "your work and the exchange together",
        BudgetKind::Slo => "what the objective allows",
        BudgetKind::Interval => "the time between two messages",
    };
    let available = format_ns(budget.available_ns);
    if budget.share > 1.0 {
        let times = three_digits(budget.share);
        return format!("The exchange takes {times} times {of} ({available}).");
    }
    let share = share(budget.share);
    let line = format!("The exchange is {share} of {of} ({available})");
    let simpler = simpler.filter(|other| budget.is_negligible(&other.row));
    match simpler {
        _ if budget.matters => format!("{line}."),
        None => format!("{line}: a faster mechanism would gain little."),
        Some(Alternative { row, .. }) => format!(
            "{line}: a faster mechanism would gain little. {} is less work to use, and its median of {} is below 1 % of that too.",
            plain(&row.name()),
            format_ns(row.p50_ns)
        ),
    }
}

/// Lists the alternatives.
pub(crate) fn instead(recommendation: &Recommendation) -> Vec<String> {
    let workload = &recommendation.workload;
    let simpler = recommendation.simpler.as_ref().map(|other| {
        let integration_costs: Vec<_> = other
            .row
            .integration_costs
            .iter()
            .map(|integration_cost| plain(&integration_cost.what))
            .collect();
        let left =
            if integration_costs.is_empty() { "nothing".to_owned() } else { integration_costs.join("; ") };
        format!(
            "Simpler: {} {}{}; it leaves to you: {left}.",
            plain(&other.row.name()),
            compared(other, workload),
            workload
                .slo
                .filter(|_| other.row.may_miss())
                .map_or_else(String::new, |slo| format!(", and whether it meets {slo} is unknown"))
        )
    });
    let spinning = recommendation.if_spinning.as_ref().map(|other| {
        let (row, compared) = (plain(&other.row.name()), compared(other, workload));
        if other.row.times_interval.is_none() {
            return format!("Busy-waiting (--spin): {row} {compared}.");
        }
        let meets_more = other.row.meets() && recommendation.choice.as_ref().is_some_and(|own| !own.meets());
        if !meets_more && other.tie {
            return format!(
                "To keep processors busy while waiting (--spin) gains nothing significant: {row} {compared}."
            );
        }
        if !meets_more && other.row.times >= 1.0 {
            return format!("To keep processors busy while waiting (--spin) gains nothing: {row} {compared}.");
        }
        let share = share(other.row.cpu_share);
        format!(
            "If waiting may keep processors busy (--spin): {row} {compared}, and uses {share} of one processor."
        )
    });
    let not_compared = recommendation.spinning_not_compared.as_ref().map(|reason| match reason.as_str() {
        "" if recommendation.run.partial => {
            "Busy-waiting (--spin) was not compared: the run was interrupted.".to_owned()
        }
        "" => "Busy-waiting (--spin) was not compared: the time was over. A longer --within compares it."
            .to_owned(),
        reason => format!("Busy-waiting (--spin) was not compared: {}.", plain(reason)),
    });
    simpler.into_iter().chain(spinning).chain(not_compared).collect()
}

/// Compares an alternative with the choice, as in `takes 1.30 times as long (47.0 us)`.
fn compared(other: &Alternative, workload: &Workload) -> String {
    let row = &other.row;
    let figure = format_ns(row.figure);
    let takes = if workload.objective == Objective::Cpu { format!("{figure} of CPU time") } else { figure };
    let between = |invert: bool| {
        let [low, high] = row.times_interval?;
        let ends = if invert { [1.0 / high, 1.0 / low] } else { [low, high] };
        Some(format!(" ({})", ends.map(format_ratio).join("-")))
    };
    let interval = |invert| between(invert).unwrap_or_default();
    match (workload.objective, row.times) {
        _ if other.tie => {
            let factor = factor(row.times, row.times_interval);
            format!("is not significantly different, at {factor} ({takes})")
        }
        _ if row.times_interval.is_none() => format!("has too few trials for a comparison ({takes})"),
        (Objective::Cpu, times) => {
            format!("takes {} times as much{} ({takes})", format_ratio(times), interval(false))
        }
        (_, times) if times < 1.0 => {
            format!("is {} times as fast{} ({takes})", format_ratio(1.0 / times), interval(true))
        }
        (_, times) => format!("takes {} times as long{} ({takes})", format_ratio(times), interval(false)),
    }
}

/// Returns the title above the table.
pub(crate) fn measured(recommendation: &Recommendation) -> String {
    match recommendation.workload.interval_ns {
        Some(ns) if recommendation.workload.objective != Objective::Throughput => {
            format!("Measured at this workload, one every {}", format_ns(ns as f64))
        }
        _ => "Measured at this workload, each as soon as the one before it is done".to_owned(),
    }
}

/// Explains the marks and columns that are used.
pub(crate) fn legend(recommendation: &Recommendation) -> Vec<Block> {
    let any = |is: fn(&Ranked) -> bool| recommendation.ranked.iter().any(is);
    let cpu = recommendation.workload.objective == Objective::Cpu;
    let has_interval = any(|row| row.figure_ci95.is_some());
    let has_ratio = recommendation.ranked.iter().skip(1).any(|row| row.times_interval.is_some());
    let is_by_effort = recommendation.workload.objective == Objective::Simplicity;
    let places = places(&recommendation.ranked, recommendation.workload.objective);
    let shares_place = places.windows(2).any(|pair| pair[0] == pair[1]);
    let all_have_intervals = !any(|row| row.figure_ci95.is_none());
    let same_place = match all_have_intervals {
        true if is_by_effort => "= all rows of this place have the same effort and tie with each other.",
        true => "= all rows of this place tie with each other.",
        false => "= no two rows of this place are significantly different.",
    };
    let tied = "~ ties with the first: the interval of vs first contains 1.";
    let needed = trials_of_comparison(recommendation.ranked.len()) as usize;
    let few = recommendation.ranked.iter().map(|row| row.trials).filter(|trials| *trials < needed).min();
    let few = few.map_or_else(String::new, |trials| format!(" after {needed} trials; some have {trials}"));
    let intervals =
        format!("interval: of rows that are the same, all intervals overlap in 95 of 100 runs{few}.");
    let slo = recommendation.workload.slo.map_or_else(|| "the SLO".to_owned(), |slo| slo.to_string());
    let missed = format!("! does not meet {slo}; such rows come last.");
    let unknown = format!("* too few samples to know whether {slo} holds.");
    let effort = match is_by_effort {
        true => {
            "effort: the work that is left to you, by which rows are ordered, and then by p50; 1 is a line or two, 3 a larger \
             piece."
        }
        false => "effort: the work that is left to you; 1 is a line or two, 3 a larger piece.",
    };
    let cpus = "CPU: CPU time of all processes per message, by which rows are ordered and compared.";
    [
        (!recommendation.ties.is_empty()).then_some(("vs first", tied)),
        shares_place.then_some(("#", same_place)),
        has_interval.then_some(("interval", intervals.as_str())),
        has_ratio.then_some(("vs first", "vs first: in brackets the interval of the ratio.")),
        any(|row| row.figure_ci95.is_none())
            .then_some(("interval", "? fewer than three trials: no interval.")),
        (!cpu && any(|row| row.p99_ns.is_none())).then_some(("p99", "–: too few samples: p99 needs 100.")),
        any(|row| !row.meets()).then_some(("#", missed.as_str())),
        any(Ranked::may_miss).then_some(("#", unknown.as_str())),
        cpu.then_some(("CPU", cpus)),
        Some(("effort", effort)),
    ]
    .into_iter()
    .flatten()
    .map(|(column, text)| Block::Legend(vec![column.to_owned()], None, vec![text.to_owned()]))
    .collect()
}

/// Lists the changes of the workload that would change the answer.
pub(crate) fn sensitivities(recommendation: &Recommendation) -> Vec<String> {
    let workload = &recommendation.workload;
    let (measured, parties) = workload.pattern_and_parties();
    let changes = recommendation.sensitivities.iter();
    let mut lines: Vec<_> = changes.map(|change| sensitivity(recommendation, change)).collect();
    let capacity = recommendation.capacity_per_second.filter(|_| recommendation.choice.is_some());
    lines.extend(capacity.map(|per_second| {
        let unit = unit(workload);
        let room = workload.per_second().map_or_else(String::new, |asked| {
            format!(", {} times what you asked", three_digits(per_second / asked))
        });
        let how = match workload.pattern.is_one_way() {
            _ if measured.shares_an_end() => "in all",
            true => "as fast as they go",
            false => "one after the other",
        };
        format!(
            "The rate: {how} it carries {} {unit}s per second{room}; beyond that look at batching first.",
            format_count(per_second)
        )
    }));
    let is_of_two = workload.receivers == 1 && is_one(&parties);
    if recommendation.choice.is_some() && is_of_two {
        lines.push(
            "More receivers: each needs a link of its own, so all of this is paid once for each.".to_owned(),
        );
    }
    lines
}

/// Returns the changes of the workload, for programs.
pub(crate) fn changes(recommendation: &Recommendation) -> Said {
    let changes = recommendation.sensitivities.iter().map(|sensitivity| change(&sensitivity.change).into());
    Said::new("sensitivities.change_data", "change", changes)
}

/// Describes a change as an option of the command line if possible.
fn change(change: &WorkloadChange) -> String {
    match change {
        WorkloadChange::Option { typed } => plain(typed),
        WorkloadChange::Size { size_bytes } => format!("--size {}", format_bytes(*size_bytes)),
        WorkloadChange::Place { placement: Placement::SameCore } => "all processes on one core".to_owned(),
        WorkloadChange::Place { placement: Placement::Free } => {
            "processes that nobody pins to a processor".to_owned()
        }
        WorkloadChange::Place { placement } => format!("--place {placement}"),
    }
}

fn sensitivity(recommendation: &Recommendation, sensitivity: &Sensitivity) -> String {
    let choice = recommendation.choice.as_ref().map(|choice| plain(&choice.name())).unwrap_or_default();
    let reason = match (sensitivity.reason.as_str(), recommendation.workload.slo) {
        ("", Some(slo)) if sensitivity.misses_slo => format!(" ({choice} does not meet {slo} then)"),
        ("", _) => String::new(),
        (reason, _) => format!(" ({})", plain(reason)),
    };
    let effort = |row: &str| recommendation.ranked.iter().find(|ranked| ranked.name() == row);
    let is_option = matches!(sensitivity.change, WorkloadChange::Option { .. });
    let instead = match (&sensitivity.instead, sensitivity.times, recommendation.workload.objective) {
        (None, ..) => "nothing here would do".to_owned(),
        (Some(row), ..) if !sensitivity.measured => {
            format!("{}, which was not in the longer look", plain(row))
        }
        (Some(row), _, Objective::Simplicity) => {
            let effort = effort(row).map_or_else(String::new, |row| format!(", of effort {}", row.effort));
            format!("{}{effort}", plain(row))
        }
        (Some(row), ..) if sensitivity.tie => format!("{}, which ties with it", plain(row)),
        (Some(row), None, _) => format!("{}, with too few trials for a comparison", plain(row)),
        (Some(row), Some(times), objective) => {
            let compared = compared_figures(times, objective);
            let than = if is_option { String::new() } else { format!(" as {choice}") };
            format!("{} {compared}{than}", plain(row))
        }
    };
    format!("{}: {instead}{reason}.", change(&sensitivity.change))
}

/// Compares a figure with another one by their ratio `times`.
fn compared_figures(times: f64, objective: Objective) -> String {
    match objective {
        Objective::Cpu => format!("takes {} times as much CPU time", format_ratio(times)),
        _ if times < 1.0 => format!("is {} times as fast", three_digits(1.0 / times)),
        _ => format!("takes {} times as long", three_digits(times)),
    }
}

/// Lists the aspects that were not measured.
pub(crate) fn not_measured(recommendation: &Recommendation) -> Vec<String> {
    let Workload { receivers, interval_ns, .. } = recommendation.workload;
    let (measured, parties) = recommendation.workload.pattern_and_parties();
    let mut lines = Vec::new();
    match measured {
        Pattern::FanOut => lines.push(format!(
            "Several receivers: what was measured gives each of {parties} every message, over a link of its own or over one \
             to all, and times are until the last has it. What gives each message to one of several is measured with \
             --workers {parties}."
        )),
        Pattern::FanIn => lines.push(format!(
            "Several senders: all {parties} write to one link, as fast as it takes their messages. A link for each, of which \
             the receiver waits for any, was not measured."
        )),
        Pattern::Work => lines.push(format!(
            "Several workers: all {parties} read from one link, as fast as they can. None of furlong's own rows has a link \
             for each, among which the sender chooses."
        )),
        _ if receivers > 1 => lines.push(format!(
            "Several receivers: where messages are answered, furlong measures one receiver. Each of {receivers} needs a link \
             of its own; --pattern one-way measures {receivers}."
        )),
        _ => {}
    }
    if measured.shares_an_end() {
        lines.push("Latency: what is sent as fast as it goes waits in buffers.".to_owned());
    } else if is_stream(&recommendation.workload) && interval_ns.is_none() {
        lines.push(
            "Latency: a stream as fast as it goes waits in buffers; say --rate to have it measured."
                .to_owned(),
        );
    }
    lines
}

/// Lists the benchmarks that were not measured under the workload, with the reasons.
pub(crate) fn left_out(recommendation: &Recommendation) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for entry in &recommendation.excluded {
        let name =
            entry.wait.map_or_else(|| entry.mechanism.clone(), |wait| row_name(&entry.mechanism, wait));
        let (name, reason) = (plain(&name), plain(&entry.reason));
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let mut lines: Vec<_> =
        reasons.into_iter().map(|(reason, names)| format!("{}: {reason}.", listed(&names, NAMED))).collect();
    let eliminated = |has_factor: bool| {
        let rows = recommendation.eliminated.iter().filter(move |row| row.times.is_some() == has_factor);
        let name = |row: &Eliminated| {
            let name = plain(&row_name(&row.mechanism, row.wait));
            row.times
                .map_or_else(|| name.clone(), |times| format!("{name} {}", factor(times, row.times_interval)))
        };
        rows.map(name).collect::<Vec<_>>()
    };
    let than = recommendation.eliminated.first().map(|row| plain(&row.than)).unwrap_or_default();
    let (compared, uncompared) = (eliminated(true), eliminated(false));
    if !compared.is_empty() {
        let compared = listed(&compared, 2 * NAMED);
        let Workload { objective, spin, latest, .. } = recommendation.workload;
        let simple =
            if objective == Objective::Simplicity { "all that are the least work" } else { "the simplest" };
        let newest = if latest { ", the best that replaces older messages" } else { "" };
        let spinning = if spin { format!(", and {SPINNING} that busy-wait") } else { String::new() };
        lines.push(format!(
            "not in the longer look, which has room for at most {SLEEPING} that block (fewer if the time is short): {simple}{newest}, \
             then the best of each family, the second best of each, and the rest{spinning}; in the early look, as compared with \
             {than}: {compared}."
        ));
    }
    if !uncompared.is_empty() {
        let uncompared = listed(&uncompared, 2 * NAMED);
        let cause = match recommendation.run.partial {
            true => "not measured longer because the run was interrupted",
            false => "dropped for lack of time",
        };
        lines.push(format!("{cause}, after one or two trials of each: {uncompared}."));
    }
    lines
}

/// Names one exchange.
fn unit(workload: &Workload) -> &'static str {
    Unit::of(workload.pattern).word()
}

/// Formats a share as a percentage.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}
