//! Places of points of a body over time, as they were measured, and the tables that they come in.

use super::convert::Conversion;
use super::tree::among;
use crate::error::{Error, Place, Result};
use crate::input;
use crate::text::quoted;
use std::fmt::Write as _;
use std::path::Path;

/// A measurement of a body: places at frames.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Its name.
    pub name: String,
    /// The body, by its place in the scene.
    pub body: usize,
    /// The take, by its place in the scene.
    pub take: usize,
    /// What was followed.
    pub of: Followed,
    /// The table, relative to the folder of the scene.
    pub file: String,
    /// Standard deviation of each coordinate \[m\].
    pub deviation: f64,
    /// What was measured, frame by frame and point by point; none before the table is there.
    pub measured: Option<Vec<Measured>>,
    /// Units and axes of the table.
    pub(crate) units: Conversion,
}

/// What of a body was followed.
#[derive(Debug, Clone, PartialEq)]
pub enum Followed {
    /// Its centre of mass.
    Centre,
    /// Points of it, by their places when the video begins \[m\].
    Points(Vec<[f64; 3]>),
}

/// A place that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Number of the frame.
    pub frame: usize,
    /// Number of the point.
    pub point: usize,
    /// Where it was \[m\].
    pub at: [f64; 3],
}

const FRAME: &str = "frame";
const MARKER: &str = "marker";
const COORDINATES: [&str; 3] = ["x", "y", "z"];
/// Most points that a track may have.
const MOST: usize = 100_000;

impl Track {
    /// How many points it follows.
    pub fn points(&self) -> usize {
        match &self.of {
            Followed::Centre => 1,
            Followed::Points(points) => points.len(),
        }
    }

    /// Whether its table was there when the scene in `folder` was read.
    ///
    /// # Errors
    /// When it was not.
    pub(crate) fn is_there(&self, folder: &Path) -> Result<()> {
        match self.measured {
            Some(_) => Ok(()),
            None => {
                Err(Error::file(&folder.join(&self.file), format!("no such file, expected the table of {}", self.name)))
            }
        }
    }

    /// What was measured at a frame.
    pub fn at(&self, frame: usize) -> &[Measured] {
        let all = self.measured.as_deref().unwrap_or_default();
        let begin = |frame: usize| all.partition_point(|row| row.frame < frame);
        &all[begin(frame)..begin(frame + 1)]
    }

