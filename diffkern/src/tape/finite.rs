//! Where the first NaN or infinity comes from: looks at what each launch wrote, and at what it read.

use std::sync::Arc;

use super::arises::{self, Launched};
use super::bars::Shape;
use crate::buffer::Buffer;
use crate::error::{Error, NotFinite, Origin, Result};
use crate::kernel::{Access, KernelDef, ParamDef, ParamKind, Program, ScalarTy};
use crate::launch::Call;

/// Bytes of the elements of a view, on the host.
type Bytes = Vec<u8>;

fn contents(shape: &Shape, buffer: &Buffer) -> Result<Bytes> {
    let (at, bytes) = shape.byte_range();
    let mut all = crate::memory::filled(bytes, 0)?;
    shape.device.download(buffer, at, &mut all)?;
    Ok(all)
}

/// A scalar that is not finite: by its bits, which no compiler and no shading language reasons about.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spot {
    /// Number of the scalar.
    scalar: usize,
    value: f64,
}

/// The first scalar that is not finite and, if there are `before`, was another one then.
fn first(ty: ScalarTy, now: &[u8], before: Option<&[u8]>) -> Option<Spot> {
    fn find<const N: usize>(now: &[u8], before: Option<&[u8]>, value: impl Fn([u8; N]) -> Option<f64>) -> Option<Spot> {
        let (now, _) = now.as_chunks::<N>();
        let before = before.map(|before| before.as_chunks::<N>().0);
        now.iter().enumerate().find_map(|(scalar, &bits)| {
            let new = before.is_none_or(|before| before.get(scalar) != Some(&bits));
            value(bits).filter(|_| new).map(|value| Spot { scalar, value })
        })
    }
    match ty {
        ScalarTy::F32 => find::<4>(now, before, |bits| {
            let bits = u32::from_ne_bytes(bits);
            (bits & 0x7F80_0000 == 0x7F80_0000).then(|| f64::from(f32::from_bits(bits)))
        }),
        ScalarTy::F64 => find::<8>(now, before, |bits| {
            let bits = u64::from_ne_bytes(bits);
            (bits & 0x7FF0_0000_0000_0000 == 0x7FF0_0000_0000_0000).then(|| f64::from_bits(bits))
        }),
        ScalarTy::U32 | ScalarTy::I32 => None,
    }
}

/// What a launch may be blamed for.
struct Written {
    slot: usize,
    shape: Shape,
    before: Bytes,
}

/// The first positions of a launch, run once more on copies.
pub(crate) struct Prefix<'a> {
    /// Of the launch in all.
    pub(crate) positions: usize,
    /// Runs so many, and gives what they leave in the array of this identity.
    pub(crate) run: &'a dyn Fn(usize, u64) -> Result<Arc<Buffer>>,
}

/// A launch under observation.
pub(crate) struct Watch {
    def: &'static KernelDef,
    program: &'static Program,
    adjoint: bool,
    read: Vec<(usize, Shape, Bytes)>,
    written: Vec<Written>,
}

impl Watch {
    /// Before a launch.
    pub(crate) fn launch(call: Call<'_>) -> Result<Watch> {
        let mut watch =
            Watch { def: call.def, program: &call.def.primal, adjoint: false, read: Vec::new(), written: Vec::new() };
        for (slot, array, access) in call.arrays().filter(|(_, array, _)| array.is_real()) {
            let shape = Shape::of(array);
            let bytes = contents(&shape, &array.buffer())?;
            match access.writes() {
                true => watch.written.push(Written { slot, shape, before: bytes }),
                false => watch.read.push((slot, shape, bytes)),
            }
        }
        Ok(watch)
    }

