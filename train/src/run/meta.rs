//! What the bits of a result depend on besides the job.

use crate::scene::Scene;
use crate::video::Video;
use serde::{Deserialize, Serialize};

/// Recorded beside a result, and compared when a run is resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of this program.
    pub version: String,
    /// Operating system and processor family.
    pub system: String,
    /// Features of the processor that change the code path.
    pub cpu_features: Vec<String>,
    /// Processors at hand; they change the time, not the bits.
    pub threads: usize,
    /// The device asked for.
    pub device: String,
    /// Seed.
    pub seed: u64,
    /// Hash of the scene and the frames.
    pub input: String,
}

impl Meta {
    /// What holds here and now.
    pub fn here(scene: &Scene, videos: &[Video], device: &str, seed: u64) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cpu_features: cpu_features(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            device: device.into(),
            seed,
            input: fingerprint(scene, videos),
        }
    }

    /// Why a resumed run may differ in its bits from one that was never stopped, if it may.
    pub fn differs(&self, here: &Self) -> Option<String> {
        let pairs = [
            ("version", self.version.clone(), here.version.clone()),
            ("system", self.system.clone(), here.system.clone()),
            ("cpu features", self.cpu_features.join("+"), here.cpu_features.join("+")),
        ];
        let (what, then, now) = pairs.into_iter().find(|(_, then, now)| then != now)?;
        Some(format!("{what} was {then}, is {now}: bits may differ from an uninterrupted run"))
    }
}

/// FNV-1a over the scene and the values of frames and masks.
pub(crate) fn fingerprint(scene: &Scene, videos: &[Video]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    // Warnings name the file as the job does, and the same scene may be named in another way when a run goes on.
    add(format!("{:?}", Scene { warnings: Vec::new(), ..scene.clone() }).as_bytes());
    for video in videos {
        for frame in &video.frames {
            let values = frame.silhouette.iter().chain(frame.shaded.iter().flatten()).chain(&frame.depth);
            values.for_each(|value| add(&value.to_le_bytes()));
        }
        video.masks.iter().flatten().flatten().for_each(|value| add(&value.to_le_bytes()));
    }
    format!("{hash:016x}")
}

#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<String> {
    let features = [
        ("sse4.2", std::arch::is_x86_feature_detected!("sse4.2")),
        ("avx", std::arch::is_x86_feature_detected!("avx")),
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
    ];
    features.into_iter().filter(|f| f.1).map(|f| f.0.into()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_features() -> Vec<String> {
    Vec::new()
}
