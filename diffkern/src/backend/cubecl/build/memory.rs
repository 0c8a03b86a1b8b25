//! Elements of arrays, and stacks.

use std::sync::Arc;

use cubecl::ir::{
    AtomicOp, BinaryOperator, Branch, If, IndexOperator, Instruction, Loop, Operator, StorageType, Type, Variable,
};

use super::super::bound::Sym;
use super::emit::{BOOL, Bin, Cmp, I32, U32};
use super::{Atomic, Builder, Frame, Memory, Root, Scratch, Stack, storage};
use diffkern_ir::{BinaryOp, Id, Node, Slot, StackKind, Ty};

/// Stacks of up to this many scalars are registers or local memory; a larger local array takes compilers seconds.
const MAX_LOCAL: i64 = 64;

/// Where a stack is.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// An array of the thread.
    Local { array: Variable, slots: u32 },
    /// Scratch memory, by number in the layout.
    Scratch { number: usize, base: Variable, slots: Variable },
    /// The same, with as many slots as are set in the loops beyond the first `depth` ones.
    Log { number: usize, base: Variable, slots: Variable, depth: usize },
}

/// Refuses what has no bound.
fn unbounded(name: &str) -> String {
    format!(
        "in `{name}` the number of steps of a loop whose values its gradient needs depends on array data, so that its memory \
         cannot be set aside before the launch; bound the loop by a scalar, a constant, a position or an array's length \
         (`for k in 0..count.min(most)`), or use the cpu device"
    )
}

impl Builder {
    fn root(&self, slot: Slot) -> Result<Root, String> {
        self.roots.get(slot).copied().flatten().ok_or_else(|| format!("parameter {slot} is not an array"))
    }

    pub(super) fn zero(&mut self, like: Variable) -> Variable {
        self.zero_of(like.storage_type())
    }

    fn zero_of(&mut self, scalar: StorageType) -> Variable {
        match scalar {
            U32 => self.e.u32(0),
            I32 => self.e.i32(0),
            BOOL => self.e.bool(false),
            _ => self.e.f(0.0),
        }
    }

    pub(super) fn len(&self, slot: Slot) -> Result<Variable, String> {
        self.root(slot).map(|root| root.len)
    }

    /// Place of an element's first scalar.
    fn address(&mut self, root: Root, memory: Memory, index: Variable) -> Variable {
        let offset = self.e.mul(index, self.e.u32(root.components as u32));
        self.e.add(memory.base, offset)
    }

    /// The scalars of an element; an index out of range gives the last one. The launcher binds a zero in place of an
    /// empty array.
    pub(super) fn load(&mut self, slot: Slot, index: Variable) -> Result<Vec<Variable>, String> {
        let root = self.root(slot)?;
        let Some(memory) = root.memory else {
            let zero = if root.scalar == self.e.real {
                self.e.f(0.0)
            } else if root.scalar == I32 {
                self.e.i32(0)
            } else {
                self.e.u32(0)
            };
            return Ok(vec![zero; root.components]);
        };
        if memory.atomic != Atomic::No {
            return Err(format!("parameter {slot} is read and added to"));
        }
        let index = self.e.cast(index, U32);
        // len - 1 of an empty array wraps around; its stand-in has one element.
        let last = self.e.bin(Bin::Sub, root.len, self.e.u32(1));
        let empty = self.e.cmp(Cmp::Eq, root.len, self.e.u32(0));
        let last = self.e.select(empty, self.e.u32(0), last);
        let over = self.e.cmp(Cmp::Gt, index, last);
        let index = self.e.select(over, last, index);
        let first = self.address(root, memory, index);
        let mut regs = vec![];
        for k in 0..root.components {
            let at = self.e.add(first, self.e.u32(k as u32));
            regs.push(self.e.index(memory.array, at, root.scalar));
        }
        Ok(regs)
    }

    /// Sets an element; an index out of range changes nothing.
    pub(super) fn store(&mut self, slot: Slot, index: Variable, regs: &[Variable]) -> Result<(), String> {
        let root = self.root(slot)?;
        let Some(memory) = root.memory else { return Ok(()) };
        if memory.atomic != Atomic::No {
            return Err(format!("parameter {slot} is stored and added to"));
        }
        self.checked(root, memory, index, regs, |b, at, value| b.e.set_index(memory.array, at, value));
        Ok(())
    }