    /// Before the adjoint of a launch: by slot of the adjoint, what it reads, and the bars.
    pub(crate) fn adjoint<'a>(
        def: &'static KernelDef,
        read: impl Iterator<Item = (usize, &'a Shape, &'a Arc<Buffer>)>,
        bars: impl Iterator<Item = (usize, &'a Shape, &'a Arc<Buffer>)>,
    ) -> Result<Watch> {
        let real = |shape: &Shape| shape.elem.is_real();
        let read = read
            .filter(|(_, shape, _)| real(shape))
            .map(|(slot, shape, buffer)| Ok((slot, shape.clone(), contents(shape, buffer)?)));
        let written = bars
            .map(|(slot, shape, buffer)| Ok(Written { slot, shape: shape.clone(), before: contents(shape, buffer)? }));
        Ok(Watch {
            def,
            program: &def.adjoint,
            adjoint: true,
            read: read.collect::<Result<_>>()?,
            written: written.collect::<Result<_>>()?,
        })
    }

    /// After it; `now` gives the contents of a written array by its place in the order of the slots.
    pub(crate) fn check(
        &self,
        now: &dyn Fn(usize) -> Option<Arc<Buffer>>,
        first_positions: Option<&Prefix<'_>>,
        launched: Launched<'_>,
    ) -> Result<()> {
        for (place, written) in self.written.iter().enumerate() {
            let Some(buffer) = now(place) else { continue };
            let now = contents(&written.shape, &buffer)?;
            if let Some(spot) = first(written.shape.scalar, &now, Some(&written.before)) {
                let position = match first_positions {
                    _ if self.owned(written.slot) => Some(spot.scalar / written.shape.elem.components()),
                    Some(prefix) => self.position(written, spot, prefix)?,
                    None => None,
                };
                return Err(Error::NotFinite(Box::new(self.describe(written, spot, position, launched)?)));
            }
        }
        Ok(())
    }

    fn access(&self, slot: usize) -> Option<Access> {
        match self.program.params.get(slot)?.kind {
            ParamKind::Array { access, .. } => Some(access),
            ParamKind::Scalar { .. } => None,
        }
    }

    /// Every access is to the element of the position.
    fn owned(&self, slot: usize) -> bool {
        matches!(self.program.params.get(slot).map(|p| p.kind), Some(ParamKind::Array { owned: true, .. }))
    }

    fn name(&self, slot: usize) -> (&'static str, bool) {
        let params = self.def.primal.params;
        // Bars follow the parameters, one per array of reals.
        let real = |p: &&ParamDef| matches!(p.kind, ParamKind::Array { elem, .. } if elem.is_real());
        match slot.checked_sub(params.len()) {
            None => (params.get(slot).map_or("?", |param| param.name), false),
            Some(bar) => (params.iter().filter(real).nth(bar).map_or("?", |param| param.name), true),
        }
    }

    /// The position that made a scalar what it is: the last of the fewest that do.
    fn position(&self, written: &Written, spot: Spot, prefix: &Prefix<'_>) -> Result<Option<usize>> {
        let bytes = written.shape.scalar.bytes();
        let done = |positions: usize| {
            let buffer = (prefix.run)(positions, written.shape.id)?;
            let all = contents(&written.shape, &buffer)?;
            Ok::<_, Error>(first(written.shape.scalar, &all[spot.scalar * bytes..][..bytes], None).is_some())
        };
        let (mut before, mut after) = (0, prefix.positions);
        // A launch on a GPU adds in another order each time.
        if !done(after)? {
            return Ok(None);
        }
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            match done(middle)? {
                true => after = middle,
                false => before = middle,
            }
        }
        Ok(Some(before))
    }

    fn describe(
        &self,
        written: &Written,
        spot: Spot,
        position: Option<usize>,
        launched: Launched<'_>,
    ) -> Result<NotFinite> {
        let components = written.shape.elem.components();
        let (param, _) = self.name(written.slot);
        let mut lines = match position {
            Some(position) => self.operation(written, spot, position, launched)?,
            None => Vec::new(),
        };
        if lines.is_empty() {
            lines.push((self.program.file, line_of(self.program.text, written.slot).unwrap_or(self.def.line)));
        }
        let (file, line) = lines.remove(0);
        Ok(NotFinite {
            kernel: self.def.name,
            file,
            line,
            inside: lines,
            position,
            adjoint: self.adjoint,
            param,
            array: written.shape.label(),
            element: spot.scalar / components,
            component: spot.scalar % components,
            components,
            value: spot.value,
            steps: Vec::new(),
            origin: self.origin(written, spot),
        })
    }

    /// Where the operation stands that made it what it is, after the calls that lead there.
    fn operation(
        &self,
        written: &Written,
        spot: Spot,
        position: usize,
        launched: Launched<'_>,
    ) -> Result<Vec<(&'static str, u32)>> {
        let read = self.read.iter().map(|(slot, _, bytes)| (*slot, bytes));
        let known = read.chain(self.written.iter().map(|written| (written.slot, &written.before)));
        let known: Vec<(usize, &Bytes)> = known.collect();
        let before = |slot: usize| known.iter().find(|(other, _)| *other == slot).map(|(_, bytes)| bytes.as_slice());
        let element = spot.scalar / written.shape.elem.components();
        arises::line(self.program, launched, &before, position, (written.slot, element))
    }

    /// Whether something that the launch read was not finite already.
    fn origin(&self, written: &Written, spot: Spot) -> Origin {
        let element = spot.scalar / written.shape.elem.components();
        let before = |other: &Written| (other.slot, other.shape.clone(), other.before.clone());
        // What is only stored to is not read.
        let added = self.written.iter().filter(|other| self.access(other.slot) != Some(Access::Store));
        let read = self.read.iter().cloned().chain(added.map(before));
        for (slot, shape, bytes) in read {
            let size = shape.elem.components() * shape.scalar.bytes();
            // Where both are touched at the position alone, other elements have nothing to do with it.
            let (bytes, from) = match self.owned(slot) && self.owned(written.slot) && element < shape.len as usize {
                true => (&bytes[element * size..][..size], element),
                false => (&bytes[..], 0),
            };
            if let Some(found) = first(shape.scalar, bytes, None) {
                let (param, bar) = self.name(slot);
                let components = shape.elem.components();
                return Origin::Input {
                    param,
                    array: shape.label(),
                    adjoint: bar,
                    element: from + found.scalar / components,
                    component: found.scalar % components,
                    value: found.value,
                };
            }
        }
        Origin::Here
    }
}

