//! From the representation of a kernel to CubeCL's: values become lists of scalar registers, calls are inlined.

mod control;
mod emit;
mod math;
mod memory;
mod ops;
mod trig;

use std::sync::Arc;

use cubecl::ir::{Builtin as Cube, StorageType, Variable};
use cubecl::prelude::KernelBuilder;

pub(crate) use emit::Target;
use emit::{Cmp, Emit, I32, U32};

use super::bound::Sym;
use crate::linked::Linked;
use diffkern_ir::{Access, Builtin, Id, ParamKind, Slot, Ty};

/// Blocks beyond this number overflow the stack of the thread that compiles.
const MAX_BLOCKS: usize = 350;

/// What a kernel is specialised for, besides its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Special {
    pub target: Target,
    /// By slot, whether an array is bound, and the first slot whose buffer it shares when both are added to: two
    /// bindings of one buffer are a race within a thread, since compilers take them for different memory.
    pub bound: Vec<Option<Slot>>,
    /// By slot, whether each thread adds into a copy of its own, which are added up in order afterwards; empty where
    /// additions are atomic.
    pub copied: Vec<bool>,
    /// By slot, bits of the scalars that are fixed.
    pub comptime: Vec<Option<u64>>,
}

/// What the launcher has to pass, in the order of the kernel's parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Stacks in scratch memory.
    pub stacks: Vec<Stack>,
    /// Buffers bound after the arrays.
    pub scratch: Vec<Scratch>,
    /// Arrays bound, by slot.
    pub arrays: Vec<Slot>,
}

/// A buffer that is no argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scratch {
    /// Stacks of integers.
    Words,
    /// Stacks of reals.
    Reals,
    /// One word: the line of a `while` that wanted more turns than its bound, else zero.
    Flag,
}

/// A stack in scratch memory.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Scalars per slot.
    pub components: usize,
    /// In the scratch buffer of reals, or in that of integers.
    pub real: bool,
    /// Its length is at most that of the longest of these.
    pub lens: Vec<Arc<Sym>>,
}

/// A value: its scalars, and what the host knows of an integer.
#[derive(Clone)]
struct Val {
    regs: Vec<Variable>,
    sym: Option<Arc<Sym>>,
}

impl Val {
    fn new(regs: Vec<Variable>) -> Self {
        Self { regs, sym: None }
    }
}

/// An array parameter of the kernel.
#[derive(Clone, Copy)]
struct Root {
    /// `None` when nothing is bound: reads are zero, writes are dropped.
    memory: Option<Memory>,
    len: Variable,
    components: usize,
    scalar: StorageType,
}

#[derive(Clone, Copy)]
struct Memory {
    array: Variable,
    /// Scalars before the first element.
    base: Variable,
    atomic: Atomic,
}

/// How an array is added to.
#[derive(Clone, Copy, PartialEq)]
enum Atomic {
    /// Plainly: no two threads touch one element.
    No,
    Add,
    /// By exchanges of the bits of an `f32`.
    Exchange,
}

/// Where the values and arrays of a function are while it is inlined.
struct Frame<'p> {
    program: &'p Linked,
    values: Vec<Option<Val>>,
    /// Slot of the kernel, by slot of the function.
    arrays: Vec<Slot>,
    stacks: Vec<Option<memory::Place>>,
}

impl<'p> Frame<'p> {
    fn new(program: &'p Linked) -> Self {
        let func = &program.func;
        Self {
            program,
            values: vec![None; func.types.len()],
            arrays: (0..func.params.len()).collect(),
            stacks: vec![None; func.stacks as usize],
        }
    }

    fn ty(&self, id: Id) -> Ty {
        self.program.func.ty(id)
    }

    fn get(&self, id: Id) -> Result<&Val, String> {
        let value = self.values.get(id.0 as usize).and_then(Option::as_ref);
        value.ok_or_else(|| format!("value %{} of `{}` is not there yet", id.0, self.program.func.name))
    }

    fn regs(&self, id: Id) -> Result<Vec<Variable>, String> {
        self.get(id).map(|v| v.regs.clone())
    }

    /// The register of a scalar.
    fn reg(&self, id: Id) -> Result<Variable, String> {
        let value = self.get(id)?;
        value.regs.first().copied().ok_or_else(|| format!("value %{} has no scalar", id.0))
    }

