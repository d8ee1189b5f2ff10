//! `[[claim]]`: the conclusions of an experiment, in a form that can be tested.

use super::{ExperimentError, place::Source, rows::listed_size, schema, table::Text};
use furlong_model::{Claim, ExperimentRow, Meaning, MeaningClaim, Measure, Statement};
use toml::Spanned;

/// Default limit of the ratio between two benchmarks that a claim calls alike.
const WITHIN: f64 = 1.1;

pub(super) fn check(
    source: &Source,
    read: &[schema::Claim],
    rows: &[ExperimentRow],
    measure: &Measure,
) -> Result<Vec<Claim>, ExperimentError> {
    let claim = |claim: &schema::Claim| {
        let context = Context { source, rows, measure };
        let size = |size: &Option<Text>| size.as_ref().map(|size| context.size(size)).transpose();
        let [size_bytes, from_bytes, to_bytes] = [size(&claim.size)?, size(&claim.from)?, size(&claim.to)?];
        let (text, states) = (source.text(&claim.text)?, context.statement(claim)?);
        Ok(Claim { text, states, size_bytes, from_bytes, to_bytes })
    };
    read.iter().filter(|read| read.meaning.is_none()).map(claim).collect()
}

/// Checks the claims about meanings.
pub(super) fn check_meanings(
    source: &Source,
    read: &[schema::Claim],
    rows: &[ExperimentRow],
    measure: &Measure,
) -> Result<Vec<MeaningClaim>, ExperimentError> {
    let context = Context { source, rows, measure };
    read.iter().filter_map(|claim| Some(context.meaning(claim, claim.meaning.as_ref()?))).collect()
}

/// Names that a claim may refer to.
struct Context<'a> {
    source: &'a Source<'a>,
    rows: &'a [ExperimentRow],
    measure: &'a Measure,
}

