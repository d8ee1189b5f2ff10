//! The HTML page: one file with its style, scripts, charts and figures. It makes no network request.
//!
//! The template escapes every text. This module makes the parts that the template must not escape: pictures, whose
//! text the SVG library escapes.

use crate::ids::Ids;
use crate::report::Report;
use furlong_render::document::Document;
use furlong_render::words::count;
use html::SectionView;
use minijinja::{Environment, value::Serde};
use serde::Serialize;

mod atlas;
mod fleet;
mod html;
pub mod list;

pub use atlas::atlas_page;
pub use fleet::fleet_page;

/// Properties of a page that a server delivers together with a list of all runs.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ServedPage<'a> {
    /// Address of the list.
    pub list: &'a str,
    /// The runs of the page that are still being measured.
    pub under_way: &'a [&'a str],
}

/// The name of the template: its ending turns escaping on.
const NAME: &str = "page.html";
const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 2] = [include_str!("page.js"), include_str!("charts.js")];

/// A page that could not be put together.
#[derive(Debug, thiserror::Error)]
#[error("cannot put the page together: {0:#}")]
pub struct PageError(#[from] minijinja::Error);

#[derive(Serialize)]
struct Page<'a> {
    title: String,
    heading: String,
    version: &'a str,
    style: &'a str,
    scripts: [&'a str; 2],
    served: Option<ServedPage<'a>>,
    verdict: Vec<SectionView<'a>>,
    chapters: Vec<SectionView<'a>>,
}

impl Report {
    /// Returns one self-contained HTML page.
    ///
    /// # Errors
    /// Returns an error of the template engine. No record can cause one.
    pub fn html(&self) -> Result<String, PageError> {
        self.page(None)
    }

    /// Returns a page that links to the list of runs of its server.
    ///
    /// # Errors
    /// Returns the errors of [`Report::html`].
    pub fn served_html(&self, served: ServedPage) -> Result<String, PageError> {
        self.page(Some(served))
    }

    fn page(&self, served: Option<ServedPage>) -> Result<String, PageError> {
        let mut ids = Ids::for_page();
        self.charts().for_each(|chart| drop(ids.give(&chart.id)));
        let (verdict, chapters) = (self.verdict(), self.chapters());
        let mut verdict = html::chapters(&verdict, &mut ids);
        let chapters = html::chapters(&chapters, &mut ids);
        // A run in the verdict links to the chapter of the run.
        for said in verdict.iter_mut().flat_map(|chapter| &mut chapter.sections) {
            let of_run = |chapter: &&SectionView| said.title.is_some() && chapter.title == said.title;
            said.link = chapters.iter().find(of_run).and_then(|chapter| chapter.id.clone());
        }
        let heading = match &self.parts[..] {
            [one] => one.name.clone(),
            several => count(several.len(), "run"),
        };
        let page = Page {
            title: self.title(),
            heading,
            version: env!("CARGO_PKG_VERSION"),
            style: STYLE,
            scripts: SCRIPTS,
            served,
            verdict,
            chapters,
        };
        filled_in(NAME, TEMPLATE, &page)
    }
}

/// Returns the page of a verdict and chapters that no run has.
fn from_documents(heading: String, verdict: &Document, chapters: &Document) -> Result<String, PageError> {
    let mut ids = Ids::for_page();
    let page = Page {
        title: format!("furlong: {heading}"),
        heading,
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        scripts: SCRIPTS,
        served: None,
        verdict: html::chapters(verdict, &mut ids),
        chapters: html::chapters(chapters, &mut ids),
    };
    filled_in(NAME, TEMPLATE, &page)
}

/// Fills a template.
fn filled_in(name: &str, template: &str, page: &impl Serialize) -> Result<String, PageError> {
    let mut environment = Environment::new();
    // The only used one of fifty filters, whose compilation takes a third of the package's compile time.
    environment.add_filter("length", |value: minijinja::Value| value.len());
    environment.add_template(name, template)?;
    // minijinja removes the final line break.
    Ok(environment.get_template(name)?.render(minijinja::Value::from(Serde(page)))? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_render::document::{Cell, Column, Fact, Line, Row, Section, Table, Tone};

    /// Markup in every text.
    const EVIL: &str = "<b title=\"x\">";

    #[test]
    fn every_kind_of_block_has_its_markup_and_no_text_is_markup() {
        let row = Row {
            tone: Tone::Bad,
            ..Row::neutral([Cell::Text(EVIL.into()), Cell::figure(EVIL, 1500.0), Cell::Bar(0.5)])
        };
        let columns = [Column::words(EVIL), Column::figures("figure"), Column::words("bar")];
        let table = Table { notes: vec![EVIL.into()], ..Table::new(columns, vec![row]) };
        let inner = Section::titled(EVIL).anchored(EVIL).table(table).footnotes(vec![EVIL.into()]);
        let chapter = Section::chapter("chapter")
            .anchored("top")
            .toned(Tone::Warning, EVIL)
            .bullets([Line::neutral(EVIL)])
            .facts(vec![Fact::new(EVIL, EVIL), Fact::command(EVIL, EVIL)]);
        let document = Document { sections: vec![chapter, inner] };
        let page = Page {
            title: EVIL.into(),
            heading: EVIL.into(),
            version: "",
            style: "",
            scripts: [""; 2],
            served: None,
            verdict: Vec::new(),
            chapters: html::chapters(&document, &mut Ids::for_page()),
        };
        let page = filled_in(NAME, TEMPLATE, &page).unwrap();
        assert!(!page.contains("<b title") && !page.contains("title=\"x\""), "{page}");
        let escaped = "&lt;b title=&quot;x&quot;&gt;";
        for markup in [
            "<section id=\"top-2\" aria-label=\"chapter\">\n<h2>chapter</h2>",
            &format!("<p class=\"warning\"><span class=\"sign\" aria-hidden=\"true\"></span>{escaped}</p>"),
            &format!("<ul><li>{escaped}</li></ul>"),
            &format!("<dt>{escaped}</dt><dd>{escaped}</dd>"),
            &format!("<dt>{escaped}</dt><dd><code>{escaped}</code></dd>"),
            &format!("<section id=\"b-title-x\" aria-label=\"{escaped}\">\n<h3>{escaped}</h3>"),
            &format!("<caption>{escaped}</caption>"),
            "<th scope=\"col\" class=\"figures\">figure</th>",
            &format!(
                "<tr class=\"bad\"><td>{escaped}</td><td class=\"figures\" data-by=\"1500.0\">{escaped}</td><td><meter value=\"0.5\">"
            ),
            &format!("<li><a href=\"#b-title-x\">{escaped}</a></li>"),
        ] {
            assert!(page.contains(markup), "{markup} is missing in {page}");
        }
        assert_eq!(page.matches(&format!("<ul class=\"notes\"><li>{escaped}</li></ul>")).count(), 2);
    }
}
