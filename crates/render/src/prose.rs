//! The sentences around the tables, shared by every format that is read by people.

use super::{
    document::Block,
    figures,
    marks::{has_failed_trials, has_no_interval, marked_name},
    noise::condition,
    words::count,
};
use furlong_analysis::text::{listed, plain, versions};
use furlong_analysis::{Condition, Group, Level, PayloadKind, Row, RunFacts, Summary, unusual_conditions};
use furlong_model::{
    Case, CoreChoice, Harness, Machine, PeerHost, Runtime, Unit, format_bytes, format_digits, format_ns,
    three_digits,
};
use furlong_stats::distinct;

/// Rows that are named one by one.
const ROWS_NAMED: usize = 6;
/// Default capacity of a pipe in bytes: 16 pages of 4 KiB.
const USUAL_PIPE_BYTES: u64 = 64 << 10;
/// Names of the sizes of buffers in effect.
const BUFFERS: [&str; 4] = ["pipe-size-bytes", "send-buffer-bytes", "receive-buffer-bytes", "ring-bytes"];
/// A difference of two shares that are rounded.
const NO_SHARE: f64 = 1e-6;
/// A row that sends more than this share late, and keeps up with its rate, has a timer that is late.
const MOSTLY: f64 = 0.5;
/// Heading above the conclusions of a summary, a comparison or a replay.
pub(crate) const FINDINGS: &str = "Findings";

/// Describes the machine of the run in one line.
pub fn machine(machine: &Machine, harness: &Harness) -> String {
    let clock = machine.clock_source.as_deref().unwrap_or("unknown");
    described(machine, Some(format!("clock {clock}, {} per reading", format_ns(harness.clock_read_ns))))
}

/// Describes the machine of the run without its clock.
pub(crate) fn machine_briefly(machine: &Machine) -> String {
    described(machine, None)
}

fn described(machine: &Machine, clock: Option<String>) -> String {
    let processor = machine.processor.as_deref().unwrap_or("unknown processor");
    let virtual_machine = machine.hypervisor.as_ref().map(|hypervisor| format!("virtual ({hypervisor})"));
    let processors = match machine.processors.len() {
        0 => None,
        1 => Some("1 CPU".to_owned()),
        count => Some(format!("{count} CPUs")),
    };
    let parts = [
        Some(processor.to_owned()),
        processors,
        machine.core_choice.as_deref().map(core_choice),
        virtual_machine,
        Some(format!("{} {} {}", machine.system, machine.kernel, machine.architecture)),
        clock,
        stand_in(machine),
    ];
    let conditions = unusual_conditions(machine);
    let parts = parts.into_iter().chain(conditions.iter().map(|one| Some(condition(one))));
    parts.flatten().map(|part| plain(&part)).collect::<Vec<_>>().join(", ")
}

/// Describes the CPUs of `other-core`, which interrupts decided.
fn core_choice(choice: &CoreChoice) -> String {
    let CoreChoice { cpus: [one, other], instead_of: [first, second], interrupts_per_s } = choice;
    let rate = format_digits(*interrupts_per_s as f64);
    format!("other-core on CPUs {one} and {other}, because {first} and {second} serve {rate} interrupts/s")
}

/// Describes the host of the responders, if it is another one.
pub(crate) fn peer(peer: &PeerHost) -> String {
    let PeerHost { peer, address, machine } = peer;
    let host = machine.host.as_deref().unwrap_or("a host without a name");
    let Machine { system, kernel, architecture, .. } = machine;
    plain(&format!(
        "Responders were on {host}, {system} {kernel} {architecture}, at {address} ({peer}). Clocks of the two hosts are never \
         compared. The noise verdict is about this host only."
    ))
}

/// Names the runtime that replaced the named system; `None` if it was the system itself.
pub(crate) fn stand_in(machine: &Machine) -> Option<String> {
    match &machine.runtime {
        Runtime::Native => None,
        Runtime::Wine(version) => Some(format!(
            "under Wine {version} instead of Windows, so the figures prove the code and not the speed"
        )),
        Runtime::Emulator(name) => {
            Some(format!("emulated by {}, so the figures prove the code and not the speed", plain(name)))
        }
        Runtime::Gvisor => Some("under gVisor instead of the Linux kernel".to_owned()),
        Runtime::Wsl1 => Some("under WSL 1 instead of the Linux kernel".to_owned()),
    }
}

