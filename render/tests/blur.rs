//! Blur of images on the host.

use diffkern_render::Result;
use diffkern_render::blur::Blur;

#[test]
fn keeps_the_sum_and_spreads_evenly() -> Result<()> {
    let mut image = vec![0.0; 21 * 17];
    image[8 * 21 + 10] = 1.0;
    let blurred = Blur::new(2.0, 21).apply(&image)?;
    assert!((blurred.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!((blurred[8 * 21 + 7] - blurred[11 * 21 + 10]).abs() < 1e-15);
    Ok(())
}

#[test]
fn without_width_changes_nothing() -> Result<()> {
    let image = vec![0.25, 0.5, 1.0, 0.0];
    assert_eq!(Blur::new(0.0, 2).apply(&image)?, image);
    Ok(())
}

#[test]
fn rows_are_whole() {
    assert!(Blur::new(1.0, 3).apply(&[0.5; 7]).is_err_and(|e| e.to_string().contains("image")));
    assert!(Blur::new(1.0, 0).apply(&[0.5; 7]).is_err());
    assert!(Blur::new(1.0, 0).apply(&[]).is_ok_and(|image| image.is_empty()));
}

#[test]
fn a_constant_stays_constant_up_to_the_border() -> Result<()> {
    let blurred = Blur::new(1.5, 8).apply(&[0.7; 64])?;
    assert!(blurred.iter().all(|v| (v - 0.7).abs() < 1e-12));
    Ok(())
}

/// Pixel by pixel, on an image that is narrower than the reach.
#[test]
fn borders_go_on() -> Result<()> {
    let (width, height) = (3_usize, 7_usize);
    let image: Vec<f64> = (0..width * height).map(|k| ((7 * k) % 11) as f64).collect();
    let blur = Blur::new(1.3, width);
    let blurred = blur.apply(&image)?;
    let reach = blur.weights().len() / 2;
    let clamped = |k: usize, shift: usize, most: usize| (k + shift).saturating_sub(reach).min(most - 1);
    for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
        let mut sum = 0.0;
        for (i, down) in blur.weights().iter().enumerate() {
            for (j, across) in blur.weights().iter().enumerate() {
                sum += down * across * image[clamped(row, i, height) * width + clamped(column, j, width)];
            }
        }
        assert!((blurred[row * width + column] - sum).abs() < 1e-12, "{row}, {column}");
    }
    Ok(())
}
