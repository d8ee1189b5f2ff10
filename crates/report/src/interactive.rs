//! A chart for plotly.js: to point at, to zoom, and to switch series off and on. Colours of text and grid are the
//! page's, which knows its theme.

use crate::axis::Measure;
use crate::chart::{Chart, Guide, Kind, Look, Point, Series, Side};
use crate::palette::{Mark, Style};
use crate::table::figure;
use furlong_analysis::render::plain;
use plotly::common::{
    Anchor, DashType, ErrorData, ErrorType, HoverInfo, Line, Marker, MarkerSymbol, Mode, Orientation, Title,
};
use plotly::layout::{
    Axis as PlotlyAxis, AxisRange, AxisType, BarMode, HoverMode, Legend, Margin, Shape, ShapeLayer,
    ShapeLine, ShapeType,
};
use plotly::{Bar, Layout, Plot, Scatter};

/// Height of a chart with two axes of figures, in pixels.
const HEIGHT: usize = 470;
/// Height of a category.
const ROW_HEIGHT: usize = 24;
/// Height of all that is around categories.
const AROUND_ROWS: usize = 170;
/// Most letters of a category that are shown.
const LETTERS: usize = 40;
/// Most series that a legend has: those behind are found by pointing at them.
const MOST_NAMED: usize = 24;
/// Grey of guides, which shows on light and on dark.
const GUIDE: &str = "#8B949E";

/// The chart as plotly.js takes it, in JSON.
pub fn json(chart: &Chart) -> String {
    let mut plot = Plot::new();
    let many = chart.series.len() > MOST_NAMED;
    // What stands behind is drawn first; the legend has its own order.
    for (rank, series) in chart.series.iter().enumerate() {
        if chart.kind == Kind::Bars && series.look != Look::Muted {
            plot.add_trace(bar(chart, series));
        } else {
            plot.add_trace(scatter(chart, series, !(many && series.look == Look::Muted), rank));
        }
    }
    plot.set_layout(layout(chart));
    plot.to_json()
}