/// Warning about figures of a debug build.
pub const DEBUG_BUILD_WARNING: &str = "furlong is a debug build with loops that are not optimised: all figures are too large. Build it with --release.";

/// Warns of a debug build, and of missing trials.
pub fn run_warnings(run: &RunFacts) -> impl Iterator<Item = &'static str> {
    let is_debug = unusual_conditions(&run.machine).contains(&Condition::DebugBuild);
    let partial = "The run is partial: it was interrupted, or its file is cut off.";
    let debug = is_debug.then_some(DEBUG_BUILD_WARNING);
    debug.into_iter().chain(run.partial.then_some(partial))
}

/// Reports that comparisons hold although the times do not. Returns `None` if the machine was reliable, or if no
/// benchmarks were compared within rounds.
pub fn standing(summary: &Summary) -> Option<String> {
    let compared = summary.rows.iter().any(|row| row.comparable.is_some_and(|found| found.adjusted));
    (summary.run.noise.level == Level::Unreliable && compared)
        .then(|| "Ratios compare benchmarks within rounds, in which each ran once.".to_owned())
}

/// Reports the harness overhead, which is the time of the loop without a mechanism; `None` if it was not measured.
pub fn floor(summary: &Summary) -> Option<String> {
    let named = |row: &Row| {
        let (ns, size) = (format_ns(row.exchange.ns.p50), format_bytes(row.case.size_bytes));
        format!("{} {ns} ({size}, {})", marked_name(row), row.case.placement)
    };
    let floors: Vec<_> = floors(summary).map(named).collect();
    (!floors.is_empty()).then(|| {
        format!(
            "Harness overhead, measured by a loop without a mechanism: {}. It is not subtracted.",
            floors.join(", ")
        )
    })
}

/// Returns the loops without a mechanism.
fn floors(summary: &Summary) -> impl Iterator<Item = &Row> {
    let groups = summary.groups.iter().filter(|group| group.carries == PayloadKind::Nothing);
    groups.flat_map(|group| summary.rows_of(group))
}

/// Reports the smallest and the largest harness overhead; `None` if it was not measured.
pub(crate) fn floor_briefly(summary: &Summary) -> Option<String> {
    let times = || floors(summary).map(|row| row.exchange.ns.p50);
    let (least, most) = (times().reduce(f64::min), times().reduce(f64::max));
    let (least, most) = (format_ns(least?), format_ns(most?));
    let range = if least == most { least } else { format!("{least} to {most}") };
    Some(format!("Harness overhead: {range}, not subtracted."))
}

/// Returns what the marks and columns of the tables mean, as far as they are used.
pub fn footnotes(summary: &Summary) -> Vec<String> {
    let notes = |block| match block {
        Block::Footnotes(notes) | Block::Legend(_, _, notes) => notes,
        _ => Vec::new(),
    };
    legend(summary).into_iter().flat_map(notes).collect()
}

/// Returns the footnotes, as legends if they explain columns that narrow tables drop.
pub(crate) fn legend(summary: &Summary) -> Vec<Block> {
    let started_again = summary.run.started_again.map(|count| {
        format!(
            "Wine failed to start {count} of the processes at first, and started them at the second attempt."
        )
    });
    let any = |mark: fn(&Row) -> bool| summary.rows.iter().any(mark);
    let lone = any(|row| has_no_interval(row) || row.rank.is_none())
        .then(|| "? fewer than three trials: no interval, ratio or place; --trials 3 or a longer --within gives more.".to_owned());
    let failed = any(has_failed_trials).then(|| "! some trials failed: see below.".to_owned());
    let general = [started_again, lone, failed]
        .into_iter()
        .flatten()
        .chain(small_pipes(summary))
        .chain(equal_buffers(summary))
        .chain(doubts(summary))
        .chain(adapters(summary))
        .chain(programs(summary));
    let general = general.map(|text| Block::Footnotes(vec![text]));
    figures::notes(summary).into_iter().chain(general).collect()
}

