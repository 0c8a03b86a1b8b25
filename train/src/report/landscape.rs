//! A function of one or two numbers.

use super::axis::{Axis, Scale, span};
use super::panel::{Curve, INK, Panel, RULE, line, text};
use super::paper::{Drawn, Sheet, png, px};
use crate::error::Result;
use plotters::chart::ChartBuilder;
use plotters::element::{Circle, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor};

/// Width and height of a picture.
const SIZE: [usize; 2] = [760, 560];
/// Width of the scale of colours with its numbers.
const SCALE: i32 = 130;
/// A colour map of even lightness, from low to high, by a few of its colours (cividis: Nunez et al. 2018).
const COLOURS: [[f64; 3]; 5] =
    [[0.0, 34.0, 78.0], [65.0, 77.0, 107.0], [124.0, 123.0, 120.0], [188.0, 175.0, 111.0], [254.0, 232.0, 56.0]];
const BLUE: RGBColor = RGBColor(0, 114, 178);

/// Values along one side, in order.
pub(crate) struct Side {
    /// What it is, with the unit.
    pub(crate) label: String,
    /// Where the function is known.
    pub(crate) values: Vec<f64>,
    /// A value that is marked.
    pub(crate) truth: f64,
    /// Whether values are even in their logarithms.
    pub(crate) log: bool,
}

impl Side {
    fn axis(&self) -> Axis {
        let scale = if self.log { Scale::Log } else { Scale::Linear };
        Axis::around(&self.label, self.values.iter().copied(), scale, 7)
    }

    /// From where to where the value `k` stands.
    fn cell(&self, k: usize) -> (f64, f64) {
        let middle = |a: f64, b: f64| if self.log { (a * b).sqrt() } else { 0.5 * (a + b) };
        let at = |k: usize| self.values[k.min(self.values.len() - 1)];
        (middle(at(k.saturating_sub(1)), at(k)), middle(at(k), at(k + 1)))
    }
}

/// A PNG of a curve, its values by their logarithm.
pub(crate) fn curve(title: &str, x: &Side, values: &[f64]) -> Result<Vec<u8>> {
    let points: Vec<(f64, f64)> = x.values.iter().copied().zip(values.iter().copied()).collect();
    let positive = || values.iter().copied().filter(|v| *v > 0.0);
    let (low, high) = span(positive()).unwrap_or((1.0, 1.0));
    let truth = Curve { colour: RULE, points: vec![(x.truth, low), (x.truth, high)] };
    let panel = Panel {
        title: format!("{title}; grey: truth"),
        x: x.axis(),
        y: Axis::around("mean squared residual", positive(), Scale::Log, 8),
        path: Vec::new(),
        curves: vec![truth, Curve { colour: BLUE, points: points.into_iter().filter(|p| p.1 > 0.0).collect() }],
        band: None,
        found: None,
        limits: Vec::new(),
    };
    png(SIZE[0], SIZE[1], |sheet| panel.draw(sheet))
}

/// A PNG of a map, its values by their logarithm; the first side changes fastest.
pub(crate) fn map(title: &str, x: &Side, y: &Side, values: &[f64]) -> Result<Vec<u8>> {
    let (low, high) = span(values.iter().copied().filter(|v| *v > 0.0)).unwrap_or((1.0, 1.0));
    let high = if high > low { high } else { 2.0 * low };
    let share = |v: f64| if v > 0.0 { (v / low).ln() / (high / low).ln() } else { 0.0 };
    png(SIZE[0], SIZE[1], |sheet| {
        let (left, right) = sheet.split_horizontally(sheet.dim_in_pixel().0 as i32 - px(SCALE));
        let mut chart = ChartBuilder::on(&left)
            .margin(px(14))
            .margin_top(px(36))
            .x_label_area_size(px(44))
            .y_label_area_size(px(80))
            .build_cartesian_2d(x.axis(), y.axis())?;
        for (k, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let ((x0, x1), (y0, y1)) = (x.cell(k % x.values.len()), y.cell(k / x.values.len()));
            chart.draw_series([Rectangle::new([(x0, y0), (x1, y1)], colour(share(*value)).filled())])?;
        }
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(line(INK, 1))
            .set_all_tick_mark_size(px(4))
            .label_style(text(13))
            .axis_desc_style(text(13))
            .x_desc(x.label.as_str())
            .y_desc(y.label.as_str())
            .draw()?;
        chart.draw_series([Circle::new((x.truth, y.truth), px(6), line(RGBColor(213, 94, 0), 2))])?;
        let at = (px(14), px(18));
        sheet.draw(&Text::new(
            title.to_owned() + "; ring: truth",
            at,
            text(15).pos(Pos::new(HPos::Left, VPos::Center)),
        ))?;
        scale(&right, (low, high))
    })
}

fn colour(share: f64) -> RGBColor {
    let at = share.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let k = (at.floor() as usize).min(COLOURS.len() - 2);
    let part = at - k as f64;
    let [r, g, b] = [0, 1, 2].map(|c| (COLOURS[k][c] * (1.0 - part) + COLOURS[k + 1][c] * part).round() as u8);
    RGBColor(r, g, b)
}

/// The colours with their values.
fn scale(sheet: &Sheet<'_>, (low, high): (f64, f64)) -> Drawn {
    let axis = Axis::around("", [low, high].into_iter(), Scale::Log, 8);
    let mut chart = ChartBuilder::on(sheet)
        .margin(px(14))
        .margin_top(px(36))
        .margin_bottom(px(58))
        .y_label_area_size(px(70))
        .build_cartesian_2d(0.0..1.0, axis)?;
    let steps = 120;
    let at = |k: usize| low * (high / low).powf(k as f64 / steps as f64);
    let bars = (0..steps)
        .map(|k| Rectangle::new([(0.0, at(k)), (1.0, at(k + 1))], colour((k as f64 + 0.5) / steps as f64).filled()));
    chart.draw_series(bars)?;
    chart.configure_mesh().disable_mesh().disable_x_axis().axis_style(line(INK, 1)).label_style(text(13)).draw()
}
