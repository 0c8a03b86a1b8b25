//! Launches: everything that the host can check is checked, since a GPU says nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cubecl::ir::{ElemType, FloatKind, IntKind, StorageType, UIntKind};

use super::bound::Known;
use super::build::{Layout, Scratch, Special, Target};
use super::client::{Call, GATE, Word, cubecl_handle::Handle};
use super::kernel::Kernel;
use super::{CubeBuffer, CubeDevice};
use crate::buffer::LaunchArg;
use crate::domain::Domain;
use crate::error::Result;
use crate::kernel::{Access, ParamKind, Program, ScalarTy};
use crate::linked::Linked;
use crate::sync::lock;

/// Most bytes of scratch memory of one launch; a domain that needs more is split.
const MAX_SCRATCH: u64 = 64 << 20;

/// Cubes in one dimension; the rest goes into the second.
const MAX_CUBES: u32 = 32768;

const U32: StorageType = StorageType::Scalar(ElemType::UInt(UIntKind::U32));
const I32: StorageType = StorageType::Scalar(ElemType::Int(IntKind::I32));

/// Program and specialisation.
pub(super) type PlanKey = (u128, Special);

/// A kernel ready to be launched.
pub(super) struct Plan {
    kernel: Kernel,
    layout: Layout,
    /// A launch of it has succeeded, so it compiles.
    proven: AtomicBool,
    /// Where it reports a `while` that wants more turns than its bound.
    flag: Option<Mutex<Handle>>,
}

pub(super) type Args<'a, 'b> = &'a [LaunchArg<'b, CubeBuffer>];

/// Threads of one launch and the scratch memory they need.
pub(super) struct Split {
    /// Scratch scalars per thread: of integers, of reals.
    words: [u64; 2],
    /// First scalar and number of slots, per stack.
    stacks: Vec<(u32, u32)>,
    pub(super) threads: u32,
    /// Positions of the domain.
    pub(super) total: u32,
    /// Positions of a thread and of all, where additions are ordered.
    pub(super) ordered: Option<(u32, u32)>,
}

impl CubeDevice {
    /// Runs a program once per index of `domain`.
    pub fn launch(
        &self,
        program: &'static Program,
        scalar: ScalarTy,
        domain: Domain,
        args: Args<'_, '_>,
    ) -> Result<()> {
        let name = program.text.lines().next().and_then(|line| line.strip_prefix("fn ")).unwrap_or("?");
        let failed = |reason: String| self.error(format!("kernel `{name}`: {reason}"));
        let dims = domain.extent().ok_or_else(|| failed(format!("{} indices are more than 2^32", domain.len())))?;
        if domain.is_empty() {
            return Ok(());
        }
        if scalar == ScalarTy::F64 && !self.supports_f64() {
            return Err(failed("has no f64; use the cpu device, or f32".into()));
        }
        for arg in args {
            if let LaunchArg::Buffer { buffer, .. } = arg {
                self.check(buffer)?;
            }
        }
        let plan = self.plan(program, scalar, args).map_err(failed)?;
        let copied = &plan.kernel.special().copied;
        let mut split = self.split(program, &plan, dims, args).map_err(failed)?;
        let copies = match copied.contains(&true) {
            true => self.copies(program, scalar, copied, &mut split, args)?,
            false => Vec::new(),
        };
        let run = || self.run(program, scalar, (&plan, &split), dims, args, &copies);
        let done = if plan.proven.load(Ordering::Relaxed) {
            let _shared = GATE.read().unwrap_or_else(PoisonError::into_inner);
            self.remember(name);
            run()
        } else {
            // The first launch shows whether the kernel compiles; later ones are not waited for.
            let _alone = GATE.write().unwrap_or_else(PoisonError::into_inner);
            self.settle_alone()?;
            run().and_then(|()| self.queue().flush())
        };
        if let Err(reason) = done {
            poison(program, args, &format!("kernel `{name}`: {reason}"));
            return Err(failed(reason));
        }
        plan.proven.store(true, Ordering::Relaxed);
        for (slot, copies) in &copies {
            self.add_up(scalar, copies, split.threads, &args[*slot])?;
        }
        if plan.flag.is_some() {
            let mut flagged = lock(&self.flagged);
            if !flagged.iter().any(|other| Arc::ptr_eq(other, &plan)) {
                flagged.push(plan);
            }
        }
        Ok(())
    }