    /// Adds to an element; an index out of range changes nothing.
    pub(super) fn accumulate(&mut self, slot: Slot, index: Variable, regs: &[Variable]) -> Result<(), String> {
        let root = self.root(slot)?;
        let Some(memory) = root.memory else { return Ok(()) };
        self.checked(root, memory, index, regs, |b, at, value| match memory.atomic {
            Atomic::No => {
                let old = b.e.index(memory.array, at, root.scalar);
                let sum = b.e.add(old, value);
                b.e.set_index(memory.array, at, sum);
            }
            Atomic::Add => {
                let lhs = b.pointer(memory.array, at);
                let operator = BinaryOperator { lhs, rhs: value };
                b.e.register(AtomicOp::Add(operator), root.scalar);
            }
            Atomic::Exchange => b.exchange_add(memory.array, at, value),
        });
        Ok(())
    }

    /// Adds to an integer and gives what was there; an index out of range changes nothing and gives zero.
    pub(super) fn fetch(&mut self, slot: Slot, index: Variable, value: Variable) -> Result<Variable, String> {
        let root = self.root(slot)?;
        let zero = self.zero(value);
        let Some(memory) = root.memory else { return Ok(zero) };
        let old = self.e.mutable(root.scalar);
        self.e.assign(old, zero);
        self.checked(root, memory, index, &[value], |b, at, value| {
            let lhs = b.pointer(memory.array, at);
            let found = b.e.register(AtomicOp::Add(BinaryOperator { lhs, rhs: value }), root.scalar);
            b.e.assign(old, found);
        });
        Ok(self.e.read(old))
    }

    fn checked(
        &mut self,
        root: Root,
        memory: Memory,
        index: Variable,
        regs: &[Variable],
        write: impl Fn(&mut Self, Variable, Variable),
    ) {
        let index = self.e.cast(index, U32);
        let inside = self.e.cmp(Cmp::Lt, index, root.len);
        let parent = self.e.enter();
        let first = self.address(root, memory, index);
        for (k, &value) in regs.iter().enumerate() {
            let at = self.e.add(first, self.e.u32(k as u32));
            write(self, at, value);
        }
        let scope = self.e.leave(parent);
        self.e.when(inside, scope);
    }

    fn pointer(&mut self, array: Variable, index: Variable) -> Variable {
        let pointer = *self.e.kernel.scope.create_local(array.ty);
        let op = IndexOperator { list: array, index, vector_size: 0, unroll_factor: 1 };
        self.e.kernel.scope.register(Instruction::new(Operator::UncheckedIndex(op), pointer));
        pointer
    }

    /// Adds a float by exchanges: take what is there and leave zero, put the sum back, and go on with what somebody put
    /// there in between.
    ///
    /// Memory and the threads' `carried` together always hold the sum, and a thread ends when it carries nothing, so no
    /// addition is lost. A compare-and-swap would not do: that of WGSL may fail although the old value is the expected
    /// one (on Metal it does), which CubeCL does not tell apart from success.
    fn exchange_add(&mut self, array: Variable, at: Variable, value: Variable) {
        let pointer = self.pointer(array, at);
        let carried = self.e.mutable(self.e.real);
        self.e.assign(carried, value);
        let parent = self.e.enter();
        let exchange =
            |b: &mut Self, put: Variable| b.e.register(AtomicOp::Swap(BinaryOperator { lhs: pointer, rhs: put }), U32);
        let taken = exchange(self, self.e.u32(0));
        let taken = self.e.float_of(taken);
        let mine = self.e.read(carried);
        let sum = self.e.add(taken, mine);
        let sum = self.e.bits(sum);
        let found = exchange(self, sum);
        let left = self.e.float_of(found);
        self.e.assign(carried, left);
        // Either zero.
        let magnitude = self.e.bin(Bin::And, found, self.e.u32(0x7fff_ffff));
        let done = self.e.cmp(Cmp::Eq, magnitude, self.e.u32(0));
        let inner = self.e.enter();
        self.e.branch(Branch::Break);
        let scope = self.e.leave(inner);
        self.e.branch(Branch::If(Box::new(If { cond: done, scope })));
        let scope = self.e.leave(parent);
        self.e.blocks += 2;
        self.e.branch(Branch::Loop(Box::new(Loop { scope })));
    }

