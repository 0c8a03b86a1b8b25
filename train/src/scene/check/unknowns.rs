//! Checks of what is to be found.

use super::numbers::{at_most, positive, rounded, share, within, wrong};
use super::rigid;
use super::shape::called;
use crate::scene::document::{self, Document, Transform, Unknown};
use crate::scene::import::Fields;
use crate::scene::quantity::AXES;
use crate::scene::row::Row;
use crate::scene::tree::Fault;
use crate::scene::{Camera, Name, Prior, Quantity, Range, Scale, Scene, Target};
use crate::text::{quoted, shown};

/// Most pieces of a body.
const PIECES: usize = 1000;
/// How many standard deviations of its prior a value may lie away from it: none of a range beyond could be an answer.
const UNLIKELY: f64 = 4.0;

/// Cuts bodies into the pieces that unknowns ask for.
pub(super) fn cut(document: &Document, scene: &mut Scene) -> Result<(), Fault> {
    for (path, unknown) in &document.unknowns {
        let Some(field) = unknown.field else { continue };
        let at = format!("unknowns.{}.field", shown(path));
        let target =
            path.parse::<Name>().and_then(|name| scene.target(&name)).map_err(|problem| Fault::new(&at, problem))?;
        if scene.is_rigid() {
            return wrong(&at, "a rigid body is the same everywhere, expected no such field");
        }
        if !target.quantity.may_vary() {
            return wrong(&at, "only properties of a material vary inside of a body, expected no such field");
        }
        let pieces = field.map(|n| n as usize);
        let count = pieces.iter().fold(1usize, |product, n| product.saturating_mul(*n));
        if !(2..=PIECES).contains(&count) {
            return wrong(&at, format!("{field:?}, expected numbers whose product is 2 to {PIECES}"));
        }
        let starts = &scene.bodies[target.of].starts;
        if starts.iter().any(|start| apart(start.shape.sides(), starts[0].shape.sides())) {
            return wrong(
                &at,
                "takes turn the body, so that pieces along the axes are others in each, expected one turn for all",
            );
        }
        scene.bodies[target.of].fields.insert(target.quantity, pieces);
    }
    Ok(())
}

fn apart(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-9 * a.abs().max(b.abs()))
}

/// The ranges of all numbers that are to be found, by the names that the file has for them.
pub(super) fn ranges(document: &Document, scene: &Scene, fields: &Fields) -> Result<Vec<Range>, Fault> {
    let mut ranges: Vec<(String, Range)> = Vec::new();
    for (path, unknown) in &document.unknowns {
        let at = format!("unknowns.{}", shown(path));
        let told = fields.told(&at);
        let written = told.strip_prefix("unknowns.").unwrap_or(path);
        let named: Vec<(String, [f64; 2])> = match unknown.range {
            document::Range::Number(pair) => vec![(written.to_owned(), pair)],
            document::Range::Vector(_) if unknown.prior.is_some() => {
                return wrong(&format!("{at}.prior"), "is one of a number, expected an unknown for each component");
            }
            document::Range::Vector(pairs) => {
                AXES.iter().zip(pairs).map(|(end, pair)| (format!("{written}.{end}"), pair)).collect()
            }
        };
        for (name, ends) in named {
            for range in of_name(&at, &name, ends, unknown, scene)? {
                if let Some((other, _)) = ranges.iter().find(|(_, other)| other.target == range.target) {
                    let problem =
                        format!("{} is unknown here and in {other}, expected it once: leave one out", range.name);
                    return wrong(&at, problem);
                }
                slides(&at, document, scene, fields, range.target)?;
                ranges.push((told.clone(), range));
            }
        }
    }
    Ok(ranges.into_iter().map(|(_, range)| range).collect())
}

/// Refuses a coefficient of friction of a collider that the scene says has none.
fn slides(at: &str, document: &Document, scene: &Scene, fields: &Fields, target: Target) -> Result<(), Fault> {
    if target.quantity != Quantity::Friction {
        return Ok(());
    }
    let name = &scene.colliders[target.of].name;
    match document.colliders.get(name).map(|collider| collider.contact) {
        Some(document::Contact::Frictionless) => {
            let contact = fields.told(&format!("colliders.{name}.contact"));
            wrong(
                at,
                format!(
                    "{contact} says that there is no friction, expected {{\"friction\": 0.4}} there, or no such unknown"
                ),
            )
        }
        Some(document::Contact::Friction(_) | document::Contact::Sticky | document::Contact::Slip) | None => Ok(()),
    }
}

/// No body begins inside of a half-space wherever it is looked for.
pub(super) fn outside(document: &Document, scene: &Scene) -> Result<(), Fault> {
    for (take, body) in (0..scene.takes.len()).flat_map(|take| (0..scene.bodies.len()).map(move |body| (take, body))) {
        let start = &scene.bodies[body].starts[take];
        let from = start.position();
        let range = |a: usize| scene.range(Target { take, ..Target::new(body, Quantity::StartPosition(a)) });
        let ranges = [0, 1, 2].map(range);
        let Some(named) = ranges.iter().flatten().next() else { continue };
        let places = [0, 1, 2].map(|a| ranges[a].map_or((from[a], from[a]), |range| (range.min, range.max)));
        for collider in &scene.colliders {
            if let Some(depth) = collider.deepest(start, places) {
                let written = document.unknowns.keys().find(|path| named.name.key().starts_with(path.as_str()));
                let at = format!("unknowns.{}.range", shown(written.map_or(named.name.key(), String::as_str)));
                let (what, name, depth) = (called(&start.shape), quoted(&collider.name), rounded(depth));
                let problem = format!(
                    "{what} may start {depth} m inside the collider {name}, expected a range of places outside of it"
                );
                return wrong(&at, problem);
            }
        }
    }
    Ok(())
}

