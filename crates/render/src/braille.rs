//! Draws curves with braille characters: a cell has two columns of four dots, or holds a letter.

use super::style::{Paint, Style};

/// The bit of each dot among the characters of braille: of the left and of the right column, from above.
const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// The character without a dot.
const NO_DOT: u32 = 0x2800;

/// The colours of curves in turn.
const COLOURS: [Paint; 6] =
    [Paint::Cyan, Paint::Yellow, Paint::Green, Paint::Magenta, Paint::Blue, Paint::Red];

/// Cells, line by line from above.
pub(crate) struct Braille {
    lines: Vec<Vec<Cell>>,
}

#[derive(Clone, Default)]
struct Cell {
    dots: u32,
    letter: Option<char>,
    /// The one that was drawn here last.
    curve: usize,
}

impl Braille {
    /// Creates a grid of empty cells.
    pub(crate) fn new(columns: usize, lines: usize) -> Braille {
        Braille { lines: vec![vec![Cell::default(); columns]; lines] }
    }

    /// Draws a straight line between two dots, each given by its column and its line.
    pub(crate) fn line(&mut self, from: [usize; 2], to: [usize; 2], curve: usize) {
        let steps = from[0].abs_diff(to[0]).max(from[1].abs_diff(to[1])).max(1);
        for step in 0..=steps {
            let [x, y] = [0, 1].map(|i| (from[i] * (steps - step) + to[i] * step + steps / 2) / steps);
            let cell = &mut self.lines[y / 4][x / 2];
            cell.dots |= BITS[x % 2][y % 4];
            cell.curve = curve;
        }
    }

    /// Writes a letter into the cell of a dot, and replaces its dots.
    pub(crate) fn letter(&mut self, [x, y]: [usize; 2], letter: char, curve: usize) {
        self.lines[y / 4][x / 2] = Cell { letter: Some(letter), curve, ..Cell::default() };
    }

    /// Returns the lines as text.
    pub(crate) fn text(&self, style: Style) -> Vec<String> {
        self.lines.iter().map(|cells| line_text(cells, style)).collect()
    }
}

fn line_text(cells: &[Cell], style: Style) -> String {
    let mut text = String::new();
    for run in cells.chunk_by(|a, b| a.paint() == b.paint()) {
        let drawn: String = run.iter().map(Cell::character).collect();
        match run[0].paint() {
            Some(paint) => text += &style.paint(paint, &drawn),
            None => text += &drawn,
        }
    }
    text
}

impl Cell {
    fn character(&self) -> char {
        let dots = if self.dots == 0 { ' ' } else { char::from_u32(NO_DOT | self.dots).unwrap_or(' ') };
        self.letter.unwrap_or(dots)
    }

    /// Returns the colour of the cell, unless it is empty.
    fn paint(&self) -> Option<Paint> {
        (self.character() != ' ').then(|| COLOURS[self.curve % COLOURS.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(from: [usize; 2], to: [usize; 2]) -> Vec<String> {
        let mut cells = Braille::new(3, 2);
        cells.line(from, to, 0);
        cells.text(Style::default())
    }

    #[test]
    fn a_line_has_both_its_ends_and_no_gap() {
        assert_eq!(drawn([0, 0], [5, 0]), ["⠉⠉⠉", "   "]);
        assert_eq!(drawn([0, 7], [0, 0]), ["⡇  ", "⡇  "]);
        assert_eq!(drawn([0, 7], [5, 0]), drawn([5, 0], [0, 7]));
        assert_eq!(drawn([3, 5], [3, 5]), ["   ", " ⠐ "]);
    }

    #[test]
    fn each_curve_has_its_colour_and_a_letter_stands_over_dots() {
        let mut cells = Braille::new(3, 1);
        cells.line([0, 0], [3, 0], 0);
        cells.letter([3, 2], 'b', 1);
        assert_eq!(cells.text(Style::default()), ["⠉b "]);
        assert_eq!(
            cells.text(Style { colour: true, ..Style::default() }),
            ["\u{1b}[36m⠉\u{1b}[0m\u{1b}[33mb\u{1b}[0m "]
        );
    }
}
