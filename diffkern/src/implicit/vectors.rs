//! States, tangents and adjoints as vectors: one array with all their reals, on their device.

use std::rc::Rc;
use std::sync::Arc;

use crate::arith;
use crate::array::{AnyArray, Array};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::float::Float;
use crate::kernel::{ElemTy, ScalarTy};
use crate::rollout::{State, with_arrays};
use crate::tape::context::quietly;
use crate::tape::{Kept, Ledger, Shape};

/// Evaluates an expression with the type of a real scalar.
macro_rules! with_real {
    ($scalar:expr, $F:ident => $then:expr) => {
        match $scalar {
            $crate::kernel::ScalarTy::F64 => {
                type $F = f64;
                $then
            }
            _ => {
                type $F = f32;
                $then
            }
        }
    };
}
pub(super) use with_real;

/// What an operation has to know of the arrays of a vector.
struct Part {
    device: Device,
    scalar: ScalarTy,
    elem: ElemTy,
    len: usize,
}

impl Part {
    fn of(array: &AnyArray) -> Part {
        Part { device: array.device().clone(), scalar: array.scalar(), elem: array.elem(), len: array.len() }
    }

    fn shaped(shape: &Shape) -> Part {
        Part { device: shape.device.clone(), scalar: shape.scalar, elem: shape.elem, len: shape.len as usize }
    }

    fn reals(&self) -> usize {
        self.len * self.elem.components()
    }
}

/// A vector that is filled part by part.
struct Filling {
    device: Device,
    scalar: ScalarTy,
    len: u32,
    buffer: Arc<Buffer>,
    /// Bytes that it has.
    at: usize,
}

impl Filling {
    /// With zeros, for these parts, all of which are real.
    fn new(parts: &[Part]) -> Result<Filling> {
        let [first, ..] = parts else {
            return Err(Error::Invalid("implicit operation: no array of the state is real".to_owned()));
        };
        if let Some(other) = parts.iter().find(|part| part.scalar != first.scalar || part.device != first.device) {
            let kind = |part: &Part| format!("{} on {}", part.scalar.name(), part.device.name());
            return Err(Error::Invalid(format!(
                "implicit operation: the state has reals of {} and of {}; they are one vector, so they have one scalar \
                 type and one device",
                kind(first),
                kind(other)
            )));
        }
        let len: usize = parts.iter().map(Part::reals).sum();
        let len = u32::try_from(len).map_err(|_| {
            Error::Invalid(format!("implicit operation: the state has {len} reals, at most {} fit", u32::MAX))
        })?;
        let buffer = first.device.alloc_zeroed(len as usize * first.scalar.bytes())?;
        Ok(Filling { device: first.device.clone(), scalar: first.scalar, len, buffer, at: 0 })
    }

    fn add(&mut self, from: Option<(&Buffer, usize)>, bytes: usize) -> Result<()> {
        if let Some((from, at)) = from {
            self.device.copy(from, at, &self.buffer, self.at, bytes)?;
        }
        self.at += bytes;
        Ok(())
    }

    fn vector(self) -> AnyArray {
        AnyArray::over(&self.device, self.scalar, ElemTy::Real, self.len, self.buffer)
    }
}

/// The reals of a vector, handed out from the front.
struct Rest {
    buffer: Arc<Buffer>,
    at: usize,
}

impl Rest {
    fn of(vector: &AnyArray) -> Rest {
        Rest { buffer: vector.buffer(), at: vector.byte_range().0 }
    }

    fn next(&mut self, part: &Part) -> Result<Arc<Buffer>> {
        let bytes = part.reals() * part.scalar.bytes();
        let to = part.device.alloc(bytes)?;
        part.device.copy(&self.buffer, self.at, &to, 0, bytes)?;
        self.at += bytes;
        Ok(to)
    }
}

/// The reals of a state.
pub(super) fn of_state(state: &impl State) -> Result<AnyArray> {
    let arrays: Vec<AnyArray> = state.arrays().into_iter().filter(|array| array.elem().is_real()).collect();
    let mut vector = Filling::new(&arrays.iter().map(Part::of).collect::<Vec<_>>())?;
    for array in &arrays {
        let (at, bytes) = array.byte_range();
        vector.add(Some((&array.buffer(), at)), bytes)?;
    }
    Ok(vector.vector())
}

/// A state of new arrays with these reals; the other arrays are those of `like`.
pub(super) fn to_state<S: State>(like: &S, vector: &AnyArray) -> Result<S> {
    let mut rest = Rest::of(vector);
    let mut next = |array: &AnyArray| {
        if !array.elem().is_real() {
            return Ok(array.fork());
        }
        let to = rest.next(&Part::of(array))?;
        Ok(AnyArray::over(array.device(), array.scalar(), array.elem(), array.len() as u32, to))
    };
    let arrays = like.arrays().iter().map(&mut next).collect::<Result<Vec<_>>>()?;
    with_arrays(like, arrays)
}

/// The reals of derivatives of arrays of these shapes, zero where absent; of a view, those of its elements.
pub(super) fn gather(shapes: &[Shape], parts: &[Option<Kept>]) -> Result<AnyArray> {
    let real: Vec<Part> = shapes.iter().filter(|shape| shape.elem.is_real()).map(Part::shaped).collect();
    let mut vector = Filling::new(&real)?;
    for (shape, part) in shapes.iter().zip(parts).filter(|(shape, _)| shape.elem.is_real()) {
        let (at, bytes) = shape.byte_range();
        vector.add(part.as_ref().map(|part| (&**part.buffer(), at)), bytes)?;
    }
    Ok(vector.vector())
}

/// The other way round, into memory of the size of each view.
pub(super) fn scatter(shapes: &[Shape], vector: &AnyArray, ledger: &Rc<Ledger>) -> Result<Vec<Option<Kept>>> {
    let mut rest = Rest::of(vector);
    let mut next = |shape: &Shape| match shape.elem.is_real() {
        true => Ok(Some(Kept::new(rest.next(&Part::shaped(shape))?, ledger))),
        false => Ok(None),
    };
    shapes.iter().map(&mut next).collect()
}

fn typed<F: Float>(vector: &AnyArray) -> Result<Array<F>> {
    Array::try_from(vector.clone())
}

/// `a - b`
pub(super) fn difference(a: &AnyArray, b: &AnyArray) -> Result<AnyArray> {
    with_real!(a.scalar(), F => quietly(|| Ok(arith::sub(&typed::<F>(a)?, &typed::<F>(b)?)?.as_any().clone())))
}

/// `scale * x`
pub(super) fn scaled(x: &AnyArray, scale: f64) -> Result<AnyArray> {
    with_real!(x.scalar(), F => quietly(|| Ok(arith::scale(&typed::<F>(x)?, F::from_f64(scale))?.as_any().clone())))
}

/// `y += scale * x`
pub(super) fn add_scaled(y: &AnyArray, scale: f64, x: &AnyArray) -> Result<()> {
    with_real!(x.scalar(), F => quietly(|| arith::add_scaled(&typed::<F>(x)?, F::from_f64(scale), &typed::<F>(y)?)))
}
