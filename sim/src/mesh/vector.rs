//! Vectors of three numbers on the host.

pub(crate) type Point = [f64; 3];

/// One number for each axis. In loops, rather than [`array::map`](array), whose parts are not inlined where they are compiled apart from their user.
#[inline]
pub(crate) fn per_axis<T>(of: impl Fn(usize) -> T) -> [T; 3] {
    [of(0), of(1), of(2)]
}

pub(crate) fn add(a: Point, b: Point) -> Point {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn scale(a: Point, s: f64) -> Point {
    [a[0] * s, a[1] * s, a[2] * s]
}

pub(crate) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn norm(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// Smallest box around points, as its lowest and highest corner; infinite and inverted where there are none.
pub(crate) fn bounds(points: impl Iterator<Item = Point>) -> [Point; 2] {
    points.fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], p| {
        [per_axis(|a| low[a].min(p[a])), per_axis(|a| high[a].max(p[a]))]
    })
}
