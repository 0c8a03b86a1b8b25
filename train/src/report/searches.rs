//! Curves of several searches, in groups.

use super::axis::{Axis, Scale};
use super::panel::{Curve, LEGEND_ROW, Panel, Sample, legend, text};
use super::paper::{png, px};
use crate::error::Result;
use plotters::element::Text;
use plotters::style::RGBColor;

/// Colours of groups, told apart by all kinds of sight (Okabe and Ito 2008).
const GROUPS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
/// Width and height of a picture, and height of its head.
const SIZE: [usize; 2] = [860, 480];
const HEAD: i32 = 46;

/// A value after each iteration.
pub(crate) struct Search {
    /// To which group it belongs.
    pub(crate) group: usize,
    /// From the start on.
    pub(crate) values: Vec<f64>,
}

/// A PNG of curves over iterations, those of a group in one colour.
pub(crate) fn curves(title: &str, label: &str, groups: &[&str], searches: &[Search]) -> Result<Vec<u8>> {
    let colour = |group: usize| GROUPS[group % GROUPS.len()];
    let last = searches.iter().map(|search| search.values.len()).max().unwrap_or(1).saturating_sub(1);
    let values = || searches.iter().flat_map(|search| search.values.iter().copied());
    let scale = if values().all(|value| value > 0.0) { Scale::Log } else { Scale::Linear };
    let points = |search: &Search| search.values.iter().enumerate().map(|(k, v)| (k as f64, *v)).collect();
    let panel = Panel {
        title: String::new(),
        x: Axis::counting("evaluations with a gradient", last, 10),
        y: Axis::around(label, values(), scale, 8),
        path: Vec::new(),
        curves: searches.iter().map(|s| Curve { colour: colour(s.group), points: points(s) }).collect(),
        band: None,
        found: None,
        limits: Vec::new(),
    };
    let entries: Vec<(Sample, &str)> =
        groups.iter().enumerate().map(|(k, name)| (Sample::Curve(colour(k)), *name)).collect();
    png(SIZE[0], SIZE[1], |sheet| {
        let (top, rest) = sheet.split_vertically(px(HEAD + LEGEND_ROW));
        top.draw(&Text::new(title, (px(16), px(14)), text(19)))?;
        legend(&top, 16, HEAD - 6, &entries)?;
        panel.draw(&rest)
    })
}
