//! One error type in which those of all libraries meet.

use std::path::Path;

use diffkern::prelude::*;
use diffkern::rollout;
use diffkern_render::image::read_gray;
use diffkern_sim::mpm::{Dim2, Grid};

fn cells(n: usize) -> diffkern_sim::Result<usize> {
    Ok(Grid::<Dim2>::new([0.0; 2], 0.1, [n, n])?.len())
}

/// `?` for an error of the kernel library, the simulator and the renderer, inside a closure of each kind.
fn program(cells_of: usize, picture: &str) -> Result<f32> {
    let device = Device::cpu();
    let (tape, total) = Tape::record_value(|| {
        let n = cells(cells_of)?;
        let end = rollout(2, Schedule::StoreAll, device.zeros::<f32>(1)?, move |x, _| {
            cells(n)?;
            read_gray(Path::new("no such picture.png"))
                .map_or_else(|_| Ok(()), |_| Err(Error::other("it is there")))?;
            Ok(x.clone())
        })?;
        read_gray(Path::new(picture))?;
        Ok::<_, Error>(end)
    })?;
    tape.backward(&total)?;
    Ok(total.to_vec()?[0])
}

#[test]
fn errors_of_three_crates_become_one_by_the_question_mark() {
    let of_simulator = program(0, "").unwrap_err();
    assert!(matches!(of_simulator.downcast_ref(), Some(diffkern_sim::Error::Invalid { .. })), "{of_simulator}");
    let of_renderer = program(4, "no such picture.png").unwrap_err();
    assert!(matches!(of_renderer.downcast_ref(), Some(diffkern_render::Error::File { .. })), "{of_renderer}");
    for error in [of_simulator, of_renderer] {
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}

#[test]
fn an_error_of_the_simulator_passes_through_diffkern_and_comes_back() {
    use diffkern_sim::Error as Sim;
    let through = || -> Result<usize> { Ok(cells(0)?) };
    assert!(matches!(Sim::from(through().unwrap_err()), Sim::Invalid { .. }));
    assert_eq!(format!("{:?}", cells(0).unwrap_err()), through().unwrap_err().to_string());

    let slice = || Ok::<_, Sim>(Device::cpu().array(&[1.0])?.slice(0..2)?.len());
    let sentence = "slice 0..2 of an array of 1 elements";
    let error = slice().unwrap_err();
    assert!(matches!(&error, Sim::Runtime(Error::Invalid(text)) if text == sentence));
    assert_eq!(format!("{error:?}"), sentence);
    assert_eq!(Error::from(error), Error::Invalid(sentence.to_owned()));
}
