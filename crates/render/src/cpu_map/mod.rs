//! Latencies between CPUs: a matrix, the latency of each relation, and contradictions to the topology.

mod matrix;
mod scale;

use super::csv::sheet;
use super::document::{Cell, Column, Document, Fact, Line, Row, Section, Table, Tone};
use super::object::{JudgedSentences, object};
use super::style::Style;
use super::terminal::terminal;
use super::words::{count, fitness};
use furlong_analysis::text::{listed, plain, times_between};
use furlong_analysis::{CpuMap, CpuMapFinding, Level, RelationLatency};
use furlong_model::{Cpu, CpuList, CpuRelation, PairGroup, RelatedPair, format_ns};
use furlong_stats::{SortedMap, distinct};
use matrix::Matrix;

pub use scale::LatencyScale;

/// Pairs that a finding names.
const PAIRS_NAMED: usize = 6;

/// Returns the matrix, the latency of each relation, and the findings. A sample has no matrix.
pub fn cpu_map_table(map: &CpuMap, style: Style) -> String {
    let scale = LatencyScale::for_map(map);
    let mut head = Section::default().paragraph(cpu_map_title(map));
    if let Some(level) = map.settings.noise.filter(|level| *level != Level::Quiet) {
        let Line { tone, text } = fitness(level);
        head = head.toned(tone, text);
    }
    let mut drawn = String::new();
    match scale.map(|scale| Matrix::new(map, scale, style).drawn()) {
        None => head = head.toned(Tone::Bad, "No pair was measured."),
        Some(_) if map.is_sample() => head = head.paragraph(sample(map)),
        Some(Ok(matrix)) => drawn = format!("\n{matrix}"),
        Some(Err(columns)) => {
            let text = format!("The matrix needs {columns} columns: use --svg FILE, or fewer --cpus.");
            head = head.paragraph(text);
        }
    }
    let rest: Document =
        [relations(map), clusters(&map.cpus), Section::default().bullets(map.findings.iter().map(warning))]
            .into_iter()
            .collect();
    format!("{}{drawn}\n{}", terminal(&[head].into_iter().collect(), style), terminal(&rest, style))
}

/// Returns one JSON object; [`CpuMap`] documents its fields.
pub fn cpu_map_json(map: &CpuMap) -> String {
    let sentences = map.findings.iter().map(finding).collect();
    object(map, vec![JudgedSentences::new("findings_data", "findings", std::iter::once(sentences))])
}

/// Returns a header and one line per measured pair.
pub fn cpu_map_csv(map: &CpuMap) -> String {
    let header = [
        "first_cpu",
        "second_cpu",
        "relation",
        "first_kind",
        "second_kind",
        "round_trip_ns",
        "low_ns",
        "high_ns",
    ];
    let cpu = |number: usize| map.cpus.iter().find(|cpu| cpu.number == number);
    let lines = map.pairs.iter().filter_map(|pair| {
        let [first, second] = [cpu(pair.cpus[0])?, cpu(pair.cpus[1])?];
        let kind = |cpu: &Cpu| cpu.kind.map_or_else(String::new, |kind| kind.to_string());
        let end = |at: usize| pair.ci95.map_or_else(String::new, |ends| ends[at].to_string());
        let [low, high] = [end(0), end(1)];
        let relation = first.relation(second).to_string();
        let numbers = pair.cpus.map(|number| number.to_string());
        Some([&numbers[..], &[relation, kind(first), kind(second), pair.ns.to_string(), low, high]].concat())
    });
    sheet([header.map(str::to_owned).to_vec()].into_iter().chain(lines))
}

/// Returns the title of a map: the benchmark, the number of CPUs, the unit and the number of trials.
pub fn cpu_map_title(map: &CpuMap) -> String {
    let what = map.settings.benchmark.as_deref().map_or_else(|| "a bare cache line".to_owned(), plain);
    let unit = LatencyScale::for_map(map).map_or_else(String::new, |scale| format!(" in {}", scale.unit()));
    let cpus = count(map.cpus.len(), "CPU");
    let trials = match distinct(map.pairs.iter().map(|pair| pair.trials))[..] {
        [] => String::new(),
        [trials] => format!(", median of {}", count(trials, "trial")),
        [fewest, .., most] => format!(", median of {fewest} to {most} trials"),
    };
    format!("Round trip of {what} between {cpus}{unit}{trials}")
}