/// Describes the user's own programs, one line each.
fn programs(summary: &Summary) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for row in &summary.rows {
        let Some(programs) = &row.programs else { continue };
        let begin = if programs.begins_when_ready { "'ready'" } else { "its start, process start included," };
        let end = if programs.ends_when_done { "'done'" } else { "its end" };
        let [serve, ask] = &programs.commands;
        let asking = if serve.is_empty() { String::new() } else { format!(", asking '{serve}'") };
        let line = plain(&format!(
            "{}: '{ask}'{asking}, from {begin} to {end}. furlong measured its time, CPU time and switches, and did \
             not verify its messages.",
            row.case.mechanism
        ));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Names the libraries behind the benchmarks of adapters, and their work in addition to moving bytes. Adapters with
/// equal text share a line, whatever their cases.
fn adapters(summary: &Summary) -> Vec<String> {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &summary.rows {
        let Some(adapter) = &row.adapter else { continue };
        let name = row.case.mechanism.as_str();
        if said.iter().any(|(_, names)| names.contains(&name)) {
            continue;
        }
        let does = match adapter.does.is_empty() {
            true => String::new(),
            false => format!("; in addition to moving bytes: {}", adapter.does.join(", ")),
        };
        let compiled = warmed_up(summary, row);
        let what = format!("{}{does}{}{compiled}", versions(&adapter.versions), servers(summary, row));
        match said.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(name),
            None => said.push((what, vec![name])),
        }
    }
    said.into_iter().map(|(what, names)| plain(&format!("{}: {what}.", names.join(", ")))).collect()
}

/// Reports how long the trials of a program with a just-in-time compiler warmed up, over all of its cases.
fn warmed_up(summary: &Summary, row: &Row) -> String {
    let same = summary.rows.iter().filter(|other| other.case.mechanism == row.case.mechanism);
    let all: Vec<_> = same.filter_map(|row| Some((row.warm_up?, row.trials))).collect();
    let longest_ns = all.iter().map(|(warm_up, _)| warm_up.longest_ns).fold(0.0, f64::max);
    let most = all.iter().map(|(warm_up, _)| warm_up.first_ratio).fold(0.0, f64::max);
    let unsteady: usize = all.iter().map(|(warm_up, _)| warm_up.unsteady_trials).sum();
    let trials: usize = all.iter().map(|(_, trials)| trials).sum();
    let time = format_ns(longest_ns);
    match (all.is_empty(), unsteady) {
        (true, _) => String::new(),
        (_, 0) => {
            let first = format!("the first 50 ms took {}x as long", three_digits(most));
            format!("; compiles while it runs, so each trial warmed up for up to {time} ({first})")
        }
        _ => format!(
            "; compiles while it runs, and {unsteady} of {trials} trials still became faster after a warm-up of {time}"
        ),
    }
}

/// Reports the resources that the servers of a benchmark used, over all of its cases.
fn servers(summary: &Summary, row: &Row) -> String {
    let same = || summary.rows.iter().filter(|other| other.case.mechanism == row.case.mechanism);
    let used = |name: &str| {
        let all = same().flat_map(|row| &row.others_cpu_ns).filter(|(other, _)| other.as_str() == name);
        let (least, most) =
            all.fold((f64::INFINITY, 0.0_f64), |(least, most), (_, ns)| (least.min(*ns), most.max(*ns)));
        let [least, most] = [least, most].map(format_ns);
        let range = if least == most { least } else { format!("{least} to {most}") };
        format!("; {name} uses {range} of CPU time per {}", row.exchange.unit.word())
    };
    row.others_cpu_ns.keys().map(|name| used(name)).collect()
}

