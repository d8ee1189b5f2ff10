//! A replay for a terminal.

use super::{
    super::{
        prose as shared, style::Paint, style::Style, table::bullet, table::noise, table::partial,
        table::titled,
    },
    chart, prose,
    tables::sheets,
};
use furlong_analysis::text::{plain_sentence, wrap};
use furlong_analysis::{Replay, ReplayStatus};

/// Machine, noise verdict and the machine of then; the tables; what could not be measured; the faults; the verdict.
pub fn replay_table(replay: &Replay, style: Style) -> String {
    let line = |text: &str| wrap(text, style.width, 2) + "\n";
    let mut text = style.paint(Paint::Bold, &wrap(&prose::heading(replay), style.width, 2)) + "\n";
    let machine = shared::machine(&replay.run.machine, &replay.run.harness);
    text += &prose::then_and_now(replay, &machine).iter().map(|part| line(part)).collect::<String>();
    text += &noise(&replay.run.noise, style);
    text += &line(&prose::measured(replay));
    if replay.run.partial {
        text += &partial(style);
    }
    text += &sheets(replay).iter().map(|sheet| sheet.for_terminal(style)).collect::<String>();
    text += &chart::charts(replay, style);
    let unmeasured = prose::unmeasured(replay).into_iter().map(|(status, line)| {
        let failure = matches!(status, ReplayStatus::Failed | ReplayStatus::Void);
        let line = bullet(&line, style);
        if failure { style.paint(Paint::Red, &line) } else { line }
    });
    text += &titled(prose::UNMEASURED, unmeasured, style);
    let bullets =
        |lines: &[String]| lines.iter().map(|line| bullet(&plain_sentence(line), style)).collect::<Vec<_>>();
    text += &titled(prose::COUNTERPARTS, bullets(&prose::counterparts(replay)).into_iter(), style);
    text += &titled(prose::FAULTS, bullets(&replay.faults).into_iter(), style);
    text + &titled(prose::VERDICT, bullets(&replay.verdict).into_iter(), style)
}
