//! One set of axes with curves, by `plotters`.

use super::axis::Axis;
use super::paper::{Drawn, Sheet, px};
use plotters::chart::ChartBuilder;
use plotters::coord::ranged1d::Ranged;
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};

/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(38, 38, 38);
/// Lines that only help the eye.
pub(super) const FAINT: RGBColor = RGBColor(225, 225, 225);
/// The interval that holds a value.
pub(super) const BAND: RGBColor = RGBColor(222, 226, 232);
/// A constant.
pub(super) const RULE: RGBColor = RGBColor(120, 120, 120);

/// What joins curves that are apart.
const PATH: RGBColor = RGBColor(190, 190, 190);

/// Curves with more points than that have no dots.
const DOTS: usize = 120;
/// Height of a title, and distance to the neighbours.
const HEAD: i32 = 30;
const EDGE: i32 = 14;

/// Values that belong together, in order.
pub(super) struct Curve {
    pub(super) colour: RGBColor,
    pub(super) points: Vec<(f64, f64)>,
}

/// A plot.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// One below the others, from each to the next; empty where the curves do not compare.
    pub(super) path: Vec<(f64, f64)>,
    pub(super) curves: Vec<Curve>,
    /// An interval of the vertical axis.
    pub(super) band: Option<(f64, f64)>,
    /// The value found, a line across.
    pub(super) found: Option<f64>,
    /// Values that are marked by dashed lines where they are in sight.
    pub(super) limits: Vec<f64>,
}

/// Text of a size in pixels.
pub(super) fn text(size: i32) -> TextStyle<'static> {
    // The sheet has one font, whatever the name.
    TextStyle::from(("sans-serif", px(size)).into_font()).color(&INK)
}

/// A line of a width in pixels.
pub(super) fn line(colour: RGBColor, width: i32) -> ShapeStyle {
    colour.stroke_width(px(width) as u32)
}

impl Panel {
    pub(super) fn draw(&self, sheet: &Sheet<'_>) -> Drawn {
        let label = text(13);
        let mut widest = 0;
        for (_, number) in &self.y.ticks {
            widest = widest.max(sheet.estimate_text_size(number, &label)?.0 as i32);
        }
        let left = widest + px(if self.y.label.is_empty() { 14 } else { 38 });
        let mut chart = ChartBuilder::on(sheet)
            .margin(px(EDGE))
            .margin_top(px(if self.title.is_empty() { EDGE } else { HEAD }))
            .x_label_area_size(px(44))
            .y_label_area_size(left)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;

        let ends = self.x.range();
        let across = |v: f64| [(ends.start, v), (ends.end, v)];
        if let Some((low, high)) = self.band {
            chart.draw_series([Rectangle::new([(ends.start, low), (ends.end, high)], BAND.filled())])?;
        }
        chart
            .configure_mesh()
            .bold_line_style(line(FAINT, 1))
            .light_line_style(plotters::style::TRANSPARENT)
            .axis_style(line(INK, 1))
            .set_all_tick_mark_size(px(4))
            .label_style(label)
            .axis_desc_style(text(13))
            .x_desc(self.x.label.as_str())
            .y_desc(self.y.label.as_str())
            .draw()?;
        for limit in self.limits.iter().filter(|limit| self.y.covers(**limit)) {
            chart.draw_series(DashedLineSeries::new(across(*limit), px(6), px(4), line(RULE, 1)))?;
        }
        if let Some(found) = self.found {
            chart.draw_series(LineSeries::new(across(found), line(RULE, 1)))?;
        }
        chart.draw_series(LineSeries::new(finite(&self.path), line(PATH, 1)))?;
        let dots = self.curves.iter().map(|curve| curve.points.len()).sum::<usize>() <= DOTS;
        for curve in &self.curves {
            let points = || finite(&curve.points);
            chart.draw_series(LineSeries::new(points(), line(curve.colour, 2)))?;
            // A curve of one point is a dot.
            if dots || points().count() == 1 {
                chart.draw_series(points().map(|at| Circle::new(at, px(3), curve.colour.filled())))?;
            }
        }
        let title = fitted(sheet, &self.title, &text(15))?;
        sheet.draw(&Text::new(title, (px(EDGE) + left, px(HEAD / 2)), text(15).pos(Pos::new(HPos::Left, VPos::Center))))
    }
}

fn finite(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    points.iter().copied().filter(|(_, value)| value.is_finite())
}

/// As much of the end of a title as fits.
fn fitted(sheet: &Sheet<'_>, title: &str, style: &TextStyle<'_>) -> Drawn<String> {
    let room = sheet.dim_in_pixel().0 as i32 - px(100);
    let letters: Vec<char> = title.chars().collect();
    for first in 0..letters.len() {
        let head = if first == 0 { "" } else { "…" };
        let rest: String = head.chars().chain(letters[first..].iter().copied()).collect();
        if sheet.estimate_text_size(&rest, style)?.0 as i32 <= room {
            return Ok(rest);
        }
    }
    Ok(String::new())
}

/// What an entry of a legend looks like.
pub(super) enum Sample {
    Curve(RGBColor),
    Band,
    Found,
    Limit,
}

/// Rows of a legend, from the upper left corner of the sheet.
pub(super) fn legend(sheet: &Sheet<'_>, left: i32, top: i32, entries: &[(Sample, &str)]) -> Drawn {
    let room = sheet.dim_in_pixel().0 as i32 - px(EDGE);
    let (style, sample, gap, row) = (text(13), px(26), px(20), px(LEGEND_ROW));
    let (mut x, mut y) = (px(left), px(top) + row / 2);
    for (what, name) in entries {
        let width = sample + px(6) + sheet.estimate_text_size(name, &style)?.0 as i32;
        if x > px(left) && x + width > room {
            (x, y) = (px(left), y + row);
        }
        let ends = [(x, y), (x + sample, y)];
        match what {
            Sample::Curve(colour) => {
                sheet.draw(&PathElement::new(ends, line(*colour, 2)))?;
                sheet.draw(&Circle::new((x + sample / 2, y), px(3), colour.filled()))?;
            }
            Sample::Band => sheet.draw(&Rectangle::new([(x, y - px(6)), (x + sample, y + px(6))], BAND.filled()))?,
            Sample::Found => sheet.draw(&PathElement::new(ends, line(RULE, 1)))?,
            Sample::Limit => {
                for dash in DashedLineSeries::new(ends, px(6), px(4), line(RULE, 1)) {
                    sheet.draw(&dash)?;
                }
            }
        }
        let at = (x + sample + px(6), y);
        sheet.draw(&Text::new(*name, at, style.pos(Pos::new(HPos::Left, VPos::Center))))?;
        x += width + gap;
    }
    Ok(())
}

/// Height of a row of a legend.
pub(super) const LEGEND_ROW: i32 = 22;