/// Returns a line about pipes whose capacity the kernel has reduced, because their user has many pipes.
fn small_pipes(summary: &Summary) -> Option<String> {
    let held = |row: &Row| {
        let bytes = *row.effective.get("pipe-size-bytes")?;
        let is_small = row.case.buffer_bytes.is_none() && bytes < USUAL_PIPE_BYTES;
        is_small.then(|| format!("{} ({})", plain(&row.case.to_string()), format_bytes(bytes as usize)))
    };
    let rows: Vec<_> = summary.rows.iter().filter_map(held).collect();
    (!rows.is_empty()).then(|| {
        format!(
            "Pipes held less than the default 64 KiB, because this user has many pipes (fs.pipe-user-pages-soft): {}.",
            listed(&rows, ROWS_NAMED)
        )
    })
}

/// Names benchmarks that differ only in the requested size of a buffer, and whose buffers have the same size in effect, because the
/// kernel raises a size to its minimum or rounds it.
fn equal_buffers(summary: &Summary) -> Vec<String> {
    let mut found: Vec<(Case, &str, u64, Vec<String>)> = Vec::new();
    for row in summary.rows.iter().filter(|row| row.case.buffer_bytes.is_some()) {
        let case = Case { buffer_bytes: None, ..row.case.clone() };
        for (name, bytes) in row.effective.iter().filter(|(name, _)| BUFFERS.contains(&name.as_str())) {
            let key = (name.as_str(), *bytes);
            match found.iter_mut().find(|(other, name, bytes, _)| *other == case && (*name, *bytes) == key) {
                Some((.., names)) => names.push(plain(&row.case.to_string())),
                None => found.push((case.clone(), name, *bytes, vec![plain(&row.case.to_string())])),
            }
        }
    }
    let shared = found.into_iter().filter(|(.., names)| names.len() > 1);
    shared
        .map(|(_, name, bytes, names)| {
            let in_effect = format!("{} {}", plain(name), format_bytes(bytes as usize));
            format!(
                "Equal in effect, whatever size was requested: {} ({in_effect}).",
                listed(&names, ROWS_NAMED)
            )
        })
        .collect()
}

