//! States, tangents and adjoints as vectors on the host.

use std::rc::Rc;

use crate::array::AnyArray;
use crate::error::Result;
use crate::memory;
use crate::rollout::{State, with_arrays};
use crate::tape::{Kept, Ledger, Shape, decode, encode, scalars, upload};

/// Number of reals in arrays of these shapes.
pub(super) fn count(shapes: &[Shape]) -> usize {
    shapes.iter().map(reals).sum()
}

fn reals(shape: &Shape) -> usize {
    match shape.elem.is_real() {
        true => shape.len as usize * shape.elem.components(),
        false => 0,
    }
}

/// The reals of a state.
pub(super) fn of_state(state: &impl State) -> Result<Vec<f64>> {
    let arrays: Vec<AnyArray> = state.arrays().into_iter().filter(|array| array.elem().is_real()).collect();
    let reals = |array: &AnyArray| array.len() * array.elem().components();
    let mut vector = memory::with_room(arrays.iter().map(reals).sum())?;
    for array in &arrays {
        vector.extend(scalars(array)?);
    }
    Ok(vector)
}

/// A state of new arrays with these reals; the other arrays are those of `like`.
pub(super) fn to_state<S: State>(like: &S, vector: &[f64]) -> Result<S> {
    let mut rest = vector;
    let mut next = |array: &AnyArray| {
        if !array.elem().is_real() {
            return Ok(array.fork());
        }
        let (head, tail) = rest.split_at(array.len() * array.elem().components());
        rest = tail;
        upload(array, head)
    };
    let arrays = like.arrays().iter().map(&mut next).collect::<Result<Vec<_>>>()?;
    with_arrays(like, arrays)
}

/// The reals of derivatives of arrays of these shapes, zero where absent; of a view, those of its elements.
pub(super) fn gather(shapes: &[Shape], parts: &[Option<Kept>]) -> Result<Vec<f64>> {
    let mut vector = memory::with_room(count(shapes))?;
    for (shape, part) in shapes.iter().zip(parts).filter(|(shape, _)| shape.elem.is_real()) {
        let Some(part) = part else {
            vector.resize(vector.len() + reals(shape), 0.0);
            continue;
        };
        let (at, size) = shape.byte_range();
        let mut bytes = memory::filled(size, 0u8)?;
        shape.device.download(part.buffer(), at, &mut bytes)?;
        decode(shape.scalar, &bytes, &mut vector);
    }
    Ok(vector)
}

/// The other way round, into memory of the size of each view.
pub(super) fn scatter(shapes: &[Shape], vector: &[f64], ledger: &Rc<Ledger>) -> Result<Vec<Option<Kept>>> {
    let mut rest = vector;
    let mut next = |shape: &Shape| {
        if !shape.elem.is_real() {
            return Ok(None);
        }
        let (head, tail) = rest.split_at(reals(shape));
        rest = tail;
        let bytes = encode(shape.scalar, head)?;
        let buffer = shape.device.alloc(bytes.len())?;
        shape.device.upload(&buffer, 0, &bytes)?;
        Ok(Some(Kept::new(buffer, ledger)))
    };
    shapes.iter().map(&mut next).collect()
}