    /// An error when a `while` of a launch since the last call wanted more turns than its bound.
    pub(super) fn check_bounds(&self) -> Result<()> {
        let flagged = std::mem::take(&mut *lock(&self.flagged));
        let mut exceeded = None;
        for plan in flagged {
            let Some(flag) = &plan.flag else { continue };
            self.work.waits.fetch_add(1, Ordering::Relaxed);
            let word = self.queue().read(lock(flag).clone()).map_err(|e| self.error(e))?;
            let line = word.first_chunk().map_or(0, |word| u32::from_ne_bytes(*word));
            if line != 0 {
                *lock(flag) = self.queue().create(&[0; 16]).map_err(|e| self.error(e))?;
                exceeded.get_or_insert_with(|| {
                    format!(
                        "kernel `{}` (line {line}): a `while` wanted more turns than its bound in a launch since the last \
                         read; raise the bound, or look why the condition stays true",
                        plan.kernel.source_name()
                    )
                });
            }
        }
        exceeded.map_or(Ok(()), |reason| Err(self.error(reason)))
    }

    fn plan(&self, program: &'static Program, scalar: ScalarTy, args: Args<'_, '_>) -> Result<Arc<Plan>, String> {
        if args.len() != program.params.len() {
            return Err(format!("{} arguments where {} are needed", args.len(), program.params.len()));
        }
        let linked = Linked::of(program)?;
        let target =
            Target { double: scalar == ScalarTy::F64, atomic_add: self.atomic_add, exact_math: self.opened.exact_math };
        let bound: Vec<_> = (0..args.len()).map(|slot| sharing(program, args, slot)).collect();
        let copied = if self.is_deterministic() { super::ordered::copied(program, &bound) } else { Vec::new() };
        let fixed = |param: &ParamKind| matches!(param, ParamKind::Scalar { comptime: true, .. });
        let comptime = program.params.iter().zip(args).map(|(p, arg)| fixed(&p.kind).then(|| bits(arg)).flatten());
        let key = (linked.hash, Special { target, bound, copied, comptime: comptime.collect() });
        if let Some(plan) = lock(&self.plans).get(&key) {
            return Ok(plan.clone());
        }
        let width = self.opened.width.min(self.properties.hardware.max_units_per_cube);
        let (kernel, layout) = Kernel::new(linked, key.1.clone(), width)?;
        let buffers = layout.arrays.len() + layout.scratch.len();
        if buffers > self.max_bindings() {
            return Err(format!(
                "{buffers} arrays, of which this device takes {}; put several into one array, or split the kernel",
                self.max_bindings()
            ));
        }
        let flag = match layout.scratch.contains(&Scratch::Flag) {
            true => Some(Mutex::new(self.queue().create(&[0; 16])?)),
            false => None,
        };
        let plan = Arc::new(Plan { kernel, layout, proven: AtomicBool::new(false), flag });
        lock(&self.plans).insert(key, plan.clone());
        Ok(plan)
    }

    /// How many threads a launch can have, given the stacks' actual lengths.
    fn split(&self, program: &Program, plan: &Plan, dims: [u32; 3], args: Args<'_, '_>) -> Result<Split, String> {
        let total = dims.iter().map(|&d| u64::from(d)).product::<u64>();
        let mut split =
            Split { words: [0; 2], stacks: vec![], threads: total as u32, total: total as u32, ordered: None };
        if plan.layout.stacks.is_empty() {
            return Ok(split);
        }
        let scalar = |slot: usize| args.get(slot).and_then(integer);
        let len = |slot: usize| args.get(slot).and_then(length);
        let known = Known { scalar: &scalar, len: &len, dims };
        for stack in &plan.layout.stacks {
            let mut slots = 1;
            for sym in &stack.lens {
                let (_, most) = sym.range(&known).ok_or_else(|| {
                    "the number of steps of a loop whose values its gradient needs may wrap around 2^32; bound it by a \
                     scalar, or use the cpu device"
                        .to_owned()
                })?;
                slots = slots.max(most);
            }
            let words = &mut split.words[usize::from(stack.real)];
            let first = u32::try_from(*words).map_err(|_| too_long(slots))?;
            *words += slots as u64 * stack.components as u64;
            split.stacks.push((first, u32::try_from(slots).map_err(|_| too_long(slots))?));
        }
        debug_assert_eq!(program.params.len(), args.len());
        let size = if plan.kernel_is_double() { [4, 8] } else { [4, 4] };
        let limit = MAX_SCRATCH.min(self.max_bytes() as u64);
        for (words, size) in split.words.into_iter().zip(size) {
            if words > 0 {
                let fit = limit / (words * size);
                if fit == 0 {
                    return Err(too_long((words) as i64));
                }
                split.threads = split.threads.min(u32::try_from(fit).unwrap_or(u32::MAX));
            }
        }
        Ok(split)
    }