/// Describes a sample, and the time that all pairs take.
fn sample(map: &CpuMap) -> String {
    let seconds = format_ns(map.settings.all_pairs_s * 1e9);
    let minutes = format!("{:.0} min", map.settings.all_pairs_s / 60.0);
    let time = if map.settings.all_pairs_s < 120.0 { seconds } else { minutes };
    format!(
        "A sample of {} of {} pairs, so there is no matrix. All pairs take about {time}: use --all.",
        map.pairs.len(),
        map.all_pairs
    )
}

/// Names a relation.
pub fn relation_words(relation: CpuRelation) -> &'static str {
    match relation {
        CpuRelation::SmtSibling => "SMT sibling",
        CpuRelation::SameL2 => "same L2",
        CpuRelation::SameL3 => "same L3",
        CpuRelation::SameNode => "same node",
        CpuRelation::OtherNode => "other node",
        CpuRelation::OtherSocket => "other socket",
    }
}

fn group_words(group: &PairGroup) -> String {
    let relation = relation_words(group.relation);
    group.kinds.map_or_else(|| relation.to_owned(), |[one, other]| format!("{relation}, {one} and {other}"))
}

/// Returns the value of `--place` for pairs of this relation; empty if it has none.
fn place(relation: CpuRelation) -> &'static str {
    match relation {
        CpuRelation::SmtSibling => RelatedPair::Smt.name(),
        CpuRelation::SameL2 => "",
        CpuRelation::SameL3 => RelatedPair::L3.name(),
        CpuRelation::SameNode => RelatedPair::Node.name(),
        CpuRelation::OtherNode | CpuRelation::OtherSocket => RelatedPair::Far.name(),
    }
}

/// Returns one line per relation.
fn relations(map: &CpuMap) -> Section {
    let columns = [
        Column::words("relation"),
        Column::figures("pairs"),
        Column::figures("median"),
        Column::words("from-to").expendable(2),
        Column::words("--place").expendable(1),
    ];
    let figure = |ns: Option<f64>| ns.map_or_else(Cell::none, |ns| Cell::figure(format_ns(ns), ns));
    let row = |row: &RelationLatency| {
        let pairs = match row.pairs == row.all_pairs {
            true => row.pairs.to_string(),
            false => format!("{} of {}", row.pairs, row.all_pairs),
        };
        Row::neutral([
            Cell::Text(group_words(&row.group)),
            Cell::Text(pairs),
            figure(row.median_ns),
            row.range_ns
                .filter(|_| row.pairs > 1)
                .map_or_else(Cell::none, |ends| Cell::Text(times_between(ends))),
            Cell::Text(place(row.group.relation).to_owned()),
        ])
    };
    Section::default().table(Table::new(columns, map.relations.iter().map(row).collect()))
}

/// Returns the CPUs of each socket, node, L3 cache and kind of core, as far as there are several. Parts that consist of the
/// same CPUs are in one line.
fn clusters(cpus: &[Cpu]) -> Section {
    let lists = |part: &dyn Fn(&Cpu) -> Option<usize>| {
        let mut parts = SortedMap::<usize, Vec<usize>>::default();
        for cpu in cpus {
            if let Some(part) = part(cpu) {
                parts.or_default(part).push(cpu.number);
            }
        }
        let list =
            |(_, numbers): &(usize, Vec<usize>)| CpuList(distinct(numbers.iter().copied())).to_string();
        parts.iter().map(list).collect::<Vec<_>>().join(" | ")
    };
    let mut facts: Vec<Fact> = Vec::new();
    for (name, lists) in [
        ("sockets", lists(&|cpu: &Cpu| Some(cpu.socket))),
        ("NUMA nodes", lists(&|cpu: &Cpu| Some(cpu.node))),
        ("L3 caches", lists(&|cpu: &Cpu| cpu.l3)),
    ] {
        match facts.last_mut().filter(|fact| fact.value == lists) {
            Some(fact) => fact.name += &format!(", {name}"),
            None => facts.push(Fact::new(name, lists)),
        }
    }
    facts.retain(|fact| fact.value.contains(" | "));
    let kinds = distinct(cpus.iter().filter_map(|cpu| cpu.kind));
    facts.extend(kinds.into_iter().map(|kind| {
        let of_kind = cpus.iter().filter(|cpu| cpu.kind == Some(kind)).map(|cpu| cpu.number);
        Fact::new(format!("{kind} cores"), CpuList(distinct(of_kind)).to_string())
    }));
    Section::default().facts(facts)
}

