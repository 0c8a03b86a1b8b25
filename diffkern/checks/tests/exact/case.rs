//! A case of the table: parameters, a program of launches, and its gradient by a formula derived by hand.

use std::cell::{Cell, RefCell};

use diffkern::prelude::*;

/// A scalar that programs are generic over.
pub trait Real: Float + Flat {}

impl Real for f32 {}
impl Real for f64 {}

/// Elements as `f64` scalars.
pub trait Flat: Element {
    fn join(scalars: &[f64]) -> Self;
    fn split(&self) -> Vec<f64>;
}

macro_rules! scalar {
    ($($ty:ident)*) => {$(
        impl Flat for $ty {
            fn join(scalars: &[f64]) -> $ty {
                scalars[0] as $ty
            }
            fn split(&self) -> Vec<f64> {
                vec![f64::from(*self)]
            }
        }
    )*};
}

scalar!(f32 f64);

macro_rules! compound {
    ($($ty:ident)*) => {$(
        impl<F: Float> Flat for $ty<F> {
            fn join(scalars: &[f64]) -> Self {
                Self::from_array(std::array::from_fn(|k| F::from_f64(scalars[k])))
            }
            fn split(&self) -> Vec<f64> {
                self.to_array().into_iter().map(Float::to_f64).collect()
            }
        }
    )*};
}

compound!(Vec2 Vec3 Vec4 Mat2 Mat3 Quat);

/// A program over arrays that are made already: it can be recorded, or run under tangents.
pub type Program<'a> = Box<dyn Fn() -> Result<()> + 'a>;
type Download = Box<dyn Fn() -> Result<Vec<f64>>>;
type Make = Box<dyn Fn(&[f64]) -> Result<AnyArray>>;

/// An array whose type of element is forgotten.
pub struct Handle {
    pub array: AnyArray,
    pub scalars: Download,
    pub gradient: Download,
    /// An array of its shape with the given scalars.
    pub like: Make,
    /// The scalars of an array of its type.
    pub read: fn(AnyArray) -> Result<Vec<f64>>,
}

impl Handle {
    fn new<T: Flat>(array: &Array<T>) -> Handle {
        fn flat<T: Flat>(array: &Array<T>) -> Result<Vec<f64>> {
            Ok(array.to_vec()?.iter().flat_map(Flat::split).collect())
        }
        let (values, of, dev) = (array.clone(), array.clone(), array.device().clone());
        let gradient = move || match of.grad() {
            Ok(grad) => flat(&grad),
            // Nothing depends on it.
            Err(Error::NoGradient { .. }) => Ok(vec![0.0; of.len() * T::COMPONENTS]),
            Err(error) => Err(error),
        };
        let like = move |scalars: &[f64]| {
            let elements: Vec<T> = scalars.chunks(T::COMPONENTS).map(T::join).collect();
            Ok(dev.array(&elements)?.as_any().clone())
        };
        Handle {
            array: array.as_any().clone(),
            scalars: Box::new(move || flat(&values)),
            gradient: Box::new(gradient),
            like: Box::new(like),
            read: |array| flat(&Array::<T>::try_from(array)?),
        }
    }
}

/// What a program sees of one run: the device, its parameters, where its outputs go.
pub struct Run<'a> {
    pub dev: Device,
    params: &'a [Vec<f64>],
    next: Cell<usize>,
    pub inputs: RefCell<Vec<Handle>>,
    pub outputs: RefCell<Vec<Handle>>,
}