    fn set(&mut self, id: Id, value: Val) {
        if let Some(place) = self.values.get_mut(id.0 as usize) {
            *place = Some(value);
        }
    }
}

/// The kernel under construction.
pub(crate) struct Builder {
    e: Emit,
    roots: Vec<Option<Root>>,
    layout: Layout,
    scratch: [Option<Variable>; 2],
    flag: Option<Variable>,
    pos: Variable,
    dims: [Variable; 3],
    /// Number of the thread within this launch, and number of threads.
    thread: Variable,
    threads: Variable,
    /// How often each of the loops around turns at most.
    loops: Vec<Option<Arc<Sym>>>,
}

/// Writes the kernel into `kernel` and says what to pass to it.
pub(crate) fn build(
    kernel: KernelBuilder,
    program: &Linked,
    special: &Special,
) -> Result<(KernelBuilder, Layout), String> {
    let mut e = Emit::new(kernel, special.target);
    let mut frame = Frame::new(program);
    let mut layout = Layout::default();

    // Scalars first, then buffers: the launcher follows this order.
    let [zero, nx, ny, nz, first, threads] = [(); 6].map(|()| *e.kernel.scalar(U32));
    e.zero_bits = Some(zero);
    let ordered = special.copied.contains(&true).then(|| [(); 2].map(|()| *e.kernel.scalar(U32)));

    // Cubes are folded into two dimensions.
    let [x, y, count, unit, width] = [Cube::CubePosX, Cube::CubePosY, Cube::CubeCountX, Cube::UnitPosX, Cube::CubeDimX]
        .map(|b| Variable::builtin(b, U32));
    let row = e.mul(y, count);
    let cube = e.add(row, x);
    let cube = e.mul(cube, width);
    let thread = e.add(cube, unit);

    let mut roots = vec![];
    for (slot, param) in program.func.params.iter().enumerate() {
        roots.push(match &param.kind {
            ParamKind::Scalar { id, comptime } => {
                let value = scalar(&mut e, program.func.ty(*id), slot, *comptime, special)?;
                frame.set(*id, value);
                None
            }
            ParamKind::Array { elem, access, owned } => {
                let len = *e.kernel.scalar(U32);
                let scalar = storage(&e, *elem);
                let bound = special.bound.get(slot).copied().flatten().filter(|_| *access != Access::Unused);
                let memory = match bound {
                    None => None,
                    Some(first) => {
                        let base = *e.kernel.scalar(U32);
                        let shared = roots.get(first).copied().flatten().and_then(|r: Root| r.memory);
                        if special.copied.get(slot) == Some(&true) {
                            // A copy per thread, which nobody else touches.
                            layout.arrays.push(slot);
                            let stride = e.mul(len, e.u32(elem.components() as u32));
                            let base = e.mul(thread, stride);
                            let memory = Some(bind(&mut e, base, scalar, *access, true)?);
                            roots.push(Some(Root { memory, len, components: elem.components(), scalar }));
                            continue;
                        }
                        let owned = *owned && special.bound.iter().filter(|b| **b == Some(first)).count() == 1;
                        Some(match shared {
                            Some(shared) => Memory { base, ..shared },
                            None => {
                                layout.arrays.push(slot);
                                bind(&mut e, base, scalar, *access, owned)?
                            }
                        })
                    }
                };
                Some(Root { memory, len, components: elem.components(), scalar })
            }
        });
    }

    let pos = e.add(thread, first);
    let inside = e.cmp(Cmp::Lt, thread, threads);
    let mut builder = Builder {
        e,
        roots,
        layout,
        scratch: [None; 2],
        flag: None,
        pos,
        dims: [nx, ny, nz],
        thread,
        threads,
        loops: vec![],
    };
    builder.guarded(inside, ordered, &mut frame)?;
    if builder.e.blocks > MAX_BLOCKS {
        return Err(format!(
            "{} branches and loops, of which a GPU's compiler takes {MAX_BLOCKS}; split the kernel, or use the cpu device",
            builder.e.blocks
        ));
    }
    Ok((builder.e.kernel, builder.layout))
}

/// Type of the scalars of a value in registers.
fn storage(e: &Emit, ty: Ty) -> StorageType {
    match ty {
        Ty::Real | Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => e.real,
        Ty::I32 => I32,
        Ty::U32 | Ty::Usize => U32,
        Ty::Bool => emit::BOOL,
    }
}