fn warning(found: &CpuMapFinding) -> Line {
    Line { tone: Tone::Warning, text: finding(found) }
}

/// Describes a contradiction in two sentences.
fn finding(finding: &CpuMapFinding) -> String {
    match finding {
        CpuMapFinding::NearIsSlower { near, far, ns: [near_ns, far_ns] } => format!(
            "The figures contradict sysfs: '{}' takes {}, longer than '{}' with {}. A hypervisor may hide the topology of its host.",
            group_words(near),
            format_ns(*near_ns),
            group_words(far),
            format_ns(*far_ns)
        ),
        CpuMapFinding::TwoGroups { group, ns: [faster_ns, slower_ns], faster, slower } => {
            let mut named: Vec<_> = faster.iter().map(|[one, other]| format!("{one}:{other}")).collect();
            named.sort_unstable();
            format!(
                "The figures contradict sysfs: pairs of '{}' have two levels, {} ({}: {}) and {} ({}). sysfs may hide a \
                 shared cache or core.",
                group_words(group),
                format_ns(*faster_ns),
                count(faster.len(), "pair"),
                listed(&named, PAIRS_NAMED),
                format_ns(*slower_ns),
                count(*slower, "pair")
            )
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::object::assert_has_all;
    use furlong_fixture::topology::{TREES, cpu_map};
    use furlong_model::CoreKind;

    fn width(width: usize) -> Style {
        Style { width, ..Style::default() }
    }

    /// Returns the lines of the matrix in a text.
    fn matrix(text: &str) -> Vec<&str> {
        let lines = text.lines().skip_while(|line| !line.is_empty()).skip(1);
        lines.take_while(|line| !line.starts_with("relation")).filter(|line| !line.is_empty()).collect()
    }

    #[test]
    fn every_figure_is_in_the_row_and_column_of_its_cpus() {
        for (name, _) in TREES {
            let map = cpu_map(name);
            let text = cpu_map_table(&map, width(10_000));
            if map.pairs.is_empty() {
                assert!(text.contains("No pair was measured."), "{text}");
                continue;
            }
            let scale = LatencyScale::for_map(&map).unwrap();
            let lines: Vec<Vec<&str>> =
                matrix(&text).iter().map(|line| line.split_whitespace().collect()).collect();
            let (head, rows) = lines.split_first().unwrap();
            assert_eq!((head.len(), rows.len()), (map.cpus.len(), map.cpus.len()), "{text}");
            for pair in &map.pairs {
                let [one, other] = pair.cpus.map(|number| number.to_string());
                let cell = |row: &str, column: &str| {
                    let row = rows.iter().find(|cells| cells[0] == row).unwrap();
                    row[1 + head.iter().position(|cpu| *cpu == column).unwrap()].to_owned()
                };
                let figure = scale.figure(pair.ns);
                assert_eq!(
                    [cell(&one, &other), cell(&other, &one)],
                    [figure.clone(), figure],
                    "{name}\n{text}"
                );
            }
        }
    }

    #[test]
    fn map_fits_every_terminal() {
        for (name, _) in TREES {
            let map = cpu_map(name);
            for columns in [60, 80, 100, 200] {
                let text = cpu_map_table(&map, width(columns));
                assert!(text.lines().all(|line| line.chars().count() <= columns), "{name}\n{text}");
                assert!(text.lines().all(|line| line == line.trim_end()), "{name}\n{text}");
                let coloured = cpu_map_table(&map, Style { colour: true, ..width(columns) });
                let plain: String = coloured
                    .split("\u{1b}[")
                    .enumerate()
                    .map(|(at, part)| if at == 0 { part } else { part.split_once('m').unwrap().1 })
                    .collect();
                assert_eq!(plain, text, "{name}");
            }
        }
    }

    #[test]
    fn two_sockets_in_figures() {
        insta::assert_snapshot!(cpu_map_table(&cpu_map("two-sockets"), width(100)));
    }

    #[test]
    fn core_complexes_in_letters() {
        insta::assert_snapshot!(cpu_map_table(&cpu_map("zen-ccx"), width(80)));
    }

    #[test]
    fn kinds_of_cores_have_lines() {
        insta::assert_snapshot!(cpu_map_table(&cpu_map("hybrid"), width(100)));
    }

    #[test]
    fn map_that_is_too_wide_names_the_width() {
        let text = cpu_map_table(&cpu_map("nps4"), width(30));
        assert!(text.replace("\n  ", " ").contains("The matrix needs 42 columns: use --svg FILE"), "{text}");
        assert!(cpu_map_table(&cpu_map("nps4"), width(42)).contains("█"));
    }

    #[test]
    fn sample_has_no_matrix_and_names_the_time_of_all_pairs() {
        let mut map = cpu_map("nps4");
        map.settings.selected_pairs = 40;
        map.settings.all_pairs_s = 1380.0;
        map.settings.noise = Some(Level::Noisy);
        map.pairs.truncate(40);
        let text = cpu_map_table(&map, width(200));
        assert!(
            text.contains("A sample of 40 of 496 pairs, so there is no matrix. All pairs take about 23 min"),
            "{text}"
        );
        assert!(text.contains("\nThe machine was NOISY"), "{text}");
        assert!(text.contains("\nrelation") && !text.contains("\n 0"), "{text}");
    }

    #[test]
    fn contradictions_are_sentences() {
        let mut map = cpu_map("one-socket");
        let group = |relation| PairGroup { relation, kinds: None };
        map.findings = vec![
            CpuMapFinding::NearIsSlower {
                near: group(CpuRelation::SameL3),
                far: PairGroup {
                    kinds: Some([CoreKind::Performance, CoreKind::Efficiency]),
                    ..group(CpuRelation::SameNode)
                },
                ns: [200.0, 100.0],
            },
            CpuMapFinding::TwoGroups {
                group: group(CpuRelation::SameL3),
                ns: [22.0, 61.0],
                faster: (0..8).map(|at| [at, at + 8]).collect(),
                slower: 100,
            },
        ];
        let text = cpu_map_table(&map, width(1000));
        for expected in [
            "- The figures contradict sysfs: 'same L3' takes 200 ns, longer than 'same node, P and E' with 100 ns.",
            "- The figures contradict sysfs: pairs of 'same L3' have two levels, 22.0 ns (8 pairs: 0:8, 1:9, 2:10, 3:11, 4:12, \
             5:13 and 2 more) and 61.0 ns (100 pairs).",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&cpu_map_json(&map)).unwrap();
        assert_eq!(json["findings"].as_array().unwrap().len(), 2);
        assert_eq!(json["findings_data"][1]["kind"], "two_groups");
    }

    #[test]
    fn map_for_programs_has_every_pair() {
        for (name, _) in TREES {
            let map = cpu_map(name);
            assert_has_all(&cpu_map_json(&map), &map);
            assert_eq!(cpu_map_csv(&map).lines().count(), 1 + map.pairs.len(), "{name}");
        }
        let csv = cpu_map_csv(&cpu_map("hybrid"));
        assert!(
            csv.contains("\n0,1,smt-sibling,P,P,25,24,26.5\n") && csv.contains("\n0,12,same-l3,P,E,"),
            "{csv}"
        );
    }
}