impl<'a> Run<'a> {
    pub fn new(dev: &Device, params: &'a [Vec<f64>]) -> Run<'a> {
        let (inputs, outputs) = (RefCell::default(), RefCell::default());
        Run { dev: dev.clone(), params, next: Cell::new(0), inputs, outputs }
    }

    /// The next parameter, as an array that asks for its gradient.
    pub fn input<T: Flat<Scalar: Float>>(&self) -> Result<Array<T>> {
        let scalars = &self.params[self.next.replace(self.next.get() + 1)];
        let elements: Vec<T> = scalars.chunks(T::COMPONENTS).map(T::join).collect();
        let array = self.dev.array(&elements)?.requires_grad();
        self.inputs.borrow_mut().push(Handle::new(&array));
        Ok(array)
    }

    pub fn zeros<T: Element>(&self, n: usize) -> Result<Array<T>> {
        self.dev.zeros(n)
    }

    /// Numbers that ask for no gradient.
    pub fn constants<T: Flat>(&self, scalars: &[f64]) -> Result<Array<T>> {
        let elements: Vec<T> = scalars.chunks(T::COMPONENTS).map(T::join).collect();
        self.dev.array(&elements)
    }

    /// The loss is the sum of all outputs, each scalar times its weight.
    pub fn output<T: Flat>(&self, array: &Array<T>) {
        self.outputs.borrow_mut().push(Handle::new(array));
    }
}

/// How parameters are drawn.
pub enum Draw {
    /// Numbers between the bounds, away from both.
    Between(usize, f64, f64),
    /// Of either sign, of a magnitude between the bounds.
    Signed(usize, f64, f64),
    /// Given, for a point where something happens.
    Fixed(Vec<f64>),
}

pub fn reals(n: usize, lo: f64, hi: f64) -> Draw {
    Draw::Between(n, lo, hi)
}

pub fn signed(n: usize, lo: f64, hi: f64) -> Draw {
    Draw::Signed(n, lo, hi)
}

pub fn fixed(numbers: &[f64]) -> Draw {
    Draw::Fixed(numbers.to_vec())
}

/// What holds at the point beside the formula.
#[derive(Clone, Copy, PartialEq)]
pub enum Point {
    /// Finite differences, one f32 against f64.
    Smooth,
    /// The one-sided derivatives differ: the gradient lies between them.
    Kink,
    /// A one-sided or infinite derivative: only the formula speaks.
    Edge,
}

pub type ByHand = fn(&[Vec<f64>], &[f64]) -> (f64, Vec<Vec<f64>>);
pub type Prepare = for<'a> fn(&'a Run<'a>) -> Result<Program<'a>>;

pub struct Case {
    pub name: &'static str,
    pub params: Vec<(&'static str, Draw)>,
    pub single: Prepare,
    pub double: Prepare,
    pub by_hand: ByHand,
    pub point: Point,
    /// Why a GPU refuses its gradient, as part of the message.
    pub refused_on_gpu: Option<&'static str>,
    /// Whether differences of the gradient say what its Hessian is.
    pub hessian: bool,
}

impl Case {
    pub fn kink(self) -> Case {
        Case { point: Point::Kink, ..self }
    }

    pub fn edge(self) -> Case {
        Case { point: Point::Edge, ..self }
    }

    /// Without the check of its Hessian, for a reason that stands at the call.
    pub fn without_hessian(self) -> Case {
        Case { hessian: false, ..self }
    }

    pub fn refused_on_gpu(self, why: &'static str) -> Case {
        Case { refused_on_gpu: Some(why), ..self }
    }
}

/// A case: parameters with how they are drawn, the program over `run` in the scalar `S`, and by hand the loss
/// `sum w y` with its derivative by every parameter.
macro_rules! case {
    ($(#[doc = $doc:literal])* $name:ident<$s:ident>($run:ident; $($p:ident: $ty:ty = $draw:expr),* $(,)?) $program:block
     by_hand($w:ident) $hand:block) => {
        $(#[doc = $doc])*
        pub fn $name() -> Case {
            fn prepare<'a, $s: Real>($run: &'a Run<'a>) -> Result<Program<'a>> {
                $(let $p: Array<$ty> = $run.input()?;)*
                Ok(Box::new(move || -> Result<()> {
                    $program
                    Ok(())
                }))
            }
            fn by_hand(params: &[Vec<f64>], $w: &[f64]) -> (f64, Vec<Vec<f64>>) {
                let [$($p),*] = params else { panic!("as many parameters as declared") };
                $(let _ = $p;)*
                $hand
            }
            Case {
                name: stringify!($name),
                params: vec![$((stringify!($p), $draw)),*],
                single: prepare::<f32>,
                double: prepare::<f64>,
                by_hand,
                point: Point::Smooth,
                refused_on_gpu: None,
                hessian: true,
            }
        }
    };
}
pub(crate) use case;

// ---- for formulas

/// `f(0), f(1), ..`
pub fn list(n: usize, f: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..n).map(f).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "a weight for every output");
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The loss and its derivative by `x` of `y[i] = f(x[i])`, given as value and derivative.
pub fn each(x: &[f64], w: &[f64], f: impl Fn(f64) -> (f64, f64)) -> (f64, Vec<Vec<f64>>) {
    let both: Vec<(f64, f64)> = x.iter().map(|&x| f(x)).collect();
    let value = dot(w, &both.iter().map(|b| b.0).collect::<Vec<_>>());
    (value, vec![both.iter().zip(w).map(|(b, w)| w * b.1).collect()])
}
