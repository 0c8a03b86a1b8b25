//! Each kernel, for each type of element: the dot-product identity and finite differences, packs, and every device.

use super::Linear;
use super::kernels::{real, vec2, vec3, vec4};
use crate::array::Array;
use crate::device::Device;
use crate::error::Result;
use crate::gradcheck::devices;

/// Reals that repeat for a seed, of either sign and not small.
fn numbers(seed: usize, n: usize) -> Vec<f64> {
    (0..n).map(|k| ((7 * seed + 3 * k + 1) as f64).sin() * 0.9 + if k % 2 == 0 { 1.3 } else { -1.4 }).collect()
}

fn elements<T: Linear<Real = f64>>(seed: usize, n: usize) -> Result<Array<T>> {
    super::from_components(&Device::cpu().array(&numbers(seed, n * T::COMPONENTS))?)
}

macro_rules! check {
    ($kernels:ident :: $kernel:ident, $($arg:expr),*) => {
        $kernels::$kernel::gradcheck($($arg),*)?;
        $kernels::$kernel::lanecheck($($arg),*)?;
        for device in devices()? {
            $kernels::$kernel::devicecheck(&device, $($arg),*)?;
        }
    };
}

/// More than a pack, and not a multiple of one.
const N: usize = 21;

macro_rules! families {
    ($($kernels:ident $e:ty;)*) => {$(
        #[test]
        fn $kernels() -> Result<()> {
            let (a, b, y) = (elements::<$e>(1, N)?, elements::<$e>(2, N)?, elements::<$e>(3, N)?);
            let (w, s) = (elements::<f64>(4, N)?, elements::<f64>(5, 1)?);
            let components = elements::<f64>(6, N * <$e as crate::Element>::COMPONENTS)?;
            let products = elements::<f64>(7, N)?;
            check!($kernels::combine, N, &a, &b, &y, 0.7, -1.9);
            check!($kernels::accumulate, N, &a, &y, -0.4);
            check!($kernels::scaled, N, &a, &y, 2.5);
            check!($kernels::scaled_by, N, &a, &s, &y);
            check!($kernels::weighted, N, &w, &a, &y);
            check!($kernels::inner, N, &a, &b, &products);
            check!($kernels::split, N, &a, &components);
            check!($kernels::join, N, &components, &y);
            Ok(())
        }
    )*};
}

families! {
    real f64;
    vec2 crate::Vec2<f64>;
    vec3 crate::Vec3<f64>;
    vec4 crate::Vec4<f64>;
}
