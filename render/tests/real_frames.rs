//! The first frame of a video that another renderer made (4x4 samples per pixel, z-buffer).
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use std::path::Path;

use common::*;
use diffkern::Device;
use diffkern_render::Renderer;
use diffkern_render::image::{Gray, Rgb, iou, read_gray, read_rgb};

fn data(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("data").join(name)
}

#[test]
fn block_looks_like_the_video() {
    let device = Device::cpu();
    let silhouette = read_gray(&data("block_silhouette.png")).unwrap();
    let shaded = read_rgb(&data("block_shaded.png")).unwrap();
    for n in [1, 7] {
        let (mesh, vertices) = drop_block(n);
        let renderer = Renderer::<f64>::new(&device, &mesh).unwrap();
        let camera = drop_camera().params(&device).unwrap();
        let lighting = drop_light().lighting(&device).unwrap();
        let vertices = upload(&device, &vertices);
        let image = renderer.shaded(&vertices, &camera, &lighting).unwrap();
        let outline = renderer.silhouette(&vertices, &camera).unwrap();
        let coverage = Gray::from_array(&outline.coverage, 128, 128).unwrap();
        let color = Rgb::from_array(&image.color, 128, 128).unwrap();
        let mean = |a: &mut dyn Iterator<Item = (f64, f64)>| {
            let (mut sum, mut count) = (0.0, 0.0);
            for (a, b) in a {
                sum += 255.0 * (a - b).abs();
                count += 1.0;
            }
            sum / count
        };
        let pairs = coverage.pixels.iter().copied().zip(silhouette.pixels.iter().copied());
        let gray_levels = mean(&mut pairs.clone());
        let edge = mean(&mut pairs.filter(|(a, _)| *a > 0.0 && *a < 1.0));
        let colors = color.pixels.iter().flatten().copied().zip(shaded.pixels.iter().flatten().copied());
        let color_levels = mean(&mut colors.into_iter());
        println!("n {n}: silhouette {gray_levels:.4} grey levels (edge pixels {edge:.3}), colour {color_levels:.4}");
        assert!(gray_levels < 0.2, "silhouettes differ by {gray_levels} grey levels on average");
        assert!(color_levels < 0.3, "colours differ by {color_levels} grey levels on average");
        assert!(iou(&coverage.pixels, &silhouette.pixels) > 0.99);
        // The two renderings of coverage agree.
        let second = image.coverage.to_vec().unwrap();
        assert!(second.iter().zip(&coverage.pixels).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}
