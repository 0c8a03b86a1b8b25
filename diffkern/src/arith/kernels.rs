//! The kernels of a vector space, one set per type of element.

use diffkern_macros::diff_kernel;

use crate::array::Array;
use crate::float::Float;
use crate::math::{Vec2, Vec3, Vec4};

/// The kernels of a type of element, in the module `$kernels`; what it has that others lack is `$own`.
macro_rules! kernels {
    ($kernels:ident, $e:ty, |$a:ident, $b:ident| $inner:expr, { $($own:item)* }) => {
        pub(super) mod $kernels {
            use super::*;

            #[diff_kernel]
            pub fn combine<F: Float>(a: &Array<$e>, b: &Array<$e>, y: &mut Array<$e>, s: F, t: F) {
                y[ABSOLUTE_POS] = a[ABSOLUTE_POS] * s + b[ABSOLUTE_POS] * t;
            }

            #[diff_kernel]
            pub fn accumulate<F: Float>(a: &Array<$e>, y: &mut Array<$e>, s: F) {
                y[ABSOLUTE_POS] += a[ABSOLUTE_POS] * s;
            }

            #[diff_kernel]
            pub fn scaled<F: Float>(a: &Array<$e>, y: &mut Array<$e>, s: F) {
                y[ABSOLUTE_POS] = a[ABSOLUTE_POS] * s;
            }

            #[diff_kernel]
            pub fn scaled_by<F: Float>(a: &Array<$e>, s: &Array<F>, y: &mut Array<$e>) {
                y[ABSOLUTE_POS] = a[ABSOLUTE_POS] * s[0];
            }

            #[diff_kernel]
            pub fn weighted<F: Float>(w: &Array<F>, a: &Array<$e>, y: &mut Array<$e>) {
                y[ABSOLUTE_POS] = a[ABSOLUTE_POS] * w[ABSOLUTE_POS];
            }

            #[diff_kernel]
            pub fn inner<F: Float>(a: &Array<$e>, b: &Array<$e>, y: &mut Array<F>) {
                let $a = a[ABSOLUTE_POS];
                let $b = b[ABSOLUTE_POS];
                y[ABSOLUTE_POS] = $inner;
            }

            $($own)*
        }
    };
}

/// What takes a vector apart and puts it together.
macro_rules! vectors {
    ($($kernels:ident $v:ident $n:literal: $($c:ident $k:literal),+;)*) => {$(
        kernels!($kernels, $v<F>, |a, b| a.dot(b), {
            #[diff_kernel]
            pub fn split<F: Float>(a: &Array<$v<F>>, y: &mut Array<F>) {
                let v = a[ABSOLUTE_POS];
                $(y[$n * ABSOLUTE_POS + $k] = v.$c;)+
            }

            #[diff_kernel]
            pub fn join<F: Float>(a: &Array<F>, y: &mut Array<$v<F>>) {
                y[ABSOLUTE_POS] = $v::new($(a[$n * ABSOLUTE_POS + $k]),+);
            }
        });
    )*};
}

kernels!(real, F, |a, b| a * b, {
    #[diff_kernel]
    pub fn split<F: Float>(a: &Array<F>, y: &mut Array<F>) {
        y[ABSOLUTE_POS] = a[ABSOLUTE_POS];
    }

    pub use split as join;
});
vectors! {
    vec2 Vec2 2: x 0, y 1;
    vec3 Vec3 3: x 0, y 1, z 2;
    vec4 Vec4 4: x 0, y 1, z 2, w 3;
}
