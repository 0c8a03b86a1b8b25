//! The attributes, with what belongs into their documentation.

/// Makes a kernel of a function: a launch that looks like a call, and its adjoint and tangent from the source.
///
#[doc = include_str!("../kernel-language.md")]
pub use diffkern_macros::diff_kernel;

/// Makes a device function of a function: kernels and other device functions call it, and it has its adjoint and tangent.
/// Its text is that of the language of [`diff_kernel`]; on the host it stays a function.
///
/// ```
/// use diffkern::prelude::*;
///
/// /// The force of a spring, by its length at rest.
/// #[diff_fn]
/// fn pull<F: Float>(length: F, rest: F) -> F {
///     let stretch = length / rest - 1.0;
///     if stretch > 0.0 { stretch } else { 0.5 * stretch.tanh() }
/// }
///
/// #[diff_kernel]
/// fn forces<F: Float>(length: &Array<F>, force: &mut Array<F>) {
///     // A macro sees one item only, so the result of a call carries its type.
///     let size: F = pull(length[ABSOLUTE_POS], 2.0);
///     force[ABSOLUTE_POS] = size;
/// }
///
/// let dev = Device::cpu();
/// let (length, force) = (dev.array(&[3.0, 1.0])?, dev.zeros(2)?);
/// println!("{}", forces::gradcheck(2, &length, &force)?); // adjoint and tangent against differences
/// assert_eq!(pull(3.0, 2.0), 0.5);
/// # Ok::<(), Error>(())
/// ```
pub use diffkern_macros::diff_fn;

/// Makes a struct one of the language of [`diff_kernel`]: of reals, vectors, matrices, integers, truth values, other such
/// structs. It gets `repr(C)`, `Clone`, `Copy`, `Debug` and `PartialEq`; one of reals alone can be an element of an array.
///
/// ```
/// use diffkern::prelude::*;
///
/// #[diff_struct]
/// struct Body<F> {
///     x: Vec2<F>,
///     v: Vec2<F>,
/// }
///
/// #[diff_kernel]
/// fn drift<F: Float>(bodies: &Array<Body<F>>, next: &mut Array<Body<F>>, dt: F) {
///     let b = bodies[ABSOLUTE_POS];
///     next[ABSOLUTE_POS] = Body { x: b.x + b.v * dt, ..b };
/// }
///
/// let dev = Device::cpu();
/// let bodies = dev.array(&[Body { x: Vec2::zero(), v: Vec2::new(1.0, 2.0) }])?;
/// let next = dev.uninit(1)?;
/// drift(1, &bodies, &next, 0.5)?;
/// assert_eq!(next.to_vec()?[0].x, Vec2::new(0.5, 1.0));
/// # Ok::<(), Error>(())
/// ```
pub use diffkern_macros::diff_struct;

/// Makes an enum without fields one of the language of [`diff_kernel`], where it is a number.
///
/// ```
/// use diffkern::prelude::*;
///
/// #[diff_enum]
/// #[derive(Clone, Copy)]
/// enum Unit {
///     Metre,
///     Inch,
/// }
///
/// #[diff_kernel]
/// fn to_metres<F: Float>(x: &Array<F>, y: &mut Array<F>, unit: Unit) {
///     y[ABSOLUTE_POS] = match unit {
///         Unit::Metre => x[ABSOLUTE_POS],
///         Unit::Inch => x[ABSOLUTE_POS] * 0.0254,
///     };
/// }
///
/// let dev = Device::cpu();
/// let (x, y) = (dev.array(&[100.0])?, dev.uninit(1)?);
/// to_metres(1, &x, &y, Unit::Inch)?;
/// assert_eq!(y.to_vec()?, [2.54]);
/// to_metres(1, &x, &y, Unit::Metre)?;
/// assert_eq!(y.to_vec()?, [100.0]);
/// # Ok::<(), Error>(())
/// ```
pub use diffkern_macros::diff_enum;

/// Makes a trait one whose methods are device functions, such as a constitutive model; kernels and device functions may
/// have a type parameter that implements it. [`diff_impl`] makes the implementations.
///
/// ```
/// use diffkern::prelude::*;
///
/// #[diff_trait]
/// trait Penalty {
///     fn of<F: Float>(gap: F) -> F;
/// }
///
/// struct Quadratic;
///
/// #[diff_impl]
/// impl Penalty for Quadratic {
///     fn of<F: Float>(gap: F) -> F {
///         0.5 * gap * gap
///     }
/// }
///
/// #[diff_kernel]
/// fn total<F: Float, P: Penalty>(gap: &Array<F>, sum: &mut Array<F>) {
///     let p: F = P::of(gap[ABSOLUTE_POS]);
///     sum[0] += p;
/// }
///
/// let dev = Device::cpu();
/// let (gap, sum) = (dev.array(&[1.0, 3.0])?, dev.zeros(1)?);
/// total::<f64, Quadratic>(2, &gap, &sum)?;
/// assert_eq!(sum.to_vec()?, [5.0]);
/// # Ok::<(), Error>(())
/// ```
pub use diffkern_macros::diff_trait;

/// Makes the implementation of a [`diff_trait`] for a type: see there.
pub use diffkern_macros::diff_impl;
