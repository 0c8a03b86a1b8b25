//! PNG and GIF files.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

use std::path::PathBuf;

use diffkern_render::animation::{side_by_side, write_gif};
use diffkern_render::image::{Gray, Rgb, read_gray, read_rgb, write_gray, write_rgb};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("diffkern-render-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn picture() -> Rgb {
    let pixels = (0..12).map(|k| [f64::from(k) / 255.0, 0.5, 1.0 - f64::from(k) / 51.0]).collect();
    Rgb { width: 4, height: 3, pixels }
}

#[test]
fn images_come_back_within_half_a_grey_level() {
    let folder = folder("png");
    let image = picture();
    write_rgb(&folder.join("rgb.png"), &image).unwrap();
    let read = read_rgb(&folder.join("rgb.png")).unwrap();
    assert_eq!((read.width, read.height), (4, 3));
    let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst(image.pixels.as_flattened(), read.pixels.as_flattened()) <= 0.5 / 255.0 + 1e-12);
    let gray = Gray { width: 2, height: 1, pixels: vec![0.25, 7.0] };
    write_gray(&folder.join("gray.png"), &gray).unwrap();
    assert_eq!(read_gray(&folder.join("gray.png")).unwrap().pixels, [64.0 / 255.0, 1.0]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn unreadable_files_are_named_with_what_was_expected() {
    let folder = folder("bad");
    let path = folder.join("frame.png");
    let message = |path: &std::path::Path| read_gray(path).unwrap_err().to_string();
    assert!(message(&path).contains("frame.png") && message(&path).contains("expected a PNG image"));
    write_rgb(&path, &picture()).unwrap();
    assert!(message(&path).contains("colour type Rgb") && message(&path).contains("expected Grayscale, 8 bits"));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(read_rgb(&path).unwrap_err().to_string().contains("expected a whole PNG image"));
    // A header that is right by its checksum, of an image far larger than its data.
    let mut bomb = bytes.clone();
    bomb[16..24].copy_from_slice(&[0, 0, 0x20, 0, 0, 0, 0x20, 0]);
    let checksum = crc(&bomb[12..29]).to_be_bytes();
    bomb[29..33].copy_from_slice(&checksum);
    std::fs::write(&path, &bomb).unwrap();
    let problem = read_rgb(&path).unwrap_err().to_string();
    assert!(problem.contains("8192 x 8192 pixels; expected at most 33554432"), "{problem}");
    assert!(message(&folder).contains("not a regular file"));
    #[cfg(unix)]
    assert!(message(std::path::Path::new("/dev/zero")).contains("not a regular file"));
    let nowhere = folder.join("missing").join("frame.png");
    assert!(write_rgb(&nowhere, &picture()).unwrap_err().to_string().contains("expected a writable folder"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// The checksum of a chunk of a PNG (CRC-32).
fn crc(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), bit))
}

#[test]
fn animations_are_checked_and_written() {
    let folder = folder("gif");
    let path = folder.join("both.gif");
    let both = side_by_side(&[&picture(), &picture()]).unwrap();
    assert_eq!((both.width, both.height, both.pixels.len()), (8, 3, 24));
    assert_eq!(both.pixels[4], both.pixels[0]);
    write_gif(&path, &[both.clone(), both.clone()], 1.0 / 24.0).unwrap();
    assert!(std::fs::read(&path).unwrap().starts_with(b"GIF89a"));
    for delay in [0.0, -1.0, f64::NAN, 656.0] {
        let refused = write_gif(&path, &[picture()], delay).unwrap_err().to_string();
        assert!(refused.contains("delay of an animation's frames is"), "{refused}");
    }
    assert!(write_gif(&path, &[both, picture()], 0.1).unwrap_err().to_string().contains("expected 8 x 3"));
    assert!(write_gif(&path, &[], 0.1).is_err());
    assert!(side_by_side(&[]).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn halving_keeps_coverage() {
    let gray = Gray { width: 4, height: 2, pixels: vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 0.0] };
    assert_eq!(gray.resized_half().unwrap().pixels, [0.5, 0.5]);
    assert!(picture().resized_half().unwrap_err().to_string().contains("even sides"));
}
