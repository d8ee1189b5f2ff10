//! A replay as Markdown, for an issue or a note.

use super::{
    super::{markdown::escape, markdown::list, markdown::titled, prose as shared},
    prose,
    tables::sheets,
};
use furlong_analysis::Replay;
use furlong_analysis::text::plain_sentence;

/// The same as the terminal's, with every column.
pub fn replay_markdown(replay: &Replay) -> String {
    let machine = shared::machine(&replay.run.machine, &replay.run.harness);
    let mut text = format!("## {}\n", escape(&prose::heading(replay)));
    text += &list(prose::then_and_now(replay, &machine));
    text += &format!("\nThe machine was **{}**.\n", replay.run.noise.level.name());
    text += &list(shared::noise(&replay.run.noise));
    text += &format!("\n{}\n", escape(&prose::measured(replay)));
    if replay.run.partial {
        text += "\n**The run is partial**: it was interrupted, or its file cut off.\n";
    }
    text += &sheets(replay).iter().map(super::sheet::Sheet::for_markdown).collect::<String>();
    let plainly = |lines: &[String]| lines.iter().map(|line| plain_sentence(line)).collect::<Vec<_>>();
    text += &titled(prose::UNMEASURED, prose::unmeasured(replay).into_iter().map(|(_, line)| line).collect());
    text += &titled(prose::COUNTERPARTS, prose::counterparts(replay));
    text += &titled(prose::FAULTS, plainly(&replay.faults));
    text + &titled(prose::VERDICT, plainly(&replay.verdict))
}
