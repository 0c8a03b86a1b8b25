//! How far a place is from the videos where a search looks at many.
//!
//! Errors of what moves bodies add up, and each impact multiplies them, so that a place may fit late frames better by chance which is wrong about those before. So a frame is off by no less than one before, and once it is off
//! by much more than what can be fitted it does not matter by how much: what is compared is how long a place goes with the video, and how near until then (Geman and McClure's loss, by the square of the squared error).

use super::frames::{FITTED, SHOWS};
use super::misfit::{Level, Target};
use diffkern::Result;

/// The cost of pictures that come one after the other.
pub(super) struct FirstLook<'a> {
    frames: usize,
    targets: Vec<(usize, &'a Target)>,
    next: usize,
    groups: Vec<Group>,
    /// What outlines are off by that can be fitted \[pixels squared\]; none where sums of squares are asked for.
    fitted: Option<f64>,
}

/// The pictures of a frame of a take.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// Whether the take begins.
    begins: bool,
    /// Sum of squared differences so far.
    square: f64,
    /// What a shift of all outlines by a pixel would cost.
    pixel: f64,
}

impl<'a> FirstLook<'a> {
    /// At what a level looks at; by how long it goes with the video if it is `robust` and silhouettes are compared.
    pub(super) fn new(level: &'a Level, robust: bool) -> Self {
        let (mut targets, mut groups) = (Vec::new(), Vec::<Group>::new());
        let (mut last, mut area, mut silhouettes) = (None, 0.0, 0);
        for (_, target) in level.targets() {
            let (frame, outline) = target.outline();
            if last != Some(frame) {
                groups.push(Group { begins: last.is_none_or(|last| frame < last), square: 0.0, pixel: 0.0 });
                last = Some(frame);
            }
            let group = groups.len() - 1;
            if let Some([pixel, covered]) = outline {
                groups[group].pixel += pixel;
                area += covered;
                silhouettes += 1;
            }
            targets.push((group, target));
        }
        let shows = groups.iter().any(|group| group.pixel > 0.0);
        let fitted = (robust && shows).then(|| FITTED * FITTED * area / f64::from(silhouettes));
        Self { frames: level.frames(), targets, next: 0, groups, fitted }
    }

    /// How many are looked at.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// What the pictures cost as far as they are known, the next one being `image`: no more than all will.
    pub(super) fn add(&mut self, image: &[f64]) -> Result<f64> {
        if let Some((group, target)) = self.targets.get(self.next) {
            self.groups[*group].square += target.square(image)?;
            self.next += 1;
        }
        Ok(self.cost())
    }

    fn cost(&self) -> f64 {
        match self.fitted {
            Some(fitted) => frames_off(&self.groups, fitted),
            None => self.groups.iter().map(|group| group.square).sum(),
        }
    }
}

/// How many frames are off, those by as much as can be `fitted` \[pixels squared\] counting as half.
fn frames_off(groups: &[Group], fitted: f64) -> f64 {
    let shown = groups.iter().fold(0.0, |most: f64, group| most.max(group.pixel));
    let (mut sum, mut most) = (0.0, 0.0);
    for group in groups {
        most = if group.begins { 0.0 } else { most };
        if group.pixel > SHOWS * shown {
            let own = group.square / group.pixel;
            // NaN stays.
            most = if own <= most { most } else { own };
        }
        let part = (most / fitted).powi(2);
        sum += if part.is_infinite() { 1.0 } else { part / (1.0 + part) };
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_off_by_no_less_than_one_before() {
        let of = |begins: bool, off: f64, pixel: f64| Group { begins, square: off * off * pixel, pixel };
        // Two takes; a frame that is right by chance, and one that shows a sliver.
        let groups =
            [of(true, 0.0, 2.0), of(false, 3.0, 2.0), of(false, 1.0, 2.0), of(true, 0.5, 2.0), of(false, 9.0, 0.1)];
        let off = |pixels: f64| pixels.powi(4) / (2.0f64.powi(4) + pixels.powi(4));
        let expected = 2.0 * off(3.0) + 2.0 * off(0.5);
        assert!((frames_off(&groups, 4.0) / expected - 1.0).abs() < 1e-12);
        let mut nothing = groups;
        nothing[1].square = f64::NAN;
        assert!(frames_off(&nothing, 4.0).is_nan());
    }

    /// Of two places of which one is a little beside the video in all frames, the other on it until it is far off, the second is nearer, though not by squares.
    #[test]
    fn by_how_much_late_frames_are_off_does_not_count() {
        let of = |offs: [f64; 8]| offs.map(|off| Group { begins: false, square: 4.0 * off * off, pixel: 4.0 });
        let (all, late) = (of([1.5; 8]), of([0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 5.0, 9.0]));
        assert!(frames_off(&late, 1.0) < 0.5 * frames_off(&all, 1.0));
        let sum = |groups: &[Group]| groups.iter().map(|group| group.square).sum::<f64>();
        assert!(sum(&late) > sum(&all));
    }
}