    /// Columns of its table.
    fn columns(&self) -> Vec<&'static str> {
        let marker = matches!(self.of, Followed::Points(_)).then_some(MARKER);
        [FRAME].into_iter().chain(marker).chain(COORDINATES).collect()
    }

    /// Reads its table, if it is there. Points that the scene does not give are where they are at frame 0.
    pub(super) fn read(&mut self, file: &Path, frames: usize) -> Result<()> {
        if !file.exists() {
            return Ok(());
        }
        let text = input::text(file, input::TABLE)?;
        let mut rows = self.rows(file, &text)?;
        rows.sort_by_key(|(_, row)| (row.frame, row.point));
        if let Followed::Points(points) = &mut self.of
            && points.is_empty()
        {
            let first = rows.iter().take_while(|(_, row)| row.frame == 0);
            points.extend(first.map(|(_, row)| row.at));
        }
        let points = self.points();
        if points == 0 {
            return Err(Error::file(file, "holds no place at frame 0, expected those of all markers there"));
        }
        for (k, (line, row)) in rows.iter().enumerate() {
            let wrong = |problem: String| Err(at(file, *line, problem));
            if row.frame >= frames {
                return wrong(format!("frame {}, expected 0 to {}", row.frame, frames - 1));
            }
            if row.point >= points {
                return wrong(format!("marker {}, expected 0 to {}", row.point, points - 1));
            }
            let same = |other: &Measured| (other.frame, other.point) == (row.frame, row.point);
            if rows[k + 1..].first().is_some_and(|(_, other)| same(other)) {
                return wrong(format!("frame {} has marker {} twice, expected it once", row.frame, row.point));
            }
        }
        if rows.iter().all(|(_, row)| row.frame == 0) {
            return Err(Error::file(file, "holds no place after frame 0, expected where things went"));
        }
        self.measured = Some(rows.into_iter().map(|(_, row)| row).collect());
        Ok(())
    }

    /// The rows of a table, each with its line.
    fn rows(&self, file: &Path, text: &str) -> Result<Vec<(usize, Measured)>> {
        let broken = |e: csv::Error| Error::file(file, format!("is no table of comma separated values: {e}"));
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
        let (head, known) = (reader.headers().map_err(broken)?.clone(), self.columns());
        if let Some(other) = head.iter().find(|name| !known.contains(name)) {
            return Err(at(file, 1, format!("unknown column {}, {}", quoted(other), among(other, &known))));
        }
        let place = |name: &&str| {
            let found: Vec<usize> = (0..head.len()).filter(|&k| head.get(k) == Some(*name)).collect();
            match found[..] {
                [column] => Ok(column),
                [] => Err(at(file, 1, format!("no column {name}, expected {}", known.join(",")))),
                _ => Err(at(file, 1, format!("column {name} stands there twice, expected it once"))),
            }
        };
        let places = known.iter().map(place).collect::<Result<Vec<_>>>()?;
        let mut rows = Vec::new();
        for row in reader.records() {
            let row = row.map_err(broken)?;
            let line = row.position().map_or(0, |position| position.line() as usize);
            let cell = |k: usize| row.get(places[k]).unwrap_or_default();
            let wrong = |k: usize, what: &str| {
                at(file, line, format!("column {}: {}, expected {what}", known[k], quoted(cell(k))))
            };
            let count = |k: usize| match cell(k).parse::<usize>() {
                Ok(number) if number < MOST => Ok(number),
                _ => Err(wrong(k, &format!("a number counted from 0, below {MOST}"))),
            };
            let first = known.len() - COORDINATES.len();
            let coordinate = |a: usize| match cell(first + a).parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => Err(wrong(first + a, "a number")),
            };
            let place = self.units.position([coordinate(0)?, coordinate(1)?, coordinate(2)?]);
            if place.iter().any(|x| x.abs() > super::bounds::PLACE.most) {
                return Err(at(file, line, format!("{place:?} m, {}", super::bounds::PLACE.expected())));
            }
            let point = if first > 1 { count(1)? } else { 0 };
            rows.push((line, Measured { frame: count(0)?, point, at: place }));
        }
        Ok(rows)
    }

    /// The table of places \[m\] by frame, each three numbers a point, in the units and axes of the scene.
    pub(crate) fn table(&self, frames: &[Vec<f64>]) -> String {
        let mut text = self.columns().join(",") + "\n";
        for (frame, places) in frames.iter().enumerate() {
            for (point, place) in places.as_chunks::<3>().0.iter().enumerate() {
                let [x, y, z] = self.units.written(*place);
                let marker = if matches!(self.of, Followed::Points(_)) { format!(",{point}") } else { String::new() };
                // Writing to a string does not fail.
                let _ = writeln!(text, "{frame}{marker},{x:?},{y:?},{z:?}");
            }
        }
        text
    }
}

