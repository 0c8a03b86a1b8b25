//! The report of a run as one page, with its pictures inside: it needs no server, no network and no other file.

use super::number::{short, unit};
use super::{Searched, Summary};
use crate::job::{Ending, Runs};
use crate::text;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use diffkern::memory::{filled, with_room};
use std::fmt;

/// A picture of the page.
pub(super) struct Picture {
    pub(super) title: &'static str,
    /// `image/png` or `image/gif`.
    pub(super) kind: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Light or dark as the reader's system is. In the dark a plot is inverted and its hues are turned back; frames stay as they are.
const STYLE: &str = "
:root { color-scheme: light dark; --ink: #222; --soft: #666; --line: #ddd; --paper: #fff; --box: #f5f6f8; --good: #1a7f45;
  --bad: #b3541e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e4e4; --soft: #a0a0a0; --line: #3a3a3a; --paper: #161616; --box: #1d1f22; --good: #5fc98a; --bad: #f0a060; }
  img.plot { filter: invert(.93) hue-rotate(180deg) brightness(1.25); }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 80rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.7rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { margin: .3rem 0; }
.soft { color: var(--soft); }
.good { color: var(--good); }
.bad { color: var(--bad); }
.warnings { background: var(--box); border-left: 4px solid var(--bad); margin: 1rem 0; padding: .6rem 1rem .6rem 2rem;
  overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem 1.2rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; }
tbody th { font-weight: 500; }
td.number, th.number { text-align: right; white-space: nowrap; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; display: block; border-radius: 6px; margin-top: 2rem; }
h2 + img { margin-top: 0; }
";

/// The page as bytes. Texts of others stand in it as they are, never as its own elements.
pub(super) fn html(
    name: &str,
    summary: &Summary,
    searched: &[Searched<'_>],
    pictures: &[Picture],
) -> crate::Result<Vec<u8>> {
    let title = Text(name);
    let head = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} – diffkern</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{}{}{}{}",
        ending(summary),
        warnings(&summary.warnings),
        parameters(searched),
        numbers(summary),
    );
    let foot = "</body>\n</html>\n";
    let room = pictures.iter().map(|picture| picture.bytes.len() / 3 * 4 + 500).sum::<usize>();
    let mut page = with_room(head.len() + room + foot.len())?;
    page.extend(head.bytes());
    for picture in pictures {
        let Picture { title, kind, bytes } = picture;
        // A plot has its title in it.
        let (class, heading) = match *kind {
            "image/png" => ("plot", String::new()),
            _ => ("film", format!("<h2>{title}</h2>\n")),
        };
        let open = format!("{heading}<img class=\"{class}\" alt=\"{title}\" src=\"data:{kind};base64,");
        page.extend(open.bytes());
        encode(bytes, &mut page)?;
        page.extend(b"\">\n");
    }
    page.extend(foot.bytes());
    Ok(page)
}

fn encode(bytes: &[u8], page: &mut Vec<u8>) -> crate::Result<()> {
    let mut text = filled(bytes.len().div_ceil(3) * 4, 0)?;
    // The room is that of the standard.
    let length = BASE64_STANDARD.encode_slice(bytes, &mut text).unwrap_or(0);
    page.extend(&text[..length]);
    Ok(())
}

fn ending(summary: &Summary) -> String {
    let (class, text) = match summary.ending {
        Ending::Converged => ("good", "converged"),
        Ending::MaxIterations => ("bad", "ended by the limit of iterations"),
        Ending::Interrupted => ("bad", "interrupted: the best values so far"),
    };
    format!(
        "<p><b class=\"{class}\">{text}</b> <span class=\"soft\">· diffkern {}</span></p>\n",
        Text(&summary.version)
    )
}

fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let items: String = warnings.iter().map(|warning| format!("<li>{}</li>\n", Text(warning))).collect();
    format!("<ul class=\"warnings\">\n{items}</ul>\n")
}

