//! The operations of a vector space, each by the kernel for its elements.

use super::kernels::{real, vec2, vec3, vec4};
use crate::array::Array;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::float::{Float, Linear};
use crate::kernel::ElemTy;

/// The array by the type that a kernel has for it, which is the same.
fn of<A: Element, B: Element>(array: &Array<A>) -> Result<Array<B>> {
    Array::try_from(array.as_any().clone())
}

fn refused<T: Linear>() -> Error {
    let found = T::ELEM.name(T::Real::SCALAR);
    Error::Type { what: "sum of elements", found, expected: "reals or vectors of reals".to_owned() }
}

/// Launches the kernel of this name that is for the elements, once per element of `$count`. The trait [`Linear`] does not have
/// the kernels itself: it is part of [`Float`], which knows no arrays.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($($array:ident: $t:ty),+ $(; $($s:ident),+)?) per $count:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<T: Linear>($($array: &Array<$t>),+ $(, $($s: T::Real),+)?) -> Result<()> {
            let n = $count.len();
            match T::ELEM {
                ElemTy::Real => real::$name::<T::Real>(n, $(&of($array)?),+ $(, $($s),+)?),
                ElemTy::Vec2 => vec2::$name::<T::Real>(n, $(&of($array)?),+ $(, $($s),+)?),
                ElemTy::Vec3 => vec3::$name::<T::Real>(n, $(&of($array)?),+ $(, $($s),+)?),
                ElemTy::Vec4 => vec4::$name::<T::Real>(n, $(&of($array)?),+ $(, $($s),+)?),
                ElemTy::U32 | ElemTy::I32 | ElemTy::Mat2 | ElemTy::Mat3 => Err(refused::<T>()),
            }
        }
    )*};
}

operations! {
    /// `y = s a + t b`
    combine(a: T, b: T, y: T; s, t) per y;
    /// `y += s a`
    accumulate(a: T, y: T; s) per y;
    /// `y = s a`
    scaled(a: T, y: T; s) per y;
    /// `y_i = s_0 a_i`
    scaled_by(a: T, s: T::Real, y: T) per y;
    /// `y_i = w_i a_i`
    weighted(w: T::Real, a: T, y: T) per y;
    /// `y_i = <a_i, b_i>`
    inner(a: T, b: T, y: T::Real) per y;
    /// The components, element by element.
    split(a: T, y: T::Real) per a;
    /// The other way round.
    join(a: T::Real, y: T) per y;
}
