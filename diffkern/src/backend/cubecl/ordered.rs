//! Sums whose bits do not depend on the order in which threads run, in place of atomic additions.
//!
//! The domain is cut into as many equal parts as there are threads, a function of the shapes alone. Each thread takes
//! the positions of its part one after the other and adds into a copy of the array of its own; the copies are added up in
//! the order of the parts. That is what the CPU does too, with other parts. It costs memory for the copies, a launch to
//! clear and one to add them up, and it leaves fewer threads to run.

use super::launch::{Args, Split};
use super::{CubeBuffer, CubeDevice};
use crate::buffer::LaunchArg;
use crate::error::{Error, Result};
use crate::kernel::{Access, ElemTy, ParamDef, ParamKind, Program, ScalarKind, ScalarTy};

/// Most bytes of the copies of one array.
const MAX_COPIES: usize = 64 << 20;

/// Most threads, and so copies.
const MAX_THREADS: usize = 1024;

/// Positions that a thread has at least, where there are that many.
const POSITIONS: usize = 16;

/// By slot, whether an array of reals is added to at indices of the threads' choice. `bound` is by slot the first one
/// with the same buffer.
pub(super) fn copied(program: &Program, bound: &[Option<usize>]) -> Vec<bool> {
    let slots = program.params.iter().zip(bound);
    let copied = |(param, first): (&ParamDef, &Option<usize>)| match (param.kind, first) {
        (ParamKind::Array { elem, access: Access::Add, owned }, Some(_)) if elem.is_real() => {
            !owned || bound.iter().filter(|other| *other == first).count() > 1
        }
        _ => false,
    };
    slots.map(copied).collect()
}

impl CubeDevice {
    /// Zeros for the copies of each such array, by slot; `split` learns how many threads share the positions.
    pub(super) fn copies(
        &self,
        program: &Program,
        scalar: ScalarTy,
        copied: &[bool],
        split: &mut Split,
        args: Args<'_, '_>,
    ) -> Result<Vec<(usize, CubeBuffer)>> {
        let mut sizes = Vec::new();
        for (slot, arg) in args.iter().enumerate().filter(|(slot, _)| copied.get(*slot) == Some(&true)) {
            if let LaunchArg::Buffer { len, elem, .. } = arg {
                sizes.push((slot, *len as usize * elem.components() * scalar.bytes()));
            }
        }
        let total = split.total;
        let largest = sizes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0).max(1);
        let threads = (total as usize / POSITIONS).min(MAX_THREADS).min(MAX_COPIES / largest).max(1);
        let threads = (threads as u32).min(split.threads);
        let each = total.div_ceil(threads);
        split.threads = total.div_ceil(each);
        split.ordered = Some((each, total));
        let zeros = |(slot, bytes): (usize, usize)| {
            let all = bytes.saturating_mul(split.threads as usize);
            if all > self.max_bytes() {
                let name = program.params.get(slot).map_or("?", |param| param.name);
                let reason = format!("no room for a copy of `{name}`, which ordered sums need; turn them off");
                return Err(Error::Memory { device: self.name.to_owned(), bytes: all, reason });
            }
            Ok((slot, self.alloc(all, true)?))
        };
        sizes.into_iter().map(zeros).collect()
    }

    /// Adds the copies to the array, in order.
    pub(super) fn add_up(
        &self,
        scalar: ScalarTy,
        copies: &CubeBuffer,
        count: u32,
        arg: &LaunchArg<'_, CubeBuffer>,
    ) -> Result<()> {
        let LaunchArg::Buffer { buffer, offset, len, elem } = *arg else { return Ok(()) };
        let (components, elem) = (elem.components() as u32, ElemTy::Real);
        let scalars = len * components;
        let args = [
            LaunchArg::Buffer { buffer: copies, offset: 0, len: scalars * count, elem },
            LaunchArg::Buffer { buffer, offset: offset * components, len: scalars, elem },
            LaunchArg::Usize(count),
            LaunchArg::Usize(scalars),
        ];
        self.launch(&ADD_UP, scalar, (scalars as usize).into(), &args)
    }
}

const fn reals(name: &'static str, access: Access, owned: bool) -> ParamDef {
    ParamDef { name, kind: ParamKind::Array { elem: ElemTy::Real, access, owned } }
}

const fn size(name: &'static str) -> ParamDef {
    ParamDef { name, kind: ParamKind::Scalar { ty: ScalarKind::Usize, comptime: false } }
}

/// `to[i] += copies[i] + copies[stride + i] + ...`, from the left.
static ADD_UP: Program = Program {
    file: file!(),
    params: &[reals("copies", Access::Read, false), reals("to", Access::Add, true), size("count"), size("stride")],
    text: "fn add_up\narray 0 read real copies\narray 1 add real to owned\nscalar 2 %0 usize count\n\
           scalar 3 %1 usize stride\nbody\n%2 : usize = pos\n%3 : usize = const 0\n%4 : real = const 0\n\
           for %5 : usize = %3 .. %0 carry %6 : real = %4 -> %7 {\n%8 : usize = mul %5 %1\n\
           %9 : usize = add %8 %2\n%10 : real = load 0 %9 @1\n%11 : real = add %6 %10\nyield %11\n}\n\
           add 1 %2 %7 @1\n",
    work: 0,
    callees: &[],
    writes: &[],
};