fn at(file: &Path, line: usize, problem: String) -> Error {
    Error::Input { file: file.into(), place: Place { line: Some((line, 1)), field: None }, problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::document::Document;

    /// With y up and in millimetres.
    fn to_si() -> Conversion {
        let text = r#"{"version": 1, "name": "a", "units": {"length": "mm"}, "axes": {"up": "y"}, "frame_rate": 1, "frames": 4,
            "gravity": [0, 0, 0], "bodies": {}, "cameras": {}, "lights": {}}"#;
        Conversion::of(&serde_json::from_str::<Document>(text).unwrap())
    }

    fn track(of: Followed) -> Track {
        Track {
            name: "dots".into(),
            body: 0,
            take: 0,
            of,
            file: "dots.csv".into(),
            deviation: 1e-3,
            measured: None,
            units: to_si(),
        }
    }

    /// A track whose table has this text.
    fn read(of: Followed, text: &str) -> std::result::Result<Track, String> {
        let number = std::thread::current().id();
        let file = std::env::temp_dir().join(format!("diffkern-track-{}-{number:?}.csv", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let mut track = track(of);
        let done = track.read(&file, 4);
        std::fs::remove_file(&file).unwrap();
        let name = crate::text::path(&file);
        done.map(|()| track).map_err(|error| error.to_string().replace(&name, "dots.csv"))
    }

    #[test]
    fn a_table_is_read_in_any_order_and_in_the_units_of_the_scene() {
        let text = "x, y, z, marker, frame\n# a remark\n10,200,-30,1,0\n1.5,2,3e1,0,2\n0,0,0,0,0\n";
        let dots = read(Followed::Points(Vec::new()), text).unwrap();
        assert_eq!(dots.of, Followed::Points(vec![[0.0; 3], [0.01, 0.03, 0.2]]));
        assert_eq!(dots.at(2), [Measured { frame: 2, point: 0, at: [0.0015, -0.03, 0.002] }]);
        assert!(dots.at(1).is_empty() && dots.at(3).is_empty() && dots.at(0).len() == 2);
        assert_eq!(track(Followed::Centre).at(0), []);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let places = [vec![0.1, -0.2, 0.3, 0.0, 0.5, -0.7], vec![0.0, 0.25, 0.5, 1.0, 2.0, 3.0]];
        for (of, count) in [(Followed::Points(vec![[0.0; 3]; 2]), 2), (Followed::Centre, 1)] {
            let places = places.each_ref().map(|all| all[..3 * count].to_vec());
            let back = read(of.clone(), &track(of).table(&places)).unwrap();
            let measured = back.measured.unwrap();
            assert_eq!(measured.len(), 2 * count);
            for row in measured {
                let place = &places[row.frame][3 * row.point..3 * row.point + 3];
                assert!(row.at.iter().zip(place).all(|(a, b)| (a - b).abs() < 1e-15), "{row:?}");
            }
        }
    }

    #[test]
    fn wrong_tables_are_refused_by_line_and_column() {
        let two = || Followed::Points(vec![[0.0; 3]; 2]);
        let head = "frame,marker,x,y,z\n";
        for (of, text, said) in [
            (two(), "", "dots.csv:1:1: no column frame, expected frame,marker,x,y,z"),
            (two(), "frame,marker,x,y\n", "dots.csv:1:1: no column z"),
            (two(), "frame,marker,x,y,z,x\n", "dots.csv:1:1: column x stands there twice"),
            (two(), "fram,marker,x,y,z\n", "dots.csv:1:1: unknown column \"fram\", did you mean \"frame\"?"),
            (Followed::Centre, head, "dots.csv:1:1: unknown column \"marker\""),
            (two(), &format!("{head}0,0,1,2,3\n0,1,1,two,3\n"), "dots.csv:3:1: column y: \"two\", expected a number"),
            (two(), &format!("{head}0,0,1,2\n"), "dots.csv: is no table of comma separated values"),
            (two(), &format!("{head}0,0,1,inf,3\n"), "dots.csv:2:1: column y: \"inf\""),
            (
                two(),
                &format!("{head}-1,0,1,2,3\n"),
                "dots.csv:2:1: column frame: \"-1\", expected a number counted from 0",
            ),
            (two(), &format!("{head}4,0,1,2,3\n"), "dots.csv:2:1: frame 4, expected 0 to 3"),
            (two(), &format!("{head}0,2,1,2,3\n"), "dots.csv:2:1: marker 2, expected 0 to 1"),
            (two(), &format!("{head}1,0,1,2,3\n0,1,0,0,0\n1,0,1,2,3\n"), "frame 1 has marker 0 twice"),
            (Followed::Points(Vec::new()), &format!("{head}1,0,1,2,3\n"), "dots.csv: holds no place at frame 0"),
            (two(), &format!("{head}0,0,1,2,3\n"), "dots.csv: holds no place after frame 0"),
            (Followed::Centre, "frame,x,y,z\n", "dots.csv: holds no place after frame 0"),
            (
                two(),
                &format!("{head}1,0,1,2e9,3\n"),
                "dots.csv:2:1: [0.001, -0.003, 2000000.0] m, expected 0.0 to 1000000.0 m",
            ),
        ] {
            let error = read(of, text).unwrap_err();
            assert!(error.contains(said), "{error}\n{said}");
        }
    }
}
