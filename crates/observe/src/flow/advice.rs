//! Advice on the links that take most CPU time: the parts of that time, and the CPU time that other ways to communicate would
//! give back, from the costs of this machine. The latency of a wake-up is not CPU time and does not count.

use super::document::peers;
use super::links::{Link, LinkEnd, TrafficShape};
use super::means::Means;
use super::observation::Observation;
use furlong_analysis::{CONTEXT_SWITCH, Costs, cost_name};
use furlong_model::{Cost, format_ns, three_digits};
use furlong_render::document::Section;
use serde::Serialize;

/// Messages of a batch.
const BATCH: u32 = 8;

/// Most links with advice.
const MOST: usize = 3;

/// CPU share from which a link has advice.
const LEAST: f64 = 0.01;

/// Advice on an observation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// Reason why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Links that take most CPU time, the first one most.
    pub links: Vec<LinkAdvice>,
    #[expect(missing_docs, reason = "the name says everything")]
    pub context_switch_ns: Option<f64>,
}

/// CPU time of a link. All shares are parts of one CPU: 0.1 is 10 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkAdvice {
    /// Index of the link in the observation.
    pub link: usize,
    /// CPU time of the calls at the observed ends, without that of tracing them.
    pub cpu_share: f64,
    #[expect(missing_docs, reason = "the name says everything")]
    pub wake_ups: f64,
    #[expect(missing_docs, reason = "the name says everything")]
    pub calls: f64,
    #[expect(missing_docs, reason = "the name says everything")]
    pub copies: f64,
    /// Share that batches of eight messages would give back; `None` if each message waits for a response.
    pub batching: Option<Estimate>,
    /// Share that a ring in shared memory would give back.
    pub ring: Estimate,
}

/// Estimated share of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Share from the costs of the machine.
    pub share: f64,
    /// Lower end from the lower ends of the costs. The upper end counts all CPU time that the costs do not explain.
    pub interval: [f64; 2],
}

/// Parts of a link's CPU time, as shares of one CPU.
#[derive(Debug, Clone, Copy)]
struct Parts {
    wake_ups: f64,
    calls: f64,
    copies: f64,
    /// Calls that a ring in shared memory needs to wake the same sleepers.
    futex_calls: f64,
}

impl Parts {
    /// Computes the parts with these costs; `None` if one is missing.
    fn new(link: &Link, seconds: f64, costs: &Costs) -> Option<Parts> {
        let switch_ns = costs.ns(CONTEXT_SWITCH)?;
        let futex_ns = costs.ns(cost_name(Cost::FutexWake))? + costs.ns(cost_name(Cost::FutexWait))?;
        let other_ns = costs.ns(cost_name(Cost::SystemCall))?;
        let mean_bytes = link.bytes_per_s? / link.messages_per_s;
        let copy_ns = costs.copy_ns(mean_bytes as usize)?;
        let call_ns = |end: &LinkEnd| {
            let names = end.calls.iter().chain(&end.readiness_calls);
            let each: Vec<_> = names.map(|name| costs.call_ns(name).unwrap_or(other_ns)).collect();
            each.iter().sum::<f64>() / each.len().max(1) as f64
        };
        let mut parts = Parts { wake_ups: 0.0, calls: 0.0, copies: 0.0, futex_calls: 0.0 };
        for end in link.senders.iter().chain(&link.receivers) {
            // Nanoseconds per message times this are a share of one CPU.
            let messages = end.messages as f64 / seconds / 1e9;
            let sleeps = messages * end.sleeps_per_message.unwrap_or_default();
            parts.wake_ups += sleeps * switch_ns;
            parts.futex_calls += sleeps * futex_ns;
            parts.calls += messages * end.calls_per_message.unwrap_or_default() * call_ns(end);
            parts.copies += messages * copy_ns;
        }
        Some(parts)
    }

