//! What is compared: one picture or the places of one track at one frame.

use crate::scene::Scene;

/// What is seen, by its place in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The silhouette of a film.
    Silhouette(usize),
    /// The depths of a film: of each pixel its coverage, and the mean reciprocal of depth.
    Depth(usize),
    /// A channel of the colours of a film: red, green or blue.
    Colour(usize, usize),
    /// The places of a track.
    Track(usize),
}

/// What is compared at a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shot {
    pub(crate) seen: Seen,
    pub(crate) frame: usize,
}

impl Shot {
    /// How many numbers it has, and in rows of how many they lie.
    pub(crate) fn size(&self, scene: &Scene) -> (usize, usize) {
        match self.seen {
            Seen::Silhouette(film) | Seen::Colour(film, _) => {
                let camera = &scene.cameras[scene.films[film].camera];
                (camera.width * camera.height, camera.width)
            }
            Seen::Depth(film) => {
                let camera = &scene.cameras[scene.films[film].camera];
                (2 * camera.width * camera.height, 2 * camera.width)
            }
            Seen::Track(track) => (3 * scene.tracks[track].points(), 3),
        }
    }
}

/// What is seen of a take at each frame, in the order in which a program gives it.
pub(crate) fn seen(scene: &Scene, take: usize) -> Vec<Seen> {
    let films = scene.films.iter().enumerate().filter(|(_, film)| film.take == take);
    let of_film = |(k, film): (usize, &crate::scene::Film)| {
        let [silhouette, colour, depth] = film.weights.map(|weight| weight > 0.0);
        let channels = (0..3).filter(move |_| colour).map(move |channel| Seen::Colour(k, channel));
        let depth = depth.then_some(Seen::Depth(k));
        silhouette.then_some(Seen::Silhouette(k)).into_iter().chain(depth).chain(channels)
    };
    let tracks = scene.tracks.iter().enumerate().filter(|(_, track)| track.take == take);
    films.flat_map(of_film).chain(tracks.map(|(k, _)| Seen::Track(k))).collect()
}

/// What is compared in the first `frames` frames, in the order in which a program gives it: take by take, frame by frame.
pub(crate) fn shots(scene: &Scene, frames: usize) -> Vec<Shot> {
    let of_take = |take: usize| {
        let all = seen(scene, take);
        (0..frames).flat_map(move |frame| all.clone().into_iter().map(move |seen| Shot { seen, frame }))
    };
    (0..scene.takes.len()).flat_map(of_take).collect()
}

/// The takes of which anything was observed.
pub(crate) fn observed(scene: &Scene) -> impl Iterator<Item = usize> {
    let by = |take: usize| {
        scene.films.iter().any(|film| film.take == take) || scene.tracks.iter().any(|track| track.take == take)
    };
    (0..scene.takes.len()).filter(move |take| by(*take))
}
