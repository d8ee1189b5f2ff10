//! Tests of the printed text, without running it: every expected program exists, and looks like handwritten code.

use furlong_mechanism::Mechanism;
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_model::{Boundary, Capabilities, Family, Pattern, Reach, Wait};
use furlong_programs::{EndBoundaries, Language, known, program, supported};

/// The capabilities of each mechanism, and whether it is common.
#[derive(Default)]
struct CapabilityTable(Vec<(Capabilities, bool)>);

impl Visitor for CapabilityTable {
    fn visit<M: Mechanism>(&mut self) {
        self.0.push((M::CAPABILITIES, M::IS_COMMON));
    }
}

fn registry() -> Vec<(Capabilities, bool)> {
    let mut all = CapabilityTable::default();
    visit_all(&mut all);
    all.0
}

#[test]
fn every_mechanism_with_data_has_a_program_or_a_reason() {
    for (capabilities, is_common) in registry() {
        let name = capabilities.name;
        assert!(known().any(|known| known == name), "{name} has neither a program nor a reason");
        let in_c = supported(Language::C).any(|(mechanism, _)| mechanism == name);
        // Users of a mechanism with a kernel module find a program in driver/README.md. Users of io_uring find examples
        // in liburing.
        let elsewhere = capabilities.reach == Reach::Device || capabilities.family == Family::IoUring;
        let expected = !capabilities.notifies_only() && name != "null" && !elsewhere && is_common;
        assert_eq!(in_c, expected, "{name} in C");
        for (wait, language) in
            capabilities.waits.iter().flat_map(|wait| Language::ALL.map(|language| (*wait, language)))
        {
            let there = supported(language).any(|row| row == (name, wait));
            match program(name, wait, Pattern::RoundTrip, 128, EndBoundaries::default(), language) {
                Ok(_) => assert!(there, "{name}/{wait} in {language}"),
                Err(why) => {
                    assert!(!there, "{name}/{wait} in {language}: {why}");
                    assert!(why.to_string().contains(' '), "{name}/{wait} in {language}: {why}");
                }
            }
        }
    }
}

#[test]
fn every_program_of_every_pattern_has_all_that_its_templates_print() {
    for language in Language::ALL {
        for (mechanism, wait) in supported(language) {
            for pattern in [Pattern::RoundTrip, Pattern::OneWay, Pattern::Request] {
                // A stream has no program if messages may be dropped, as another test checks.
                if let Err(why) = program(mechanism, wait, pattern, 128, EndBoundaries::default(), language) {
                    assert!(pattern == Pattern::OneWay, "{mechanism}/{wait} in {language}, {pattern}: {why}");
                }
            }
        }
    }
}

#[test]
fn every_row_is_one_of_the_registry() {
    let registry = registry();
    for (mechanism, wait) in Language::ALL.into_iter().flat_map(supported) {
        let there = |capabilities: &Capabilities| {
            capabilities.name == mechanism && capabilities.waits.contains(&wait)
        };
        assert!(registry.iter().any(|(capabilities, _)| there(capabilities)), "{mechanism}/{wait}");
    }
}

#[test]
fn what_is_missing_has_a_reason_with_a_way_out() {
    let why = |mechanism, wait, pattern, size_bytes, language| {
        program(mechanism, wait, pattern, size_bytes, EndBoundaries::default(), language)
            .unwrap_err()
            .to_string()
    };
    let both = Pattern::RoundTrip;
    assert!(why("eventfd", Wait::Block, both, 8, Language::C).contains("carries no data"));
    assert!(why("posix-shm", Wait::Eventfd, both, 8, Language::C).contains("memfd-shm/eventfd"));
    assert!(why("posix-shm", Wait::Futex, both, 8, Language::Python).contains("posix-semaphore"));
    assert!(why("process-vm", Wait::Spin, both, 8, Language::Python).contains("memfd-shm/posix-semaphore"));
    assert!(why("pipe", Wait::Epoll, both, 8, Language::Rust).contains("block, spin"));
    assert!(why("udp", Wait::Block, Pattern::OneWay, 8, Language::C).contains("unix-dgram"));
    assert!(why("udp", Wait::Block, both, 65508, Language::C).contains("65507"));
    assert!(why("pipe", Wait::Block, both, 0, Language::C).contains("1 byte"));
    assert!(why("driver-message", Wait::Block, both, 8, Language::C).contains("kernel module"));
    assert!(why("pipe", Wait::Block, Pattern::Connect, 8, Language::C).contains("a persistent link"));
    assert!(why("channel", Wait::Spin, both, 8, Language::Python).contains("talk.py"));
    let users = EndBoundaries::of(&[Boundary::User]);
    let error = program("channel", Wait::Adaptive, both, 8, users, Language::Rust).unwrap_err();
    assert!(error.to_string().contains("unix-stream"), "{error}");
    assert!(why("pigeon", Wait::Block, both, 8, Language::C).contains("pigeon"));
}

#[test]
fn languages_read_back_as_written() {
    for language in Language::ALL {
        assert_eq!(language.name().parse(), Ok(language));
    }
    assert!("perl".parse::<Language>().is_err());
}

/// Returns the text of every program, with its name.
fn every_text() -> Vec<(String, Language, String)> {
    let rows =
        Language::ALL.into_iter().flat_map(|language| supported(language).map(move |row| (row, language)));
    let mut all = Vec::new();
    for ((mechanism, wait), language) in rows {
        for (pattern, boundary) in Pattern::OVER_ONE_LINK
            .iter()
            .flat_map(|pattern| [Boundary::None, Boundary::User].map(|boundary| (*pattern, boundary)))
        {
            let between = EndBoundaries::of(std::slice::from_ref(&boundary));
            if let Ok(program) = program(mechanism, wait, pattern, 4096, between, language) {
                let what = format!("{mechanism}/{wait} {pattern} in {language} across {boundary}");
                all.push((what, language, program.text));
            }
        }
    }
    assert!(all.len() > 450, "{}", all.len());
    all
}

#[test]
fn they_look_written_by_hand() {
    for (what, language, text) in every_text() {
        let gap = if language == Language::Python { "\n\n\n\n" } else { "\n\n\n" };
        assert!(!text.contains(gap), "{what} has holes:\n{text}");
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{what} ends in blank lines");
        for line in text.lines() {
            assert!(line.chars().count() <= 120, "{what} has a long line: {line}");
            assert_eq!(line, line.trim_end(), "{what}");
            assert!(!line.contains('\t'), "{what}: {line}");
            assert!(!line.contains("{%") && !line.contains("{{ ") && !line.contains("%}"), "{what}: {line}");
        }
        for marker in ["@header@", "@includes@", "@imports@", "@uses@", "@foreign@", "@helpers@"] {
            assert!(!text.contains(marker), "{what} has {marker} in it");
        }
        let lines = text.lines().count();
        // Code that authenticates the peer adds up to a hundred lines.
        let most = if what.ends_with("process") { 560 } else { 700 };
        assert!((60..=most).contains(&lines), "{what} has {lines} lines");
    }
}

#[test]
fn they_say_what_they_are_and_how_to_run_them() {
    for (what, _, text) in every_text() {
        let row = what.split(' ').next().unwrap();
        for part in
            [&format!("{row}: "), "Run:    ", "Handles: ", "Left to you: ", "Limits: ", "Needs: ", "[COUNT]"]
        {
            assert!(text.contains(part), "{what} lacks {part}");
        }
    }
}
