//! Curves of the loss and of the parameters over the iterations, of the agreement over the frames.

use super::Searched;
use super::axis::{Axis, Scale, span};
use super::number::{prefixed, short};
use super::panel::{Curve, LEGEND_ROW, Panel, Sample, legend, text};
use super::paper::{Drawn, Sheet, png, px};
use crate::error::Result;
use crate::job::Record;
use plotters::element::Text;
use plotters::style::RGBColor;

/// More parameters than that are only in the tables.
const MOST: usize = 24;
/// Colours of the levels, told apart by all kinds of sight (Okabe and Ito 2008).
const LEVELS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
];

/// The levels of a search in the order in which it came to them.
struct Levels<'a>(Vec<&'a str>);

impl<'a> Levels<'a> {
    fn of(history: &'a [Record]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for record in history {
            if !names.contains(&record.stage.as_str()) {
                names.push(&record.stage);
            }
        }
        Self(names)
    }

    fn colour(&self, stage: &str) -> RGBColor {
        let at = self.0.iter().position(|name| *name == stage).unwrap_or(0);
        LEVELS[at % LEVELS.len()]
    }

    fn legend(&self) -> Vec<(Sample, &'a str)> {
        self.0.iter().map(|name| (Sample::Curve(self.colour(name)), *name)).collect()
    }

    /// A curve for each level.
    fn curves(&self, history: &[Record], value: impl Fn(&Record) -> f64) -> Vec<Curve> {
        let parts = history.chunk_by(|a, b| a.stage == b.stage);
        let curve = |part: &[Record]| Curve {
            colour: self.colour(&part[0].stage),
            points: part.iter().map(|record| (record.iteration as f64, value(record))).collect(),
        };
        parts.map(curve).collect()
    }
}

/// The loss of every iteration.
pub(super) fn loss(history: &[Record]) -> Result<Vec<u8>> {
    let levels = Levels::of(history);
    let label = "mean squared difference";
    let panel = Panel {
        title: String::new(),
        x: iterations(history, 10),
        y: Axis::around(label, history.iter().map(|record| record.loss), Scale::Log, 6),
        // Losses compare within a level only.
        path: Vec::new(),
        curves: levels.curves(history, |record| record.loss),
        band: None,
        found: None,
        limits: Vec::new(),
    };
    let figure = Figure { title: "Loss", entries: levels.legend(), columns: 1, size: (960, 440) };
    figure.png(&[panel])
}