    fn batching(&self) -> f64 {
        (self.wake_ups + self.calls) * (1.0 - 1.0 / f64::from(BATCH))
    }

    fn ring(&self) -> f64 {
        self.calls - self.futex_calls
    }
}

impl Estimate {
    /// Clips an estimate and its interval to what can be given back.
    fn new(share: f64, low: f64, high: f64) -> Estimate {
        let high = high.max(0.0);
        let share = share.clamp(0.0, high);
        Estimate { share, interval: [low.clamp(0.0, share), high] }
    }

    fn text(&self) -> String {
        let [low, high] = self.interval.map(|share| three_digits(share * 100.0));
        format!("{} ({low}-{high} %)", percent(self.share))
    }
}

fn percent(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}

impl LinkAdvice {
    fn new(
        found: &Observation,
        (index, cpu_share): (usize, f64),
        [low, costs]: [&Costs; 2],
    ) -> Option<LinkAdvice> {
        let link = &found.links[index];
        let seconds = found.duration_ns as f64 / 1e9;
        let (low, parts) = (Parts::new(link, seconds, low)?, Parts::new(link, seconds, costs)?);
        // The costs may explain more than the link takes, for example if calls find warmer caches.
        let scale = (cpu_share / (parts.wake_ups + parts.calls + parts.copies)).min(1.0);
        let unexplained = |known: f64| (cpu_share - known).max(0.0);
        let most = unexplained(low.copies) * (1.0 - 1.0 / f64::from(BATCH));
        let is_batched = link.pattern == TrafficShape::Unanswered;
        let ring_most = unexplained(low.wake_ups + low.copies + low.futex_calls);
        Some(LinkAdvice {
            link: index,
            cpu_share,
            wake_ups: parts.wake_ups * scale,
            calls: parts.calls * scale,
            copies: parts.copies * scale,
            batching: is_batched.then(|| Estimate::new(parts.batching(), low.batching(), most)),
            ring: Estimate::new(parts.ring(), low.ring(), ring_most),
        })
    }

    fn text(&self, found: &Observation) -> String {
        let link = &found.links[self.link];
        let part = |share: f64| format!("{:.0} %", 100.0 * share / self.cpu_share);
        let batching = self.batching.map_or_else(String::new, |gain| {
            format!("batches of {BATCH} messages would give back {}, and ", gain.text())
        });
        format!(
            "{} -> {} ({}): {} of one CPU, of which {} for wake-ups, {} for calls and {} for copies; {batching}a ring in \
             shared memory {}{}.",
            peers(&link.senders, &link.other_senders, &link.users),
            peers(&link.receivers, &link.other_receivers, &link.users),
            link.means.words(),
            percent(self.cpu_share),
            part(self.wake_ups),
            part(self.calls),
            part(self.copies),
            if self.batching.is_some() { "" } else { "would give back " },
            self.ring.text(),
        )
    }
}

/// Returns the CPU share of the calls at the observed ends, without the time that tracing them takes.
fn cpu_share(found: &Observation, link: &Link) -> f64 {
    let ends = link.senders.iter().chain(&link.receivers);
    let calls: f64 = ends.map(|end| end.messages as f64 * end.calls_per_message.unwrap_or_default()).sum();
    (link.calls_cpu_share - calls * found.observer.traced_call_ns / found.duration_ns.max(1) as f64).max(0.0)
}

/// Returns costs with the lower end of each interval instead of the estimate.
fn lower_ends(costs: &Costs) -> Costs {
    let mut costs = costs.clone();
    for figure in &mut costs.figures {
        figure.ns = figure.ci95.map_or(figure.ns, |[low, _]| low);
    }
    costs
}

/// Returns whether messages are copied through the kernel.
fn is_copied(link: &Link) -> bool {
    link.bytes_per_s.is_some_and(|bytes| bytes > 0.0) && link.means != Means::ProcessVm
}