fn parameters(searched: &[Searched<'_>]) -> String {
    let rows: String = searched.iter().map(row).collect();
    format!(
        "<h2>Parameters</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>name</th><th>unit</th><th class=\"number\">initial</th>\
         <th class=\"number\">found</th><th class=\"number\">95 % interval</th><th class=\"number\">search range</th>\
         <th>determined</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn row(one: &Searched<'_>) -> String {
    let Searched { parameter, range } = one;
    let between =
        |ends: Option<(f64, f64)>| ends.map_or_else(|| "–".into(), |(a, b)| format!("{} … {}", short(a), short(b)));
    let (class, determined) = match (parameter.determined, parameter.interval) {
        (true, None) => ("soft", "not known"),
        (true, Some(_)) => ("good", "yes"),
        (false, _) => ("bad", "no"),
    };
    format!(
        "<tr><th><code>{}</code></th><td>{}</td><td class=\"number\">{}</td><td class=\"number\"><b>{}</b></td>\
         <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"{class}\">{determined}</td></tr>\n",
        Text(parameter.name.key()),
        Text(&unit(&parameter.unit)),
        short(parameter.initial),
        short(parameter.found),
        between(parameter.interval),
        between(*range),
    )
}

fn numbers(summary: &Summary) -> String {
    let loss = |loss: Option<f64>| loss.map_or_else(|| "–".into(), short);
    let [coarse, fine] = summary.runs;
    let space = summary.discretisation;
    let mut rows = vec![
        ("loss before", loss(summary.loss_initial)),
        ("loss after", loss(summary.loss)),
        ("IoU of the silhouettes", summary.iou.map_or_else(|| "–".into(), |iou| format!("{iou:.4}"))),
        ("outlines off by", summary.outlines.map_or_else(|| "–".into(), |off| format!("{off:.2} pixels"))),
        ("frames fitted", summary.fitted_frames.to_string()),
        ("iterations", summary.iterations.to_string()),
        ("simulator, coarse grid", runs(coarse)),
        ("simulator, final grid", runs(fine)),
        ("time", duration(summary.seconds)),
        (
            "final discretisation",
            format!(
                "{}, grid {} m, step {} s, {} {}",
                space.simulator.name(),
                short(space.dx),
                short(space.dt),
                space.elements,
                space.simulator.elements()
            ),
        ),
    ];
    let distances = summary.distances.iter();
    let distances: Vec<_> = distances.map(|(name, away)| format!("{}: {} m", Text(name), short(*away))).collect();
    if !distances.is_empty() {
        rows.push(("distance from places that were measured", distances.join(", ")));
    }
    if summary.viscosity != 0.0 {
        rows.push(("viscosity, fitted along", format!("{} Pa s", short(summary.viscosity))));
    }
    let rows: String = rows.iter().map(|(name, value)| format!("<tr><th>{name}</th><td>{value}</td></tr>\n")).collect();
    format!("<h2>Numbers</h2>\n<table>\n<tbody>\n{rows}</tbody>\n</table>\n")
}

fn runs(runs: Runs) -> String {
    let counts = [
        (runs.forward, "runs"),
        (runs.tangents, "tangents"),
        (runs.reverse, "gradients"),
        (runs.products, "Hessian products"),
    ];
    let counts = counts.iter().filter(|(count, name)| *count > 0 || *name == "runs");
    counts.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A text of others as HTML.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in text::line(self.0).chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Discretisation, Simulator};
    use crate::report::sample::sample;

    /// A page whose texts try to be elements of it.
    fn page(ending: Ending, pictures: &[Picture]) -> String {
        let (_, parameters) = sample(7, 3);
        let searched: Vec<_> =
            parameters.iter().map(|parameter| Searched { parameter, range: Some((0.5, 2e9)) }).collect();
        let summary = Summary {
            parameters: Default::default(),
            loss: Some(3.2e-6),
            iterations: 40,
            runs: [
                Runs { forward: 51, tangents: 100, ..Default::default() },
                Runs { forward: 18, ..Default::default() },
            ],
            seconds: 105.9,
            intervals: Default::default(),
            by_noise: Default::default(),
            determined: Default::default(),
            initial: Default::default(),
            loss_initial: None,
            iou: Some(0.990_12),
            outlines: Some(0.213),
            fitted_frames: 17,
            distances: [("<dots>".into(), 1.2e-3)].into(),
            ending,
            viscosity: -1.7039,
            discretisation: Discretisation { simulator: Simulator::Mpm, dx: 0.01989, dt: 3.125e-4, elements: 6688 },
            version: "0.1.0".into(),
            warnings: vec!["<script>alert('1')</script>\u{202e}".into(), "a & b".into()],
        };
        let bytes = html("</title><img src=\"x\">", &summary, &searched, pictures).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn texts_of_others_are_no_elements() {
        let page = page(Ending::MaxIterations, &[]);
        for element in ["<script", "<img", "\u{202e}"] {
            assert!(!page.contains(element), "{element}");
        }
        assert_eq!(page.matches("</title>").count(), 1);
        assert!(page.contains("<h1>&lt;/title&gt;&lt;img src=&quot;x&quot;&gt;</h1>"));
        assert!(
            page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;") && page.contains("<li>a &amp; b</li>")
        );
    }

    #[test]
    fn numbers_and_pictures_are_in_it_and_nothing_is_fetched() {
        let picture = Picture { title: "Loss", kind: "image/png", bytes: b"any carnal pleas".to_vec() };
        let page = page(Ending::Converged, &[picture]);
        assert!(page.contains("src=\"data:image/png;base64,YW55IGNhcm5hbCBwbGVhcw==\""));
        let numbers = [
            "converged",
            "3.2 · 10⁻⁶",
            "0.9901",
            "51 runs, 100 tangents",
            "1 min 46 s",
            "6688 particles",
            "−1.7039 Pa s",
        ];
        for text in
            numbers.into_iter().chain(["<code>bodies.left_0.material.mu</code>", "Pa", "7680 … 8320", "0.5 … 2 · 10⁹"])
        {
            assert!(page.contains(text), "{text}");
        }
        assert_eq!(page.matches("<tr><th><code>").count(), 7);
        for fetched in ["http", "url(", "@import", "<link", "<script"] {
            assert!(!page.contains(fetched), "{fetched}");
        }
        assert!(page.contains("prefers-color-scheme: dark"));
    }
}