/// The range of a number, or of each piece of what varies.
fn of_name(at: &str, name: &str, ends: [f64; 2], unknown: &Unknown, scene: &Scene) -> Result<Vec<Range>, Fault> {
    let found = name.parse::<Name>().and_then(|name| scene.all(&name).map(|targets| (name, targets)));
    if matches!(name.parse().map(|name: Name| name.quantity()), Ok(Quantity::StartPosition(_))) && scene.clamp.is_some()
    {
        return wrong(at, "a clamp holds the body in its place, expected no such unknown, or no clamp");
    }
    let (name, targets) =
        found.map_err(|problem| Fault::new(at, format!("cannot be found by this version: {problem}")))?;
    let prior = checked(at, scene, targets[0], ends, unknown)?;
    let named = |target: &Target| if unknown.field.is_some() { name.with_piece(target.piece) } else { name.clone() };
    let [min, max] = ends;
    let range = |target: &Target| {
        let (name, transform) = (named(target), unknown.transform);
        Range { name, target: *target, min, max, transform, prior }
    };
    Ok(targets.iter().map(range).collect())
}

/// Checks range, transform and prior; gives the prior.
fn checked(
    at: &str,
    scene: &Scene,
    target: Target,
    [min, max]: [f64; 2],
    unknown: &Unknown,
) -> Result<Option<Prior>, Fault> {
    let Row { scale, bounds, .. } = target.quantity.row();
    let field = format!("{at}.range");
    for end in [min, max] {
        match scale {
            Scale::Factors => within(&field, end, bounds)?,
            Scale::NotNegative => share(&field, end, bounds)?,
            Scale::Any => at_most(&field, [end; 3], bounds)?,
        }
    }
    if max <= min {
        let problem = format!("[{}, {}], expected the greater value last", rounded(min), rounded(max));
        return wrong(&field, problem);
    }
    if target.quantity == Quantity::Mass {
        let shape = &scene.bodies[target.of].starts[0].shape;
        [min, max].iter().try_for_each(|end| rigid::fills(&field, *end, shape))?;
    }
    if let Quantity::Distortion(k) = target.quantity {
        lens(&field, &scene.cameras[target.of], k, [min, max])?;
    }
    if unknown.transform == Transform::Log && min <= 0.0 {
        let problem = format!("\"log\", but the range begins at {}, expected one of positive values", rounded(min));
        return wrong(&format!("{at}.transform"), problem);
    }
    let Some(prior) = unknown.prior else { return Ok(None) };
    let at = format!("{at}.prior");
    let prior = self::prior(&at, prior, scale)?;
    likely(&at, prior, [min, max], scale)?;
    Ok(Some(prior))
}

/// Refuses a prior that no value of the range fits.
fn likely(at: &str, Prior { center, deviation }: Prior, [min, max]: [f64; 2], scale: Scale) -> Result<(), Fault> {
    let beyond = |a: f64, b: f64| match scale {
        Scale::Factors => (a / b).ln(),
        Scale::NotNegative | Scale::Any => a - b,
    };
    let away = beyond(min, center).max(beyond(center, max)) / deviation;
    if away <= UNLIKELY {
        return Ok(());
    }
    let field = match scale {
        Scale::Factors => "log_normal.median",
        Scale::NotNegative | Scale::Any => "normal.mean",
    };
    let [center, min, max] = [center, min, max].map(rounded);
    let problem =
        format!("{center} is {away:.1} deviations outside of the range, {min} to {max}, expected at most {UNLIKELY}");
    wrong(&format!("{at}.{field}"), problem)
}

/// With a coefficient at either end of its range, and the others as they are, the lens shows each place once.
fn lens(field: &str, camera: &Camera, coefficient: usize, ends: [f64; 2]) -> Result<(), Fault> {
    for end in ends {
        let mut lens = camera.lens;
        match lens.radial.get_mut(coefficient) {
            Some(radial) => *radial = end,
            None => lens.tangential[coefficient - lens.radial.len()] = end,
        }
        if !lens.is_one_to_one(camera.corner()) {
            return wrong(
                field,
                format!("at {end:?} the lens shows two places at one inside of the image, expected less"),
            );
        }
    }
    Ok(())
}

fn prior(at: &str, prior: document::Prior, scale: Scale) -> Result<Prior, Fault> {
    let (center, deviation) = match (prior, scale) {
        (document::Prior::LogNormal(prior), Scale::Factors) => {
            positive(&format!("{at}.log_normal.median"), prior.median)?;
            (prior.median, prior.deviation)
        }
        (document::Prior::Normal(prior), Scale::NotNegative | Scale::Any) => (prior.mean, prior.deviation),
        (document::Prior::Normal(_), Scale::Factors) => {
            return wrong(
                at,
                "values of this quantity differ by factors, expected log_normal with median and deviation",
            );
        }
        (document::Prior::LogNormal(_), Scale::NotNegative | Scale::Any) => {
            return wrong(at, "values of this quantity may be zero, expected normal with mean and deviation");
        }
    };
    positive(&format!("{at}.deviation"), deviation)?;
    match center.is_finite() {
        true => Ok(Prior { center, deviation }),
        false => wrong(at, format!("{center}, expected a finite number")),
    }
}
