//! Tests of judgements on good and bad figures from furlong.

use super::*;

fn rows(rows: &[(&str, f64, u64)]) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|(row, mean_us, exchanges)| {
            format!(
                "{{\"row\":\"{row}\",\"status\":\"measured\",\"corrupted\":false,\
                 \"measured\":{{\"mean_us\":{{\"value\":{mean_us}}}}},\"durations\":{{\"exchanges\":{exchanges}}}}}"
            )
        })
        .collect();
    format!("furlong: a word on stderr\n{{\"rows\":[{}]}}\n\n", rows.join(","))
}

fn sections(message: f64, shm: f64, spin: f64) -> Vec<Section> {
    let messages = rows(&[
        ("driver-shm/select-first", shm, 9_000),
        ("driver-message/select-first", message, 9_000),
        (QUEUE, 20.0, 9_000),
    ]);
    let spin = rows(&[("driver-shm/spin", spin, 300_000), ("memfd-shm/spin", 0.2, 300_000)]);
    let names = ["driver-shm", "driver-message", "posix-mq", "unix-stream", "fifo"];
    let replay: String = names.iter().map(|name| format!("{name}  {name}/select-first  1.5\n")).collect();
    [("messages.json", messages), ("spin.json", spin), ("replay", replay)]
        .map(|(name, body)| Section { name: name.to_owned(), body, exit: Some(0) })
        .to_vec()
}

/// Returns the names of the failed judgements, without their common prefix.
fn failed(sections: &[Section]) -> Vec<String> {
    let cases = judged(sections);
    assert_eq!(cases.len(), 6);
    let failed = cases.iter().filter(|case| !case.passed);
    failed.map(|case| case.name.split_whitespace().nth(1).unwrap_or_default().to_owned()).collect()
}

#[test]
fn figures_are_held_against_what_is_asked() {
    assert!(failed(&sections(18.9, 16.9, 0.2)).is_empty());
    assert_eq!(failed(&sections(19.1, 16.9, 0.2)), ["driver-message/select-first"]);
    assert_eq!(failed(&sections(18.9, 17.1, 0.2)), ["driver-shm/select-first"]);
    assert_eq!(failed(&sections(18.9, 16.9, 0.22)), ["driver-shm/spin"]);
    assert_eq!(failed(&sections(18.9, 16.9, 0.18)), ["driver-shm/spin"]);
}

#[test]
fn the_table_is_of_instructions_and_the_cheapest_comes_first() {
    let case = &judged(&sections(19.0, 16.25, 0.2))[0];
    assert_eq!(case.notes[1], "driver-shm/select-first            16250   over 9000 round trips");
    assert!(case.notes[3].starts_with(QUEUE), "{:?}", case.notes);
    assert!(case.notes[0].starts_with("Instructions of a round trip"));
}

#[test]
fn figures_that_cannot_be_compared_are_refused() {
    let message = |body: &str, exit| {
        let mut sections = sections(19.0, 16.0, 0.2);
        sections[1] = Section { name: "spin.json".to_owned(), body: body.to_owned(), exit };
        assert_eq!(failed(&sections), ["spin.json", "driver-shm/spin"]);
        judged(&sections)[1].notes.join("\n")
    };
    let uneven = rows(&[("driver-shm/spin", 0.2, 9), ("memfd-shm/spin", 0.2, 8)]);
    assert!(message(&uneven, Some(0)).ends_with("only equal numbers can be compared"));
    let corrupted = rows(&[("a", 1.0, 1)]).replace("\"corrupted\":false", "\"corrupted\":true");
    assert_eq!(message(&corrupted, Some(0)), "a received other bytes than were sent");
    let absent =
        "{\"rows\":[{\"row\":\"a\",\"status\":\"unavailable\",\"reason\":\"r\",\"remedy\":\"load it\"}]}";
    assert_eq!(message(absent, Some(0)), "a is \"unavailable\": r (load it)");
    assert_eq!(message("{\"rows\":[]}", Some(0)), "there is no benchmark");
    assert!(message("{\"rows\":[{", Some(0)).starts_with("furlong printed incomplete JSON"));
    assert_eq!(message("", Some(0)), "furlong printed no JSON");
    assert_eq!(message("why", Some(1)), "furlong ended with 1:\nwhy");
    assert_eq!(message("half", None), "furlong had not ended when the guest did:\nhalf");
}

#[test]
fn a_replay_that_lacks_a_row_fails() {
    let mut lacking = sections(19.0, 16.0, 0.2);
    lacking[2].body = lacking[2].body.replace("driver-shm/select-first", "–");
    assert_eq!(failed(&lacking), ["furlong"]);
    lacking.pop();
    assert_eq!(judged(&lacking)[5].notes, ["the guest stopped before replay"]);
}
