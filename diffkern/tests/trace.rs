//! The trace file: valid JSON with a span per launch, transfer and checkpoint. One test, since a process has one trace.
#![cfg(feature = "trace")]
#![expect(clippy::unwrap_used, reason = "tests")]

use diffkern::prelude::*;
use diffkern::trace::ChromeTrace;
use diffkern::{reduce, rollout};

#[diff_kernel]
fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

/// Reads one JSON value and returns what follows; panics where it is none.
fn value(json: &str) -> &str {
    let json = json.trim_start();
    let list = |mut rest: &str, end: char, keyed: bool| {
        rest = rest.trim_start();
        if let Some(rest) = rest.strip_prefix(end) {
            return rest.len();
        }
        loop {
            if keyed {
                assert!(rest.trim_start().starts_with('"'), "a key: {:.40}", rest);
                rest = value(rest).trim_start().strip_prefix(':').unwrap();
            }
            rest = value(rest).trim_start();
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => return rest.strip_prefix(end).unwrap().len(),
            }
        }
    };
    let after = |left: usize| &json[json.len() - left..];
    match json.chars().next().unwrap() {
        '{' => after(list(&json[1..], '}', true)),
        '[' => after(list(&json[1..], ']', false)),
        '"' => {
            let mut rest = json[1..].char_indices();
            while let Some((at, c)) = rest.next() {
                match c {
                    '"' => return &json[at + 2..],
                    '\\' => drop(rest.next()),
                    _ => {}
                }
            }
            panic!("a string without end");
        }
        _ => {
            let end = json.find([',', '}', ']', '\n']).unwrap();
            assert!(matches!(&json[..end], "true" | "false") || json[..end].parse::<f64>().is_ok(), "{:.40}", json);
            &json[end..]
        }
    }
}

#[test]
fn a_trace_has_every_launch_and_every_checkpoint() -> Result<()> {
    let path = std::env::temp_dir().join(format!("diffkern-trace-{}.json", std::process::id()));
    let trace = ChromeTrace::start(&path)?;
    assert!(ChromeTrace::start(&path).is_err(), "one per process");
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 0.5])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let y = rollout(5, Schedule::Checkpoints(2), x.clone(), |x: &Array<f64>, _| {
            let y = x.device().uninit(2)?;
            square(2, x, &y)?;
            Ok(y)
        })?;
        reduce::sum(&y)
    })?;
    tape.backward(&loss)?;
    let report = tape.report();
    let spans = trace.finish()?;
    let json = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(value(&json).trim(), "");
    assert_eq!(json.matches("\"ph\":\"X\"").count(), spans);
    let count = |what: &str, program: &str| {
        json.lines().filter(|l| l.contains(&format!("\"name\":\"{what}\"")) && l.contains(program)).count()
    };
    let kernel = report.kernels.iter().find(|k| k.name == "square").unwrap();
    assert_eq!(count("square", "\"program\":\"kernel\""), kernel.launches);
    assert_eq!(count("square", "\"program\":\"adjoint\""), kernel.adjoint_launches);
    assert_eq!((count("reverse", ""), count("record", ""), count("backward", "")), (5, 5, 1));
    assert!(count("snapshot", "") >= 2 && count("upload", "") >= 1);
    Ok(())
}