/// Text that plotly.js does not take for markup.
fn text(words: &str) -> String {
    plain(words).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Five digits: more than can be seen.
fn number(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

fn error(points: &[Point], at: fn(&Point) -> (f64, Option<[f64; 2]>), style: Style) -> Option<ErrorData> {
    let ends: Vec<_> = points.iter().map(at).collect();
    ends.iter().any(|(_, ends)| ends.is_some()).then(|| {
        let far = |(value, ends): &(f64, Option<[f64; 2]>)| ends.map_or(0.0, |ends| number(ends[1] - value));
        let near = |(value, ends): &(f64, Option<[f64; 2]>)| ends.map_or(0.0, |ends| number(value - ends[0]));
        ErrorData::new(ErrorType::Data)
            .symmetric(false)
            .array(ends.iter().map(far).collect())
            .array_minus(ends.iter().map(near).collect())
            .thickness(if style.muted { 1.0 } else { 1.6 })
            .width(0)
    })
}

/// What is shown when a point is pointed at.
fn hover(chart: &Chart, series: &Series, point: &Point) -> String {
    let x = || figure(&chart.x, point.x, point.x_ends);
    let y = || figure(&chart.y, point.y, point.y_ends);
    let category = || {
        let name = chart.y.categories.get(point.y.max(0.0) as usize);
        name.map(|name| text(name)).unwrap_or_default()
    };
    let name = text(&series.name);
    match &chart.kind {
        Kind::Lines { value: Side::X, .. } => format!("{}: {}", point.label, x()),
        Kind::Lines { .. } => format!("{}: {}", text(&point.label), y()),
        Kind::Scatter => {
            let axes = [(&chart.x.label, x()), (&chart.y.label, y())];
            let axes = axes.map(|(label, figure)| format!("<br>{} {figure}", text(label)));
            format!("<b>{}</b><br>{name}{}{}", text(&point.label), axes[0], axes[1])
        }
        Kind::Bars | Kind::Intervals => format!("<b>{}</b><br>{name}: {}", category(), x()),
    }
}

fn hovers(chart: &Chart, series: &Series) -> Vec<String> {
    series.points.iter().map(|point| hover(chart, series, point)).collect()
}

fn scatter(chart: &Chart, series: &Series, named: bool, rank: usize) -> Box<Scatter<f64, f64>> {
    let style = Style::of(series.look);
    let points = &series.points;
    let colour = if chart.kind == Kind::Bars { GUIDE.to_owned() } else { style.hex() };
    let trace = Scatter::new(
        points.iter().map(|point| number(point.x)).collect(),
        points.iter().map(|point| number(point.y)).collect(),
    );
    let mode = match chart.kind {
        Kind::Lines { marks: true, .. } => Mode::LinesMarkers,
        Kind::Lines { .. } => Mode::Lines,
        _ => Mode::Markers,
    };
    let symbol = if chart.kind == Kind::Bars { MarkerSymbol::Diamond } else { symbol(style) };
    let template = match chart.kind {
        Kind::Lines { .. } => "<b>%{fullData.name}</b><br>%{text}<extra></extra>",
        _ => "%{text}<extra></extra>",
    };
    let marker = Marker::new()
        .symbol(symbol)
        .color(colour.clone())
        .size(if style.muted && chart.kind != Kind::Bars { 5 } else { 9 });
    let dash = match style.dash {
        [] => DashType::Solid,
        [stroke, _] if *stroke > 4 => DashType::Dash,
        _ => DashType::Dot,
    };
    let line = Line::new().color(colour).width(if style.muted { 1.0 } else { 2.2 }).dash(dash);
    let mut trace = trace
        .mode(mode)
        .name(text(&series.name))
        .marker(marker)
        .line(line)
        .text_array(hovers(chart, series))
        .hover_template(template)
        .show_legend(named)
        .opacity(if style.muted && chart.kind != Kind::Bars { 0.75 } else { 1.0 });
    if rank > 0 {
        trace = trace.legend_group(format!("s{rank}"));
    }
    if let Some(ends) = error(points, |point| (point.x, point.x_ends), style) {
        trace = trace.error_x(ends);
    }
    if let Some(ends) = error(points, |point| (point.y, point.y_ends), style) {
        trace = trace.error_y(ends);
    }
    trace
}

fn bar(chart: &Chart, series: &Series) -> Box<Bar<f64, f64>> {
    let style = Style::of(series.look);
    Bar::new(
        series.points.iter().map(|point| number(point.x.max(0.0))).collect(),
        series.points.iter().map(|point| point.y).collect(),
    )
    .orientation(Orientation::Horizontal)
    .name(text(&series.name))
    .marker(Marker::new().color(style.hex()))
    .hover_text_array(hovers(chart, series))
    .hover_info(HoverInfo::Text)
}

fn symbol(style: Style) -> MarkerSymbol {
    match (style.mark, style.hollow) {
        (Mark::Circle, false) => MarkerSymbol::Circle,
        (Mark::Circle, true) => MarkerSymbol::CircleOpen,
        (Mark::Square, false) => MarkerSymbol::Square,
        (Mark::Square, true) => MarkerSymbol::SquareOpen,
        (Mark::Triangle, false) => MarkerSymbol::TriangleUp,
        (Mark::Triangle, true) => MarkerSymbol::TriangleUpOpen,
        (Mark::Diamond, false) => MarkerSymbol::Diamond,
        (Mark::Diamond, true) => MarkerSymbol::DiamondOpen,
        (Mark::Cross, _) => MarkerSymbol::X,
    }
}

fn layout(chart: &Chart) -> Layout {
    let rows = chart.y.categories.len();
    let height = if rows == 0 { HEIGHT } else { AROUND_ROWS + rows * ROW_HEIGHT };
    let shapes = chart.guides.iter().filter_map(|guide| shape(chart, guide)).collect();
    Layout::new()
        .height(height)
        .auto_size(true)
        .margin(Margin::new().left(20).right(16).top(24).bottom(20))
        .paper_background_color("rgba(0,0,0,0)")
        .plot_background_color("rgba(0,0,0,0)")
        .hover_mode(HoverMode::Closest)
        .bar_mode(BarMode::Stack)
        .show_legend(true)
        .legend(Legend::new().orientation(Orientation::Horizontal).x(0.0).y(-0.2).y_anchor(Anchor::Top))
        .x_axis(axis(chart, Side::X))
        .y_axis(axis(chart, Side::Y))
        .shapes(shapes)
}

fn axis(chart: &Chart, side: Side) -> PlotlyAxis {
    let axis = chart.axis(side);
    let drawn = PlotlyAxis::new().title(Title::from(text(&axis.label))).auto_margin(true).zero_line(false);
    let [low, high] = chart.extent(side);
    if !axis.categories.is_empty() {
        let names = axis.categories.iter().map(|name| text(&crate::still_cut(name, LETTERS))).collect();
        let places = (0..).map(f64::from).take(axis.categories.len()).collect();
        // From top to bottom.
        return drawn.range(AxisRange::new(high, low)).tick_values(places).tick_text(names);
    }
    let end = |value: f64| {
        let value = number(value);
        if axis.log { value.log10() } else { value }
    };
    let drawn = drawn.range(AxisRange::new(end(low), end(high)));
    let drawn = if axis.log { drawn.type_(AxisType::Log) } else { drawn };
    if !axis.log && axis.measure == Measure::Number {
        return drawn;
    }
    // The package's own ticks of logarithmic axes overlap, and have other units than the tables.
    let (values, names) = axis.ticks_to_zoom([low, high]).into_iter().unzip();
    drawn.tick_values(values).tick_text(names)
}

fn shape(chart: &Chart, guide: &Guide) -> Option<Shape> {
    let line = |width: f64| ShapeLine::new().color(GUIDE).width(width);
    let shape = Shape::new().layer(ShapeLayer::Below);
    // Shapes lie where values of both axes say, also on logarithmic axes.
    let at = |value: f64| number(value);
    Some(match guide {
        Guide::Upright(x, _) => {
            shape.shape_type(ShapeType::Line).y_ref("paper").x0(at(*x)).x1(at(*x)).y0(0).y1(1).line(line(1.5))
        }
        Guide::Band([from, to], _) => shape
            .shape_type(ShapeType::Rect)
            .y_ref("paper")
            .x0(at(*from))
            .x1(at(*to))
            .y0(0)
            .y1(1)
            .fill_color("rgba(139,148,158,0.18)")
            .line(line(0.0)),
        Guide::Times(factor, _) => {
            let [[left, right], [low, high]] = [chart.extent(Side::X), chart.extent(Side::Y)];
            let (from, to) = (left.max(low / factor), right.min(high / factor));
            if from >= to {
                return None;
            }
            let width = if *factor == 1.0 { 1.5 } else { 0.7 };
            let shape = shape.shape_type(ShapeType::Line).x0(at(from)).x1(at(to));
            shape.y0(at(from * factor)).y1(at(to * factor)).line(line(width))
        }
    })
}