    pub(super) fn stack_new(
        &mut self,
        frame: &mut Frame<'_>,
        stack: u32,
        len: Id,
        kind: StackKind,
    ) -> Result<(), String> {
        let name = &frame.program.func.name;
        let ty = frame.program.stacks.get(stack as usize).copied().flatten();
        let ty = ty.ok_or_else(|| format!("`{name}` has no stack {stack}"))?;
        let sym = frame.get(len)?.sym.clone().ok_or_else(|| unbounded(name))?;
        match frame.stacks[stack as usize] {
            Some(place) => self.stack_again(place, sym)?,
            None => frame.stacks[stack as usize] = Some(self.stack_first(ty, sym, kind)),
        }
        match kind {
            StackKind::Array => self.stack_clear(frame, stack, len),
            StackKind::Turns | StackKind::Log => Ok(()),
        }
    }

    fn stack_first(&mut self, ty: Ty, sym: Arc<Sym>, kind: StackKind) -> Place {
        let components = ty.components();
        match sym.constant() {
            Some(len) if kind != StackKind::Log && len * components as i64 <= MAX_LOCAL => {
                let slots = len.max(1) as u32;
                let scalar = storage(&self.e, ty);
                let scalar = if scalar == BOOL { U32 } else { scalar };
                Place::Local { array: self.e.local_array(scalar, slots as usize * components), slots }
            }
            _ => {
                let number = self.layout.stacks.len();
                self.layout.stacks.push(Stack { components, real: ty.is_real(), lens: vec![sym] });
                let (base, slots) = (*self.e.kernel.scalar(U32), *self.e.kernel.scalar(U32));
                match kind {
                    StackKind::Log => Place::Log { number, base, slots, depth: self.loops.len() },
                    StackKind::Turns | StackKind::Array => Place::Scratch { number, base, slots },
                }
            }
        }
    }

    /// The same stack once more, perhaps of another length.
    fn stack_again(&mut self, place: Place, sym: Arc<Sym>) -> Result<(), String> {
        match place {
            Place::Scratch { number, .. } => {
                self.layout.stacks[number].lens.push(sym);
                Ok(())
            }
            Place::Local { slots, .. } => match sym.constant() {
                Some(len) if len <= i64::from(slots) => Ok(()),
                _ => Err("a stack grows when it is made again".into()),
            },
            Place::Log { .. } => Err("a log is made again".into()),
        }
    }

    /// Sets the slots of an array to zero.
    fn stack_clear(&mut self, frame: &Frame<'_>, stack: u32, len: Id) -> Result<(), String> {
        let ty = frame.program.stacks.get(stack as usize).copied().flatten();
        let zero = self.zero_of(ty.map_or(U32, |ty| storage(&self.e, ty)));
        let end = frame.reg(len)?;
        let (start, end) = (self.e.u32(0), self.e.cast(end, U32));
        let (parent, i, at) = self.e.begin_loop(start.ty);
        let done = self.slot(frame, stack, at).map(|(array, places)| {
            for at in places {
                let zero = self.e.cast(zero, array.storage_type());
                self.e.set_index(array, at, zero);
            }
        });
        self.e.end_loop(parent, i, (start, end));
        done
    }

    /// Makes room in a log for what is set here.
    fn grow(&mut self, frame: &Frame<'_>, stack: u32) -> Result<(), String> {
        let Some(Place::Log { number, depth, .. }) = frame.stacks[stack as usize] else { return Ok(()) };
        let mut times = Arc::new(Sym::Const(1));
        for turns in &self.loops[depth..] {
            let turns = turns.clone().ok_or_else(|| unbounded(&frame.program.func.name))?;
            times = Arc::new(Sym::Binary(BinaryOp::Mul, times, turns));
        }
        let len = &mut self.layout.stacks[number].lens[0];
        *len = Arc::new(Sym::Binary(BinaryOp::Add, len.clone(), times));
        Ok(())
    }