/// Every parameter at every iteration, with the interval of the value found.
pub(super) fn parameters(history: &[Record], searched: &[Searched<'_>]) -> Result<Vec<u8>> {
    let levels = Levels::of(history);
    let panels: Vec<Panel> = searched.iter().take(MOST).map(|one| parameter(&levels, history, one)).collect();
    let mut entries = levels.legend();
    entries.push((Sample::Found, "value found"));
    if searched.iter().any(|one| one.parameter.interval.is_some()) {
        entries.push((Sample::Band, "95 % interval"));
    }
    let limited = |panel: &Panel| panel.limits.iter().any(|limit| panel.y.covers(*limit));
    if panels.iter().any(limited) {
        entries.push((Sample::Limit, "end of the range"));
    }
    let title = match searched.len() {
        0..=MOST => "Parameters".into(),
        count => format!("The first {MOST} of {count} parameters (report.html lists all)"),
    };
    let (columns, size) = match panels.len() {
        0..=1 => (1, (960, 400)),
        2..=4 => (2, (480, 320)),
        _ => (3, (420, 270)),
    };
    Figure { title: &title, entries, columns, size }.png(&panels)
}

fn parameter(levels: &Levels<'_>, history: &[Record], one: &Searched<'_>) -> Panel {
    let parameter = one.parameter;
    let value = |record: &Record| record.values.get(&parameter.name).copied().unwrap_or(f64::NAN);
    let seen = || history.iter().map(value).chain([parameter.found]);
    let (low, high) = span(seen()).unwrap_or((0.0, 0.0));
    // An interval is in sight unless the curve would be flat beside it.
    let room = (high - low).max(0.1 * low.abs().max(high.abs()));
    let ends = |(from, to): (f64, f64)| [from.clamp(low - room, high + room), to.clamp(low - room, high + room)];
    let around = || seen().chain(parameter.interval.into_iter().flat_map(ends));
    let (scale, unit) = prefixed(&parameter.unit, around().map(f64::abs).fold(0.0, f64::max));
    let range = |(from, to): (f64, f64)| [from / scale, to / scale];
    Panel {
        title: format!("{} = {}", parameter.name, with_unit(parameter.found / scale, &unit)),
        x: iterations(history, 6),
        y: Axis::around(&unit, around().map(|v| v / scale), Scale::Linear, 6),
        path: history.iter().map(|record| (record.iteration as f64, value(record) / scale)).collect(),
        curves: levels.curves(history, |record| value(record) / scale),
        band: parameter.interval.map(|(low, high)| (low / scale, high / scale)),
        found: Some(parameter.found / scale),
        limits: one.range.into_iter().flat_map(range).collect(),
    }
}

/// The intersection over union of every frame.
pub(super) fn iou(frames: &[f64], frame_rate: f64) -> Result<Vec<u8>> {
    let points: Vec<(f64, f64)> = frames.iter().enumerate().map(|(k, iou)| (k as f64 / frame_rate, *iou)).collect();
    let panel = Panel {
        title: String::new(),
        x: Axis::from_zero("time [s]", points.last().map_or(0.0, |last| last.0), 10),
        y: Axis::around("IoU", frames.iter().copied().chain([1.0]), Scale::Linear, 5),
        path: Vec::new(),
        curves: vec![Curve { colour: LEVELS[0], points }],
        band: None,
        found: None,
        limits: vec![1.0],
    };
    let title = "Intersection over union of the silhouettes, by frame";
    Figure { title, entries: Vec::new(), columns: 1, size: (960, 300) }.png(&[panel])
}

fn iterations(history: &[Record], most: usize) -> Axis {
    let last = history.iter().map(|record| record.iteration).max().unwrap_or(0);
    Axis::counting("iteration", last, most)
}

fn with_unit(value: f64, unit: &str) -> String {
    format!("{} {unit}", short(value)).trim_end().to_owned()
}

/// Panels of one size below a title and a legend.
struct Figure<'a> {
    title: &'a str,
    entries: Vec<(Sample, &'a str)>,
    columns: usize,
    /// Of a panel.
    size: (usize, usize),
}

/// Distance of title and legend from the left border.
const LEFT: i32 = 16;
/// Height of the title.
const TITLE: i32 = 44;
/// Distance of the legend from the panels.
const BELOW: i32 = 8;
/// Width of an entry of a legend; most are less wide.
const ENTRY: usize = 136;

impl Figure<'_> {
    fn png(&self, panels: &[Panel]) -> Result<Vec<u8>> {
        let (width, height) = self.size;
        let rows = panels.len().div_ceil(self.columns);
        let legend = self.entries.len().div_ceil(width * self.columns / ENTRY) as i32 * LEGEND_ROW;
        let head = TITLE + legend + BELOW;
        png(width * self.columns, head as usize + height * rows, |sheet| {
            let (top, rest) = sheet.split_vertically(px(head));
            self.head(&top)?;
            if panels.is_empty() {
                return Ok(());
            }
            let places = rest.split_evenly((rows, self.columns));
            panels.iter().zip(&places).try_for_each(|(panel, place)| panel.draw(place))
        })
    }

    fn head(&self, sheet: &Sheet<'_>) -> Drawn {
        sheet.draw(&Text::new(self.title, (px(LEFT), px(14)), text(19)))?;
        legend(sheet, LEFT, TITLE, &self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Parameter;
    use crate::report::sample::sample;

    /// Width and height of a PNG.
    fn size(png: &[u8]) -> (u32, u32) {
        let decoder = png::Decoder::new(std::io::Cursor::new(png));
        let info = decoder.read_info().unwrap();
        (info.info().width, info.info().height)
    }

    fn searched(parameters: &[Parameter]) -> Vec<Searched<'_>> {
        let range = |p: &Parameter| Some((0.45 * p.found, 3.0 * p.found)).filter(|_| p.found > 0.0);
        parameters.iter().map(|parameter| Searched { parameter, range: range(parameter) }).collect()
    }

    #[test]
    fn plots_have_a_panel_for_each_of_the_first_parameters() {
        for (count, wanted) in
            [(1, (960, 400)), (2, (960, 320)), (5, (1260, 540)), (24, (1260, 2160)), (40, (1260, 2160))]
        {
            let (history, parameters) = sample(count, 30);
            let png = parameters_of(&history, &parameters);
            let (width, height) = size(&png);
            assert_eq!(width, wanted.0, "{count}");
            assert!((wanted.1..wanted.1 + 120).contains(&height), "{count}: {height}");
        }
    }

    fn parameters_of(history: &[Record], parameters: &[Parameter]) -> Vec<u8> {
        super::parameters(history, &searched(parameters)).unwrap()
    }

    #[test]
    fn what_is_missing_or_not_finite_is_left_out() {
        let (mut history, parameters) = sample(2, 3);
        assert_eq!(size(&loss(&[]).unwrap()).0, 960);
        assert_eq!(size(&parameters_of(&[], &parameters)).0, 960);
        assert_eq!(size(&parameters_of(&history, &[])).0, 960);
        history[1].loss = f64::NAN;
        history[2].loss = 0.0;
        history[3].values.clear();
        assert_eq!(size(&loss(&history).unwrap()).0, 960);
        assert_eq!(size(&parameters_of(&history, &parameters)).0, 960);
        assert_eq!(size(&iou(&[], 30.0).unwrap()).0, 960);
    }
}