    fn run(
        &self,
        program: &Program,
        scalar: ScalarTy,
        (plan, split): (&Plan, &Split),
        dims: [u32; 3],
        args: Args<'_, '_>,
        copies: &[(usize, CubeBuffer)],
    ) -> Result<(), String> {
        let real = storage(scalar);
        let total = dims.iter().map(|&d| u64::from(d)).product::<u64>();
        // Where additions are ordered, one launch has all positions.
        let total = split.ordered.map_or(total, |_| u64::from(split.threads));
        let mut buffers = vec![];
        for &slot in &plan.layout.arrays {
            let (Some(LaunchArg::Buffer { buffer, len, elem, .. }), Some(param)) =
                (args.get(slot), program.params.get(slot))
            else {
                return Err(format!("argument {slot} is not an array"));
            };
            let ParamKind::Array { elem: declared, .. } = param.kind else {
                return Err(format!("parameter `{}` is not an array", param.name));
            };
            let components = declared.components();
            if elem.components() != components || elem.is_real() != declared.is_real() {
                return Err(format!("parameter `{}`: elements {elem:?} where {declared:?} are needed", param.name));
            }
            let ty = if declared.is_real() { real } else { U32 };
            if let Some((_, copy)) = copies.iter().find(|(copied, _)| *copied == slot) {
                buffers.push((copy.handle(), ty, copy.bytes / ty.size()));
                continue;
            }
            buffers.push(match len {
                0 => (self.zeros.clone(), ty, 128 / ty.size()),
                _ => (buffer.handle(), ty, buffer.bytes / ty.size()),
            });
        }
        let threads = split.threads;
        for &scratch in &plan.layout.scratch {
            let (ty, per_thread) = match (scratch, &plan.flag) {
                (Scratch::Flag, Some(flag)) => {
                    buffers.push((lock(flag).clone(), U32, 4));
                    continue;
                }
                (Scratch::Reals, _) => (real, split.words[1]),
                _ => (U32, split.words[0]),
            };
            let words = per_thread * u64::from(threads);
            let handle = self.queue().empty(words as usize * ty.size())?;
            buffers.push((handle, ty, words as usize));
        }
        let mut first = 0u64;
        while first < total {
            let count = u64::from(threads).min(total - first) as u32;
            let words = words(program, real, split, dims, (first as u32, count), args);
            let cubes = cubes(count.div_ceil(plan.kernel.width));
            self.work.launches.fetch_add(1, Ordering::Relaxed);
            self.queue().launch(Call { kernel: &plan.kernel, cubes, buffers: buffers.clone(), words: &words })?;
            first += u64::from(count);
        }
        Ok(())
    }

    fn remember(&self, name: &str) {
        let mut recent = lock(&self.recent);
        if recent.len() < 16 && recent.last().is_none_or(|last| last != name) {
            recent.push(name.to_owned());
        }
    }
}

impl Plan {
    fn kernel_is_double(&self) -> bool {
        self.kernel.target().double
    }
}

/// Scalar arguments, in the order in which `build` declares them.
fn words(
    program: &Program,
    real: StorageType,
    split: &Split,
    dims: [u32; 3],
    (first, count): (u32, u32),
    args: Args<'_, '_>,
) -> Vec<Word> {
    let mut words: Vec<Word> = [0, dims[0], dims[1], dims[2], first, count].into_iter().map(word).collect();
    words.extend(split.ordered.into_iter().flat_map(|(each, total)| [word(each), word(total)]));
    for (param, arg) in program.params.iter().zip(args) {
        match (param.kind, arg) {
            (ParamKind::Scalar { comptime: true, .. }, _) => {}
            (ParamKind::Array { elem, access, .. }, LaunchArg::Buffer { offset, len, .. }) => {
                words.push(word(*len));
                if access != Access::Unused {
                    words.push(word(if *len == 0 { 0 } else { offset * elem.components() as u32 }));
                }
            }
            (_, LaunchArg::Absent { len } | LaunchArg::Buffer { len, .. } | LaunchArg::Place { len, .. }) => {
                words.push(word(*len))
            }
            (_, LaunchArg::Real(v)) if real.size() == 8 => words.push(Word { bytes: v.to_ne_bytes(), ty: real }),
            (_, LaunchArg::Real(v)) => words.push(Word { ty: real, ..word((*v as f32).to_bits()) }),
            (_, LaunchArg::I32(v)) => words.push(Word { ty: I32, ..word(*v as u32) }),
            (_, LaunchArg::U32(v) | LaunchArg::Usize(v)) => words.push(word(*v)),
            (_, LaunchArg::Bool(v)) => words.push(word(u32::from(*v))),
        }
    }
    for &(base, slots) in &split.stacks {
        words.extend([word(base), word(slots)]);
    }
    words
}

