//! Curves of the loss and of the parameters over the iterations.

use super::axis::{Axis, label};
use super::canvas::{Area, Canvas, Colour, LETTER, text_width};
use crate::job::{Outcome, Record};

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [30, 30, 30];
const FAINT: Colour = [224, 224, 224];
const BAND: Colour = [205, 224, 245];
const CURVE: Colour = [20, 90, 170];
const STAGE: Colour = [240, 150, 60];

const WIDTH: usize = 960;
const PANEL: usize = 420;

/// One set of axes.
struct Panel<'a> {
    title: String,
    history: &'a [Record],
    value: Box<dyn Fn(&Record) -> f64 + 'a>,
    log: bool,
    band: Option<(f64, f64)>,
}

/// The loss of every iteration.
pub(super) fn loss(outcome: &Outcome) -> Canvas {
    let panel = Panel {
        title: "loss".into(),
        history: &outcome.history,
        value: Box::new(|record| record.loss),
        log: true,
        band: None,
    };
    draw(&[panel])
}

/// Every parameter at every iteration, with the interval of the value found.
pub(super) fn parameters(outcome: &Outcome) -> Canvas {
    let panels = outcome.parameters.iter().map(|parameter| Panel {
        title: format!("{} [{}], shaded: 95 % interval", parameter.name, parameter.unit),
        history: &outcome.history,
        value: Box::new(|record| record.values.get(&parameter.name).copied().unwrap_or(f64::NAN)),
        log: false,
        band: parameter.interval,
    });
    draw(&panels.collect::<Vec<_>>())
}

fn draw(panels: &[Panel<'_>]) -> Canvas {
    let mut canvas = Canvas::new(WIDTH, PANEL * panels.len().max(1), PAPER);
    for (k, panel) in panels.iter().enumerate() {
        panel.draw(&mut canvas, (k * PANEL) as i64);
    }
    canvas
}

impl Panel<'_> {
    fn draw(&self, canvas: &mut Canvas, top: i64) {
        let area = Area { x: 130, y: top + 44, w: WIDTH as i64 - 160, h: PANEL as i64 - 110 };
        let last = self.history.iter().map(|r| r.iteration).max().unwrap_or(0);
        let across = Axis::counting(last);
        let values: Vec<f64> = self.history.iter().map(&self.value).collect();
        let up = Axis::around(values.iter().copied(), self.log);
        let x = |v: f64| area.x as f64 + across.place(v) * area.w as f64;
        let y = |v: f64| (area.y + area.h) as f64 - up.place(v).clamp(0.0, 1.0) * area.h as f64;

        if let Some((low, high)) = self.band {
            let (high, low) = (y(high) as i64, y(low) as i64);
            canvas.fill(Area { y: high, h: (low - high).max(1), ..area }, BAND);
        }
        for tick in up.ticks() {
            let text = label(tick);
            let at = y(tick) as i64;
            canvas.fill(Area { y: at, h: 1, ..area }, FAINT);
            canvas.text(&text, area.x - 8 - text_width(&text, 2), at - LETTER, 2, INK);
        }
        for tick in across.ticks().into_iter().filter(|t| t.fract() == 0.0) {
            let text = label(tick);
            let at = x(tick) as i64;
            canvas.fill(Area { x: at, w: 1, ..area }, FAINT);
            canvas.text(&text, at - text_width(&text, 2) / 2, area.y + area.h + 8, 2, INK);
        }
        canvas.text(&self.title, area.x, top + 14, 2, INK);
        let name = "iteration";
        let right = area.x + area.w - text_width(name, 2);
        canvas.text(name, right, area.y + area.h + 32, 2, INK);
        canvas.fill(Area { w: 2, ..area }, INK);
        canvas.fill(Area { y: area.y + area.h, h: 2, ..area }, INK);
        self.curve(canvas, &values, x, y, area);
    }

    /// The curve is broken where a level ends: losses compare within a level only.
    fn curve(&self, canvas: &mut Canvas, values: &[f64], x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64, area: Area) {
        let points = self.history.iter().zip(values).filter(|(_, v)| v.is_finite());
        let mut before: Option<(&Record, (f64, f64))> = None;
        let mut begun = 0;
        for (record, &value) in points {
            let at = (x(record.iteration as f64), y(value));
            match before {
                Some((old, from)) if old.stage == record.stage => {
                    canvas.line(from, at, 2, CURVE);
                }
                _ => {
                    canvas.fill(Area { x: at.0 as i64, w: 1, ..area }, STAGE);
                    // In rows, for levels of few iterations; the last is drawn to the left of the border.
                    let left = (at.0 as i64 + 5).min(WIDTH as i64 - text_width(&record.stage, 1) - 4);
                    canvas.text(&record.stage, left, area.y + 4 + begun % 3 * (LETTER + 2), 1, STAGE);
                    begun += 1;
                }
            }
            let dot = Area { x: at.0 as i64 - 3, y: at.1 as i64 - 3, w: 6, h: 6 };
            canvas.fill(dot, CURVE);
            before = Some((record, at));
        }
    }
}
