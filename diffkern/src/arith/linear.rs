//! Elements that form a vector space, and the kernels of its operations, one set per type of element.

use diffkern_macros::diff_kernel;

use crate::array::Array;
use crate::element::Element;
use crate::error::Result;
use crate::float::Float;
use crate::math::{Vec2, Vec3, Vec4};

/// Elements that can be added and scaled: `f32`, `f64`, and [`Vec2`], [`Vec3`], [`Vec4`] of them.
///
/// The functions of [`arith`](super) and of [`reduce`](crate::reduce) are generic over it; its own are theirs.
pub trait Linear: Element {
    /// The scalars of the space.
    type Real: Float;

    /// `y = s a + t b`
    #[doc(hidden)]
    fn combine(a: &Array<Self>, b: &Array<Self>, y: &Array<Self>, s: Self::Real, t: Self::Real) -> Result<()>;

    /// `y += s a`
    #[doc(hidden)]
    fn accumulate(a: &Array<Self>, y: &Array<Self>, s: Self::Real) -> Result<()>;

    /// `y = s a`
    #[doc(hidden)]
    fn scaled(a: &Array<Self>, y: &Array<Self>, s: Self::Real) -> Result<()>;

    /// `y_i = s_0 a_i`
    #[doc(hidden)]
    fn scaled_by(a: &Array<Self>, s: &Array<Self::Real>, y: &Array<Self>) -> Result<()>;

    /// `y_i = w_i a_i`
    #[doc(hidden)]
    fn weighted(w: &Array<Self::Real>, a: &Array<Self>, y: &Array<Self>) -> Result<()>;

    /// `y_i = <a_i, b_i>`
    #[doc(hidden)]
    fn inner(a: &Array<Self>, b: &Array<Self>, y: &Array<Self::Real>) -> Result<()>;

    /// The components, element by element.
    #[doc(hidden)]
    fn split(a: &Array<Self>, y: &Array<Self::Real>) -> Result<()>;

    /// The other way round.
    #[doc(hidden)]
    fn join(a: &Array<Self::Real>, y: &Array<Self>) -> Result<()>;
}

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
        space!($kernels, [F: Float] F, $v<F>);
    )*};
}

/// The trait for a type of element, by its kernels.
macro_rules! space {
    ($kernels:ident, [$($generic:tt)*] $f:ty, $e:ty) => {
        impl<$($generic)*> Linear for $e {
            type Real = $f;

            fn combine(a: &Array<$e>, b: &Array<$e>, y: &Array<$e>, s: $f, t: $f) -> Result<()> {
                $kernels::combine(y.len(), a, b, y, s, t)
            }

            fn accumulate(a: &Array<$e>, y: &Array<$e>, s: $f) -> Result<()> {
                $kernels::accumulate(y.len(), a, y, s)
            }

            fn scaled(a: &Array<$e>, y: &Array<$e>, s: $f) -> Result<()> {
                $kernels::scaled(y.len(), a, y, s)
            }

            fn scaled_by(a: &Array<$e>, s: &Array<$f>, y: &Array<$e>) -> Result<()> {
                $kernels::scaled_by(y.len(), a, s, y)
            }

            fn weighted(w: &Array<$f>, a: &Array<$e>, y: &Array<$e>) -> Result<()> {
                $kernels::weighted(y.len(), w, a, y)
            }

            fn inner(a: &Array<$e>, b: &Array<$e>, y: &Array<$f>) -> Result<()> {
                $kernels::inner(y.len(), a, b, y)
            }

            fn split(a: &Array<$e>, y: &Array<$f>) -> Result<()> {
                $kernels::split(a.len(), a, y)
            }

            fn join(a: &Array<$f>, y: &Array<$e>) -> Result<()> {
                $kernels::join(y.len(), a, y)
            }
        }
    };
}

kernels!(real, F, |a, b| a * b, {
    #[diff_kernel]
    pub fn split<F: Float>(a: &Array<F>, y: &mut Array<F>) {
        y[ABSOLUTE_POS] = a[ABSOLUTE_POS];
    }

    pub use split as join;
});
space!(real, [] f32, f32);
space!(real, [] f64, f64);
vectors! {
    vec2 Vec2 2: x 0, y 1;
    vec3 Vec3 3: x 0, y 1, z 2;
    vec4 Vec4 4: x 0, y 1, z 2, w 3;
}