    fn place(&mut self, frame: &Frame<'_>, stack: u32) -> Result<(Place, usize), String> {
        let place = frame.stacks.get(stack as usize).copied().flatten();
        let ty = frame.program.stacks.get(stack as usize).copied().flatten();
        match (place, ty) {
            (Some(place), Some(ty)) => Ok((place, ty.components())),
            _ => Err(format!("stack {stack} of `{}` is used before it is made", frame.program.func.name)),
        }
    }

    /// Array and index of the scalars of a slot. Slots out of range are the last one: nothing else may be touched.
    fn slot(&mut self, frame: &Frame<'_>, stack: u32, at: Variable) -> Result<(Variable, Vec<Variable>), String> {
        let (place, components) = self.place(frame, stack)?;
        let at = self.e.cast(at, U32);
        let slots = match place {
            Place::Local { slots, .. } => self.e.u32(slots),
            Place::Scratch { slots, .. } | Place::Log { slots, .. } => slots,
        };
        let last = self.e.bin(Bin::Sub, slots, self.e.u32(1));
        let over = self.e.cmp(Cmp::Gt, at, last);
        let at = self.e.select(over, last, at);
        let first = self.e.mul(at, self.e.u32(components as u32));
        let mut all = vec![];
        for k in 0..components {
            let scalar = self.e.add(first, self.e.u32(k as u32));
            all.push(match place {
                Place::Local { .. } => scalar,
                // Neighbouring threads touch neighbouring words.
                Place::Scratch { base, .. } | Place::Log { base, .. } => {
                    let row = self.e.add(base, scalar);
                    let row = self.e.mul(row, self.threads);
                    self.e.add(row, self.thread)
                }
            });
        }
        let array = match place {
            Place::Local { array, .. } => array,
            Place::Scratch { number, .. } | Place::Log { number, .. } => self.scratch(self.layout.stacks[number].real),
        };
        Ok((array, all))
    }

    fn scratch(&mut self, real: bool) -> Variable {
        let which = usize::from(real);
        if let Some(array) = self.scratch[which] {
            return array;
        }
        let scalar = if real { self.e.real } else { U32 };
        let array = *self.e.kernel.output_array(Type::new(scalar));
        self.layout.scratch.push(if real { Scratch::Reals } else { Scratch::Words });
        self.scratch[which] = Some(array);
        array
    }

    /// Tells the launcher of a `while` that wants more turns, by its line. Of several threads any may be heard.
    pub(super) fn flag(&mut self, cond: Variable, Node(line): Node) -> Result<(), String> {
        let array = match self.flag {
            Some(array) => array,
            None => {
                let array = *self.e.kernel.output_array(Type::new(U32));
                self.layout.scratch.push(Scratch::Flag);
                *self.flag.insert(array)
            }
        };
        let parent = self.e.enter();
        let (at, value) = (self.e.u32(0), self.e.u32(line.max(1)));
        self.e.set_index(array, at, value);
        let scope = self.e.leave(parent);
        self.e.when(cond, scope);
        Ok(())
    }

    pub(super) fn stack_set(&mut self, frame: &Frame<'_>, stack: u32, at: Id, value: Id) -> Result<(), String> {
        self.grow(frame, stack)?;
        let (array, places) = self.slot(frame, stack, frame.reg(at)?)?;
        for (at, value) in places.into_iter().zip(frame.regs(value)?) {
            let value = match value.storage_type() {
                BOOL => self.e.select(value, self.e.u32(1), self.e.u32(0)),
                I32 => self.e.cast(value, array.storage_type()),
                _ => value,
            };
            self.e.set_index(array, at, value);
        }
        Ok(())
    }

    pub(super) fn stack_get(&mut self, frame: &Frame<'_>, stack: u32, at: Id) -> Result<Vec<Variable>, String> {
        let (array, places) = self.slot(frame, stack, frame.reg(at)?)?;
        let ty = frame.program.stacks.get(stack as usize).copied().flatten();
        let want = ty.map_or(U32, |ty| storage(&self.e, ty));
        let mut regs = vec![];
        for at in places {
            let word = self.e.index(array, at, array.storage_type());
            regs.push(match want {
                BOOL => self.e.cmp(Cmp::Ne, word, self.e.u32(0)),
                _ => self.e.cast(word, want),
            });
        }
        Ok(regs)
    }
}