/// Lists reasons to doubt medians or their intervals, one line each with the affected benchmarks.
fn doubts(summary: &Summary) -> Vec<String> {
    let groups = |row: &Row| row.shape.trials_bimodal.map(modes);
    let drift = |row: &Row| row.shape.trials_drift.then(String::new);
    let modes = |row: &Row| row.shape.parting_modes().map(modes);
    [
        doubt(summary, "trials fall into two groups, and the median is of one or the other", groups),
        doubt(summary, "trials drift, so the interval is too narrow", drift),
        doubt(summary, "each trial has round trips of two kinds, and the median may be of either", modes),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns `meaning` and the benchmarks that have a `detail`; `None` without any.
fn doubt(summary: &Summary, meaning: &str, detail: impl Fn(&Row) -> Option<String>) -> Option<String> {
    let named = |row: &Row| Some(plain(&row.case.to_string()) + &detail(row)?);
    let rows: Vec<_> = summary.rows.iter().filter_map(named).collect();
    (!rows.is_empty()).then(|| format!("^ {meaning}: {}.", listed(&rows, ROWS_NAMED)))
}

fn modes([low, high]: [f64; 2]) -> String {
    format!(" ({} and {})", format_ns(low), format_ns(high))
}

/// Reports how many processes of a group shared a CPU. Returns `None` if each had its own CPU or none was pinned.
pub(crate) fn crowded(summary: &Summary, group: &Group) -> Option<String> {
    let row = summary.rows_of(group).find(|row| row.processors.len() > 2)?;
    let processors = distinct(&row.processors).len();
    let processes = row.processors.len();
    (processors < processes).then(|| match row.trials_on_one_processor {
        Some(_) => format!("{processes} processes, not pinned."),
        None => format!("{processes} processes on {}: they take turns.", count(processors, "CPU")),
    })
}

/// Reports the CPUs of the roles of a group, if the scheduler chose them or the roles are own programs. Returns
/// `None` for pinned roles.
pub(crate) fn chosen_processors(summary: &Summary, group: &Group) -> Option<String> {
    let share = |row: &Row| Some((row.trials_on_one_processor?, row.trials));
    let rows: Vec<_> = summary.rows_of(group).filter_map(|row| Some((row, share(row)?))).collect();
    let named = |(row, (on_one, all)): &(&Row, (usize, usize))| {
        format!("{} {on_one} of {all}", plain(&row.case.row()))
    };
    let all = |of: fn(&(usize, usize)) -> bool| rows.iter().all(|(_, share)| of(share));
    // Own programs may have any number of processes, and are seen during the whole measured part.
    let first = rows.first()?.0;
    let (they, two, when) = match first.programs {
        Some(_) => ("all processes", "two CPUs or more", "in each trial"),
        None if first.processors.len() > 2 => {
            ("all processes", "two CPUs or more", "at the end of each trial")
        }
        None => ("both processes", "two CPUs", "at the end of each trial"),
    };
    Some(match () {
        () if all(|(on_one, trials)| on_one == trials) => format!("{they} were on one CPU {when}"),
        () if all(|(on_one, _)| *on_one == 0) => format!("the processes were on {two} {when}"),
        () => {
            let trials: Vec<_> = rows.iter().map(named).collect();
            format!("trials with {they} on one CPU: {}", listed(&trials, ROWS_NAMED))
        }
    })
}

/// Lists the benchmarks of a paced group that sent messages late, and the start of their timing. Returns none if no
/// message was late.
pub(crate) fn late(summary: &Summary, group: &Group) -> Vec<String> {
    let named = |row: &Row, share: f64| format!("{} of {}", percent(share), plain(&row.case.row()));
    let rows = |share: &dyn Fn(&Row) -> Option<String>| {
        summary.rows_of(group).filter_map(share).collect::<Vec<_>>().join(", ")
    };
    let by_timer = rows(&|row| {
        let late = row.timer_late.filter(|late| late.share > 0.0)?;
        let (mean, longest) = (format_ns(late.mean_ns), format_ns(late.longest_ns));
        Some(format!("{} by {mean} (at most {longest})", named(row, late.share)))
    });
    let waited = rows(&|row| {
        let waited = row.late_sends_share? - row.timer_late?.share;
        (waited > NO_SHARE).then(|| named(row, waited))
    });
    let either = rows(&|row| {
        let share = row.late_sends_share.filter(|share| *share > 0.0 && row.timer_late.is_none())?;
        let mark = if share > MOSTLY { " (so its times hold the lateness of its timer)" } else { "" };
        Some(named(row, share) + mark)
    });
    [
        ("sent late by furlong's timer, and timed from the send", by_timer),
        ("sent late after another message, and timed from when they were due", waited),
        ("sent late, and timed from when they were due", either),
    ]
    .into_iter()
    .filter(|(_, rows)| !rows.is_empty())
    .map(|(what, rows)| format!("{what}: {rows}"))
    .chain(in_flight(summary, group))
    .collect()
}

/// Lists how many messages of a paced group were in flight at once, if furlong knows it.
fn in_flight(summary: &Summary, group: &Group) -> Option<String> {
    let is_answered = |row: &Row| Unit::of(row.case.pattern()) == Unit::RoundTrip;
    let paced = |row: &&Row| row.late_sends_share.is_some() && (is_answered(row) || row.in_flight.is_some());
    let described = |row: &Row| {
        let (name, bound) = (plain(&row.case.row()), row.case.most_in_flight());
        let Some(found) = row.in_flight else { return format!("{name} 1") };
        let held = match found.at_bound_share {
            share if share > 0.0 => format!(", which delayed {} of its sends", percent(share)),
            _ => String::new(),
        };
        format!("{name} {} of {bound}{held}", found.most)
    };
    let rows: Vec<_> = summary.rows_of(group).filter(paced).map(described).collect();
    (!rows.is_empty()).then(|| format!("most messages in flight at once: {}", rows.join("; ")))
}

/// Formats a share above 0; the smallest shares are not printed as 0.
fn percent(share: f64) -> String {
    if share < 0.000_5 { "less than 0.1 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}