fn word(value: u32) -> Word {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&value.to_ne_bytes());
    Word { bytes, ty: U32 }
}

fn storage(scalar: ScalarTy) -> StorageType {
    StorageType::Scalar(match scalar {
        ScalarTy::F64 => ElemType::Float(FloatKind::F64),
        _ => ElemType::Float(FloatKind::F32),
    })
}

/// The slot whose binding an array uses: its own, unless both are added to and are one buffer. `None` for no array.
fn sharing(program: &Program, args: Args<'_, '_>, slot: usize) -> Option<usize> {
    let added = |slot: usize| match (program.params.get(slot).map(|p| p.kind), args.get(slot)) {
        (Some(ParamKind::Array { access: Access::Add, .. }), Some(LaunchArg::Buffer { buffer, len, .. }))
            if *len > 0 =>
        {
            Some(std::ptr::from_ref(*buffer))
        }
        _ => None,
    };
    if !matches!(args.get(slot), Some(LaunchArg::Buffer { .. })) {
        return None;
    }
    let first = added(slot).and_then(|buffer| (0..slot).find(|&other| added(other) == Some(buffer)));
    Some(first.unwrap_or(slot))
}

/// A number of cubes in two dimensions; some may be beyond the domain and do nothing.
fn cubes(count: u32) -> (u32, u32) {
    if count <= MAX_CUBES { (count, 1) } else { (MAX_CUBES, count.div_ceil(MAX_CUBES)) }
}

fn too_long(slots: i64) -> String {
    format!(
        "a gradient that keeps {slots} scalars per thread, more than {MAX_SCRATCH} bytes; shorten the loop or use the \
         cpu device"
    )
}

/// A scalar as the bits of its value when the kernel is built.
fn bits(arg: &LaunchArg<'_, CubeBuffer>) -> Option<u64> {
    match arg {
        LaunchArg::Real(v) => Some(v.to_bits()),
        LaunchArg::U32(v) | LaunchArg::Usize(v) => Some(u64::from(*v)),
        LaunchArg::I32(v) => Some(u64::from(*v as u32)),
        LaunchArg::Bool(v) => Some(u64::from(*v)),
        LaunchArg::Buffer { .. } | LaunchArg::Place { .. } | LaunchArg::Absent { .. } => None,
    }
}

fn integer(arg: &LaunchArg<'_, CubeBuffer>) -> Option<i64> {
    match arg {
        LaunchArg::U32(v) | LaunchArg::Usize(v) => Some(i64::from(*v)),
        LaunchArg::I32(v) => Some(i64::from(*v)),
        _ => None,
    }
}

fn length(arg: &LaunchArg<'_, CubeBuffer>) -> Option<i64> {
    match arg {
        LaunchArg::Buffer { len, .. } | LaunchArg::Absent { len } => Some(i64::from(*len)),
        _ => None,
    }
}

/// What a failed launch should have written is not to be read.
pub(super) fn poison(program: &Program, args: Args<'_, '_>, message: &str) {
    for (param, arg) in program.params.iter().zip(args) {
        if let (ParamKind::Array { access, .. }, LaunchArg::Buffer { buffer, .. }) = (param.kind, arg)
            && access.writes()
        {
            *lock(&buffer.poison) = Some(message.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::cubes;

    #[test]
    fn cubes_fold_into_two_dimensions() {
        assert_eq!(cubes(1), (1, 1));
        assert_eq!(cubes(32768), (32768, 1));
        let (x, y) = cubes(65_537);
        assert!(x <= 65_535 && y <= 65_535 && u64::from(x) * u64::from(y) >= 65_537);
    }
}