/// The line of the first statement that writes to the array of a slot.
fn line_of(text: &str, slot: usize) -> Option<u32> {
    let slot = slot.to_string();
    let writes = |line: &&str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("store" | "add" | "take")) && words.next() == Some(&slot)
    };
    let line = text.lines().find(writes)?;
    line.rsplit_once('@')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_are_not_finite() {
        let bytes = |x: &[f32]| x.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
        let spot = |x: &[f32]| first(ScalarTy::F32, &bytes(x), None).map(|spot| spot.scalar);
        assert_eq!(spot(&[1.0, f32::MAX, f32::MIN_POSITIVE, -0.0]), None);
        assert_eq!(spot(&[1.0, f32::NEG_INFINITY]), Some(1));
        assert_eq!(spot(&[f32::from_bits(0x7F80_0001)]), Some(0), "signalling");
        let same = bytes(&[f32::NAN, 1.0]);
        assert_eq!(first(ScalarTy::F32, &same, Some(&same)), None);
        let double = [1.0, f64::INFINITY].iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
        assert_eq!(first(ScalarTy::F64, &double, None), Some(Spot { scalar: 1, value: f64::INFINITY }));
        assert_eq!(first(ScalarTy::U32, &[0xFF; 8], None), None);
    }

    #[test]
    fn lines_of_statements() {
        let text = "fn f\nbody\n%1 : real = load 1 %0 @5\nif %2 {\n  store 1 %0 %1 @7\n}\nadd 11 %0 %1 @9\n";
        assert_eq!((line_of(text, 1), line_of(text, 11), line_of(text, 0)), (Some(7), Some(9), None));
    }
}
