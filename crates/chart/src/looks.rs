//! Which look a row has, the same in all charts of a report.

use crate::chart::Look;

/// A number for each mechanism, and one for each of its ways to wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looks {
    mechanisms: Vec<(String, Vec<String>)>,
}

impl Looks {
    /// For rows of these names (`mechanism/wait`): the first mechanisms have the looks that are easiest to tell apart.
    pub fn of_rows(rows: impl IntoIterator<Item = String>) -> Looks {
        let mut looks = Looks::default();
        for row in rows {
            let (mechanism, wait) = split(&row);
            let known = looks.mechanisms.iter().position(|(name, _)| name == mechanism);
            let number = known.unwrap_or_else(|| {
                looks.mechanisms.push((mechanism.to_owned(), Vec::new()));
                looks.mechanisms.len() - 1
            });
            let waits = &mut looks.mechanisms[number].1;
            if !waits.iter().any(|name| name == wait) {
                waits.push(wait.to_owned());
            }
        }
        looks
    }

    /// The look of a row; that of no number for one which was not there.
    pub fn of(&self, row: &str) -> Look {
        let (mechanism, wait) = split(row);
        let known = self.mechanisms.iter().enumerate().find(|(_, (name, _))| name == mechanism);
        let look = known.and_then(|(number, (_, waits))| {
            Some(Look::Variant(number, waits.iter().position(|name| name == wait)?))
        });
        look.unwrap_or(Look::Muted)
    }
}

fn split(row: &str) -> (&str, &str) {
    row.rsplit_once('/').unwrap_or((row, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mechanism_has_one_number_however_it_waits() {
        let rows = ["pipe/block", "tcp/block", "pipe/spin", "pipe/block"].map(str::to_owned);
        let looks = Looks::of_rows(rows);
        assert_eq!(looks.of("pipe/block"), Look::Variant(0, 0));
        assert_eq!(looks.of("pipe/spin"), Look::Variant(0, 1));
        assert_eq!(looks.of("tcp/block"), Look::Variant(1, 0));
        assert_eq!([looks.of("tcp/spin"), looks.of("udp/block")], [Look::Muted; 2]);
    }
}