impl Context<'_> {
    fn statement(&self, claim: &schema::Claim) -> Result<Statement, ExperimentError> {
        let statement = match claim {
            schema::Claim { fastest: Some(row), faster: None, alike: None, best_size: None, .. } => {
                Statement::Fastest(self.published(row)?)
            }
            schema::Claim {
                faster: Some(row),
                than: Some(than),
                fastest: None,
                alike: None,
                best_size: None,
                ..
            } => {
                let times = claim.times.as_ref().map(|times| self.source.real(times, "ratio", 1.0..=1e6));
                let times = times.transpose()?.unwrap_or(1.0);
                let at_most = claim.at_most.as_ref().map(|most| self.source.real(most, "ratio", times..=1e6));
                let (row, than) = (self.row(row)?, self.other_row(than, row)?);
                Statement::Faster { row, than, times, at_most: at_most.transpose()? }
            }
            schema::Claim { alike: Some(rows), fastest: None, faster: None, best_size: None, .. } => {
                let within = claim.within.as_ref().map(|within| self.source.real(within, "ratio", 1.0..=1e6));
                Statement::Alike { rows: self.two_rows(rows)?, within: within.transpose()?.unwrap_or(WITHIN) }
            }
            schema::Claim {
                best_size: Some(size),
                row: Some(row),
                fastest: None,
                faster: None,
                alike: None,
                ..
            } => Statement::BestSize { size_bytes: self.size(size)?, row: self.published(row)? },
            _ => {
                return Err(self.source.wrong(
                    &claim.text,
                    "a claim states one thing: fastest = \"A\", or faster = \"A\" with than = \"B\", or \
                     alike = [\"A\", \"B\"], or best_size = \"4KiB\" with row = \"A\", or \
                     meaning = \"persists\" with of = \"A\"",
                ));
            }
        };
        self.belongs(claim, &statement)?;
        Ok(statement)
    }

    fn meaning(&self, claim: &schema::Claim, meaning: &Text) -> Result<MeaningClaim, ExperimentError> {
        let meaning = self.source.parsed::<Meaning>(meaning)?;
        let Some(of) = &claim.of else {
            return Err(self.source.wrong(&claim.text, "a claim with a meaning needs of = \"A\", a row"));
        };
        self.reject_others(claim, &["of", "holds"])?;
        Ok(MeaningClaim {
            text: self.source.text(&claim.text)?,
            meaning,
            of: self.row(of)?,
            holds: claim.holds.as_ref().is_none_or(|holds| *holds.get_ref()),
        })
    }

    /// Rejects keys of other statements. They would be ignored without a notice to the author.
    fn belongs(&self, claim: &schema::Claim, statement: &Statement) -> Result<(), ExperimentError> {
        let used: &[&str] = match statement {
            Statement::Fastest(_) => &["fastest"],
            Statement::Faster { .. } => &["faster", "than", "times", "at_most"],
            Statement::Alike { .. } => &["alike", "within"],
            Statement::BestSize { .. } => &["best_size", "row"],
        };
        let sizes: &[&str] = match statement {
            Statement::BestSize { .. } => &[],
            _ if claim.size.is_some() => &["size"],
            _ => &["from", "to"],
        };
        self.reject_others(claim, &[used, sizes].concat())
    }

    /// Rejects the first key of the claim that is not among `used`.
    fn reject_others(&self, claim: &schema::Claim, used: &[&str]) -> Result<(), ExperimentError> {
        let text = |text: &Option<Text>| text.as_ref().map(Spanned::span);
        let number = |number: &Option<Spanned<f64>>| number.as_ref().map(Spanned::span);
        let keys = [
            ("fastest", text(&claim.fastest)),
            ("faster", text(&claim.faster)),
            ("than", text(&claim.than)),
            ("times", number(&claim.times)),
            ("at_most", number(&claim.at_most)),
            ("alike", claim.alike.as_ref().map(Spanned::span)),
            ("within", number(&claim.within)),
            ("best_size", text(&claim.best_size)),
            ("row", text(&claim.row)),
            ("size", text(&claim.size)),
            ("from", text(&claim.from)),
            ("to", text(&claim.to)),
            ("of", text(&claim.of)),
            ("holds", claim.holds.as_ref().map(Spanned::span)),
        ];
        let stray =
            keys.into_iter().find_map(|(key, span)| Some((key, span.filter(|_| !used.contains(&key))?)));
        stray.map_or(Ok(()), |(key, span)| {
            Err(self.source.error(span.start, format!("this kind of claim has no {key}: remove it")))
        })
    }

    fn size(&self, size: &Text) -> Result<usize, ExperimentError> {
        let bytes = self.source.size(size)?;
        listed_size(bytes, &self.measure.sizes_bytes).map_err(|reason| self.source.wrong(size, reason))
    }

    fn row(&self, name: &Text) -> Result<String, ExperimentError> {
        let wanted = name.get_ref().trim();
        if self.rows.iter().any(|row| row.name == wanted) {
            return Ok(wanted.to_owned());
        }
        let known: Vec<_> = self.rows.iter().map(|row| row.name.as_str()).collect();
        let reason = format!("no row is called '{wanted}'; there are: {}", known.join(", "));
        Err(self.source.wrong(name, reason))
    }

    /// Checks that the benchmark exists and has published figures.
    fn published(&self, name: &Text) -> Result<String, ExperimentError> {
        let row = self.row(name)?;
        let has_figures = |other: &ExperimentRow| other.name == row && !other.published.is_empty();
        if self.rows.iter().any(has_figures) {
            return Ok(row);
        }
        Err(self.source.wrong(name, format!("'{row}' has no published figures: name a row that has some")))
    }

    fn other_row(&self, name: &Text, than: &Text) -> Result<String, ExperimentError> {
        let row = self.row(name)?;
        if row == than.get_ref().trim() {
            return Err(self
                .source
                .wrong(name, format!("'{row}' is compared with itself: name another row")));
        }
        Ok(row)
    }

    fn two_rows(&self, names: &Spanned<Vec<Text>>) -> Result<[String; 2], ExperimentError> {
        let [first, second] = names.get_ref().as_slice() else {
            return Err(self.source.wrong(names, "write two rows, as in alike = [\"A\", \"B\"]"));
        };
        Ok([self.row(first)?, self.other_row(second, first)?])
    }
}