fn scalar(e: &mut Emit, ty: Ty, slot: Slot, comptime: bool, special: &Special) -> Result<Val, String> {
    if comptime {
        let bits = special.comptime.get(slot).copied().flatten();
        let bits = bits.ok_or_else(|| format!("the comptime scalar {slot} has no value"))?;
        let (reg, sym) = match ty {
            Ty::Real => (e.f(f64::from_bits(bits)), None),
            Ty::I32 => (e.i32(bits as i32), Some(Sym::Const(i64::from(bits as i32)))),
            Ty::Bool => (e.bool(bits != 0), None),
            Ty::U32 | Ty::Usize => (e.u32(bits as u32), Some(Sym::Const(i64::from(bits as u32)))),
            Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => return Err(format!("parameter {slot}: a {ty} cannot be fixed")),
        };
        return Ok(Val { regs: vec![reg], sym: sym.map(Arc::new) });
    }
    if ty == Ty::Bool {
        let word = *e.kernel.scalar(U32);
        let zero = e.u32(0);
        return Ok(Val::new(vec![e.cmp(Cmp::Ne, word, zero)]));
    }
    if ty.components() != 1 {
        return Err(format!("parameter {slot}: a {ty} cannot be passed by value"));
    }
    let storage = storage(e, ty);
    let reg = *e.kernel.scalar(storage);
    Ok(Val { regs: vec![reg], sym: ty.is_int().then(|| Arc::new(Sym::Scalar(slot))) })
}

fn bind(e: &mut Emit, base: Variable, scalar: StorageType, access: Access, owned: bool) -> Result<Memory, String> {
    use cubecl::ir::Type;
    let atomic = match (access, owned) {
        (Access::Add, false) if e.target.atomic_add || scalar != e.real => Atomic::Add,
        (Access::Fetch, _) => Atomic::Add,
        (Access::Add, false) if e.target.double => {
            return Err("this device adds no f64 atomically; use f32, or the cpu device".into());
        }
        (Access::Add, false) => Atomic::Exchange,
        (Access::Add, true) | (Access::Read | Access::Store | Access::Take | Access::Update | Access::Unused, _) => {
            Atomic::No
        }
    };
    let stored = match atomic {
        Atomic::No => scalar,
        Atomic::Add => StorageType::Atomic(scalar.elem_type()),
        Atomic::Exchange => StorageType::Atomic(U32.elem_type()),
    };
    let array = match access {
        Access::Read => *e.kernel.input_array(Type::new(stored)),
        Access::Store | Access::Add | Access::Take | Access::Update | Access::Fetch | Access::Unused => {
            *e.kernel.output_array(Type::new(stored))
        }
    };
    Ok(Memory { array, base, atomic })
}

impl Builder {
    /// The body, for threads inside the domain: for one position, or, where additions are `ordered`, for so many
    /// positions one after the other, of a total.
    fn guarded<'p>(
        &mut self,
        inside: Variable,
        ordered: Option<[Variable; 2]>,
        frame: &mut Frame<'p>,
    ) -> Result<(), String> {
        let parent = self.e.enter();
        let done = match ordered {
            None => self.block(frame, &frame.program.func.body),
            Some([each, total]) => {
                let lo = self.e.mul(self.thread, each);
                let hi = self.e.add(lo, each);
                let over = self.e.cmp(Cmp::Gt, hi, total);
                let hi = self.e.select(over, total, hi);
                let (outer, i, position) = self.e.begin_loop(lo.ty);
                self.pos = position;
                let done = self.block(frame, &frame.program.func.body);
                self.e.end_loop(outer, i, (lo, hi));
                done
            }
        };
        let scope = self.e.leave(parent);
        self.e.when(inside, scope);
        done
    }

    /// Place of the thread in the domain.
    fn builtin(&mut self, builtin: Builtin) -> Val {
        let [nx, ny, _] = self.dims;
        let (reg, axis) = match builtin {
            Builtin::Pos => (self.pos, 3),
            Builtin::PosX => (self.e.bin(emit::Bin::Rem, self.pos, nx), 0),
            Builtin::PosY => {
                let rows = self.e.div(self.pos, nx);
                (self.e.bin(emit::Bin::Rem, rows, ny), 1)
            }
            Builtin::PosZ => {
                let rows = self.e.div(self.pos, nx);
                (self.e.div(rows, ny), 2)
            }
        };
        Val { regs: vec![reg], sym: Some(Arc::new(Sym::Pos(axis))) }
    }
}
