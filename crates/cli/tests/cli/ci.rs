//! The workflow of docs/ci.md, run step by step as written, with an artificial regression.

use crate::common::Place;
use crate::common::value::{at, list, number, text};
use std::fs;
use std::path::Path;

/// The iterations of the loop in which the workflow measures.
const TURNS: [&str; 5] = ["1", "2", "3", "4", "5"];

/// Returns the commands of the first workflow in the page, one per step, with those of its loop for each iteration.
fn steps() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md");
    let page = fs::read_to_string(page).expect("the page");
    let workflow =
        page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a workflow");
    let commands =
        workflow.lines().map(|line| line.trim_start_matches([' ', '-']).trim_start_matches("run: "));
    let commands = commands.filter(|line| line.starts_with("furlong "));
    let (in_turn, then): (Vec<&str>, Vec<&str>) = commands.partition(|line| line.contains("$turn"));
    let turns = TURNS.iter().flat_map(|turn| in_turn.iter().map(move |line| line.replace("$turn", turn)));
    turns.chain(then.into_iter().map(str::to_owned)).collect()
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn the_workflow_of_the_page_finds_a_regression_that_was_made() {
        let place = Place::new();
        for state in ["base", "head"] {
            fs::create_dir(place.path(state)).unwrap();
            let adapter = place.path(state).join("adapter");
            place.run(["adapter", "new", "--lang", "python", "mine"]).expect_code(0);
            fs::rename(place.path("mine"), &adapter).unwrap();
            if state == "head" {
                let program = adapter.join("adapter.py");
                let slower = fs::read_to_string(&program).unwrap();
                let slower = slower
                    .replace("            got = 0\n", "            time.sleep(0.002)\n            got = 0\n");
                assert!(slower.contains("sleep(0.002)"), "the template has changed: {slower}");
                fs::write(&program, slower).unwrap();
            }
        }
        let (mut compared, mut reported) = (0, 0);
        for step in steps() {
            // Five trials are enough for this comparison.
            let step = step.replace("--trials 15", "--trials 5");
            let line = step.replacen("furlong", "exec \"$FURLONG\"", 1);
            let finished = place.finish(&mut place.shell(&line));
            if step.starts_with("furlong compare") {
                // The run is the unit of comparison, so a factor of 5 or more is found even on an unreliable machine.
                let finished = finished.expect_code(3);
                assert!(finished.stdout.contains("1 worse"), "{finished:#?}");
                compared += 1;
            } else {
                finished.expect_code(0);
                reported += usize::from(step.starts_with("furlong report"));
            }
        }
        assert_eq!((compared, reported), (1, 1));
        assert!(place.path("report.html").is_file());
        let json = place.run(["compare", "base-1", "head-1", "--format", "json"]).json();
        let [row] = list(&json, "rows") else { panic!("one row: {json:#}") };
        assert_eq!(text(row, "mechanism"), "mine");
        assert!(number(row, "ratio") > 5.0, "{:#}", at(row, "ratio"));
    }
}