impl Advice {
    /// Returns no advice, for this reason.
    pub fn missing(why: impl Into<String>) -> Advice {
        Advice { missing: Some(why.into()), links: Vec::new(), context_switch_ns: None }
    }

    /// Computes the advice from the costs of this machine.
    pub fn new(found: &Observation, costs: &Costs) -> Advice {
        let copied = found.links.iter().enumerate().filter(|(_, link)| is_copied(link));
        let mut shares: Vec<_> = copied.map(|(index, link)| (index, cpu_share(found, link))).collect();
        shares.retain(|(_, share)| *share >= LEAST);
        shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        shares.truncate(MOST);
        let low = lower_ends(costs);
        let advise = |link| LinkAdvice::new(found, link, [&low, costs]);
        let advised: Option<Vec<_>> = shares.into_iter().map(advise).collect();
        match advised {
            Some(links) => Advice { missing: None, links, context_switch_ns: costs.ns(CONTEXT_SWITCH) },
            None => Advice::missing(
                "the saved costs are incomplete; repeat 'furlong costs --save costs --replace'",
            ),
        }
    }

    /// Returns the advice for readers.
    pub fn section(&self, found: &Observation) -> Section {
        let mut section = Section::titled("Advice");
        if let Some(why) = &self.missing {
            return section.paragraph(format!("None: {why}."));
        }
        for link in &self.links {
            section = section.paragraph(link.text(found));
        }
        match self.context_switch_ns {
            Some(switch_ns) if !self.links.is_empty() => section.paragraph(format!(
                "Assumed: a wake-up takes the CPU time of a context switch ({}), and its latency no CPU time. A batch has one call and \
                 one wake-up. A ring copies and wakes as before. Upper ends include the trace of context switches.",
                format_ns(switch_ns)
            )),
            _ => section.paragraph(format!("None: no link with a payload takes {} of a CPU.", percent(LEAST))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::amounts::Percentiles;
    use crate::flow::ends::FlowId;
    use crate::flow::links::Peer;
    use crate::flow::observation::ObserverCost;
    use furlong_analysis::{COSTS_SCHEMA, CostEstimate};
    use furlong_render::{Style, document_text};

    /// A call takes 400 ns, a wake-up 2 us, a copy of 1000 bytes 100 ns, and two futex calls 300 ns, each within 10 %.
    fn costs() -> Costs {
        let figure = |name: &str, size_bytes, ns: f64| CostEstimate {
            name: name.to_owned(),
            size_bytes,
            ns,
            ci95: Some([0.9 * ns, 1.1 * ns]),
            looks: 9,
            from: Vec::new(),
            spread: None,
        };
        let figures = vec![
            figure(CONTEXT_SWITCH, None, 2000.0),
            figure("system-call", None, 200.0),
            figure("pipe-transfer", None, 800.0),
            figure("futex-wake", None, 100.0),
            figure("futex-wait", None, 200.0),
            figure("copy", Some(1000), 100.0),
        ];
        Costs { schema: COSTS_SCHEMA, figures }
    }

    /// Returns a pipe with 20,000 messages/s of 1000 bytes for 2 s, whose receiver sleeps before each, and its CPU share.
    fn observation(calls_cpu_share: f64, pattern: TrafficShape) -> Observation {
        let end = |pid, call: &str, sleeps| LinkEnd {
            peer: Peer { pid, command: "a\u{1b}program".to_owned() },
            messages: 40_000,
            calls: vec![call.to_owned()],
            readiness_calls: Vec::new(),
            wait: None,
            calls_per_message: Some(1.0),
            sleeps_per_message: Some(sleeps),
            failed_attempts_per_message: None,
        };
        let link = Link {
            flow: FlowId(0),
            means: Means::Pipe,
            object: "pipe:[1]".to_owned(),
            senders: vec![end(7, "write", 0.0)],
            receivers: vec![end(8, "read", 1.0)],
            users: Vec::new(),
            other_senders: Vec::new(),
            other_receivers: Vec::new(),
            messages: 40_000,
            messages_per_s: 20_000.0,
            calls_cpu_share,
            bytes_per_s: Some(20e6),
            size_bytes: Some(Percentiles { p50: 1000, p99: 1000, max: 1000 }),
            pattern,
            round_trips: Vec::new(),
            requester: None,
            transit_ns: None,
        };
        let silent = Link { bytes_per_s: None, calls_cpu_share: 0.5, ..link.clone() };
        Observation {
            schema: 1,
            duration_ns: 2_000_000_000,
            links: vec![silent, link],
            processes: Vec::new(),
            shared_memory: Vec::new(),
            observer: ObserverCost {
                cpu_share: 0.01,
                events: 10,
                events_per_s: 5.0,
                traced_call_ns: 500.0,
                lost_events: 0,
            },
            unidentified_descriptors: 0,
        }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn parts_and_gains_follow_from_the_costs() {
        // Tracing two calls takes 1 us per message, which is 2 % of a CPU.
        let found = observation(0.10, TrafficShape::Unanswered);
        let advice = Advice::new(&found, &costs());
        let [link] = &advice.links[..] else { panic!("{advice:?}") };
        assert_eq!(link.link, 1, "the other link has no payload");
        close(link.cpu_share, 0.08);
        for (found, expected) in [(link.wake_ups, 0.04), (link.calls, 0.016), (link.copies, 0.004)] {
            close(found, expected);
        }
        let (batching, ring) = (link.batching.unwrap(), link.ring);
        close(batching.share, 0.056 * 7.0 / 8.0);
        close(batching.interval[0], 0.9 * batching.share);
        // The costs leave 2 % of the CPU unexplained.
        close(batching.interval[1], (0.08 - 0.0036) * 7.0 / 8.0);
        close(ring.share, 0.016 - 0.006);
        close(ring.interval[0], 0.9 * ring.share);
        close(ring.interval[1], 0.08 - 0.9 * (0.04 + 0.004 + 0.006));
        let text = document_text(&[advice.section(&found)].into_iter().collect(), Style::default());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = "a program[7] -> a program[8] (anonymous pipe): 8.00 % of one CPU, of which 50 % for wake-ups, 20 % for calls \
                        and 5 % for copies; batches of 8 messages would give back 4.90 % (4.41-6.68 %), and a ring in shared memory \
                        1.00 % (0.90-3.50 %).";
        assert!(text.replace("aprogram", "a program").contains(expected), "{text}");
        assert!(text.contains("context switch (2.00 us)") && !text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn gains_are_never_more_than_the_link_takes() {
        let advice = Advice::new(&observation(0.04, TrafficShape::RequestsAndResponses), &costs());
        let [link] = &advice.links[..] else { panic!("{advice:?}") };
        close(link.wake_ups + link.calls + link.copies, link.cpu_share);
        assert_eq!(link.batching, None, "each request waits for its response");
        let [low, high] = link.ring.interval;
        assert!(0.0 <= low && low <= link.ring.share && link.ring.share <= high && high <= 0.02, "{link:?}");
    }

    #[test]
    fn missing_costs_and_idle_links_have_no_advice() {
        let found = observation(0.10, TrafficShape::Unanswered);
        for name in [CONTEXT_SWITCH, "futex-wake", "copy", "system-call"] {
            let mut costs = costs();
            costs.figures.retain(|figure| figure.name != name);
            let advice = Advice::new(&found, &costs);
            assert!(advice.links.is_empty() && advice.missing.is_some(), "{name}: {advice:?}");
        }
        let idle = observation(0.025, TrafficShape::Unanswered);
        let advice = Advice::new(&idle, &costs());
        let text = document_text(&[advice.section(&idle)].into_iter().collect(), Style::default());
        assert!(advice.links.is_empty() && text.contains("no link with a payload takes 1.00 %"), "{text}");
    }
}
