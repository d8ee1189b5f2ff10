//! Parses the output of init.sh on the second serial port: a line after boot, then a section for each program, with
//! its output and exit status.

const BOOTED: &str = "# booted";
const BEGIN: &str = "# suite ";
const EXIT: &str = "# exit ";

/// Output of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Name of the program.
    pub name: String,
    /// Complete output.
    pub body: String,
    /// Exit status; `None` if the guest ended first.
    pub exit: Option<i32>,
}

/// Returns whether the guest reached init.sh.
pub fn has_booted(results: &str) -> bool {
    results.lines().any(|line| line == BOOTED)
}

/// Returns the names of the started sections.
pub fn begun(results: &str) -> impl Iterator<Item = &str> {
    // The last line may not be whole yet.
    results.split_inclusive('\n').filter_map(|line| line.strip_prefix(BEGIN)?.strip_suffix('\n'))
}

/// Returns the sections in order. Text outside of sections is ignored.
pub fn sections(results: &str) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut open: Option<Section> = None;
    for line in results.lines() {
        if let Some(name) = line.strip_prefix(BEGIN) {
            sections.extend(open.take());
            open = Some(Section { name: name.to_owned(), body: String::new(), exit: None });
        } else if let Some(section) = &mut open {
            match line.strip_prefix(EXIT).and_then(|code| code.parse().ok()) {
                Some(code) => {
                    section.exit = Some(code);
                    sections.extend(open.take());
                }
                None => {
                    section.body.push_str(line);
                    section.body.push('\n');
                }
            }
        }
    }
    sections.extend(open);
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str, body: &str, exit: Option<i32>) -> Section {
        Section { name: name.to_owned(), body: body.to_owned(), exit }
    }

    #[test]
    fn sections_come_in_order_with_their_ends() {
        let results = "# booted\n# suite a\n1..1\nok 1 - x\n\n# exit 0\n# suite b.sh\n# exit 137\nlost\n";
        let expected = [section("a", "1..1\nok 1 - x\n\n", Some(0)), section("b.sh", "", Some(137))];
        assert_eq!(sections(results), expected);
        assert!(has_booted(results));
        assert_eq!(begun(results).collect::<Vec<_>>(), ["a", "b.sh"]);
    }

    #[test]
    fn a_section_may_lack_its_end() {
        let both = [section("a", "1..2\n", None), section("b", "ok 1", None)];
        let read = sections("# suite a\n1..2\n# suite b\nok 1");
        assert_eq!(read[0], both[0]);
        assert_eq!((read[1].body.as_str(), read[1].exit), ("ok 1\n", None));
        assert_eq!(sections("# suite a\n# exit soon\n"), [section("a", "# exit soon\n", None)]);
    }

    #[test]
    fn a_guest_that_says_nothing_has_not_booted() {
        assert!(!has_booted("") && !has_booted("# boot") && !has_booted("x # booted\n"));
        assert!(sections("# booted\n").is_empty());
        assert_eq!(begun("# suite a\n# suite half").count(), 1);
    }
}
