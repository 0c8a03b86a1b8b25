//! The loss over one or two controls, with impacts at their time and for whole steps.

use super::plan::Named;
use super::scene::Twin;
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::job::Flow;
use crate::report::landscape::{Side, curve, map};
use crate::{files, text};
use std::path::Path;
use std::time::Instant;

/// Draws the loss of a scene over the controls of these names, `points` along each, others at the middle of their ranges: `NAME_a_b.png` and `.csv` for impacts at their
/// time, `NAME_a_b_naive.png` and `.csv` for whole steps, if the scene has impacts. The numbers have the slopes by the gradient too, which tell the twins apart.
///
/// # Errors
/// When there is no such control, a launch fails, or a file cannot be written.
pub fn draw(scene: &Named, over: &[String], points: usize, out: &Path, console: &mut dyn Console) -> Result<Ended> {
    let Named { name, plan } = scene;
    let known = plan.named_controls();
    if over.is_empty() || over.len() > 2 || (over.len() == 2 && over[0] == over[1]) {
        return Err(Error::argument("over", format!("{} names, expected one or two, each once", over.len())));
    }
    if !(2..=1000).contains(&points) {
        return Err(Error::argument("points", format!("{points}, expected 2 to 1000")));
    }
    let place = |asked: &String| {
        let found = known.iter().position(|(control, ..)| control == asked);
        found.ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|k| k.0).collect();
            let expected = if names.is_empty() { "a scene whose controls have names".into() } else { names.join(", ") };
            Error::argument("over", format!("{}, expected some of {expected}", text::quoted(asked)))
        })
    };
    let places: Vec<usize> = over.iter().map(place).collect::<Result<_>>()?;
    let base: Vec<f64> = known.iter().map(|(_, _, (low, high))| 0.5 * (low + high)).collect();
    let side = |&k: &usize| {
        let (control, unit, (low, high)) = known[k];
        let value = |i: usize| low + (high - low) * i as f64 / (points - 1) as f64;
        Side {
            label: format!("{control} [{unit}]"),
            values: (0..points).map(value).collect(),
            truth: base[k],
            log: false,
        }
    };
    let sides: Vec<Side> = places.iter().map(side).collect();
    let count: usize = sides.iter().map(|side| side.values.len()).product();
    let (begun, mut done) = (Instant::now(), 0usize);
    let twins = plan.twins();
    for &twin in twins {
        let scene = plan.scene(twin)?;
        let (mut costs, mut slopes) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for at in 0..count {
            let (mut controls, mut rest) = (base.clone(), at);
            for (side, &k) in sides.iter().zip(&places) {
                controls[k] = side.values[rest % side.values.len()];
                rest /= side.values.len();
            }
            let there = match scene.evaluate(&controls) {
                Err(Error::Interrupted) => return Ok(Ended::Interrupted),
                there => there?,
            };
            costs.push(there.loss);
            slopes.push(places.iter().map(|&k| there.gradient[k]).collect::<Vec<f64>>());
            done += 1;
            let part = done as f64 / (twins.len() * count) as f64;
            if console.fraction(part, begun.elapsed().as_secs_f64()) == Flow::Stop {
                return Ok(Ended::Interrupted);
            }
        }
        let title = match twins {
            [_] => format!("{name}: loss"),
            _ => format!("{name}, {}: loss", twin.name()),
        };
        let picture = match sides.as_slice() {
            [x, y] => map(&title, x, y, &costs)?,
            _ => curve(&title, &sides[0], &costs)?,
        };
        let end = if twin == Twin::Naive { "_naive" } else { "" };
        let [png, csv] = ["png", "csv"].map(|kind| out.join(format!("{name}_{}{end}.{kind}", over.join("_"))));
        files::write(&png, &picture)?;
        files::write(&csv, numbers(over, &sides, &costs, &slopes).as_bytes())?;
        console.say(&format!("wrote {} and {}", text::path(&png), text::path(&csv)));
    }
    console.finish();
    Ok(Ended::Done)
}

fn numbers(over: &[String], sides: &[Side], costs: &[f64], slopes: &[Vec<f64>]) -> String {
    let heads: Vec<String> = over.iter().map(|control| format!("d_loss_d_{control}")).collect();
    let mut table = format!("{},loss,{}\n", over.join(","), heads.join(","));
    for (at, (cost, slope)) in costs.iter().zip(slopes).enumerate() {
        let mut rest = at;
        let mut row: Vec<String> = Vec::new();
        for side in sides {
            row.push(side.values[rest % side.values.len()].to_string());
            rest /= side.values.len();
        }
        row.push(format!("{cost:e}"));
        row.extend(slope.iter().map(|s| format!("{s:e}")));
        table += &row.join(",");
        table.push('\n');
    }
    table
}
