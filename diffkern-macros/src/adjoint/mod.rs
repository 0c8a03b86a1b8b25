//! The adjoint of a function: a function from IR to IR.
//!
//! A block becomes its own statements (without what they write) and then their reverses from last to first:
//!
//! ```text
//! %2 = mul %1 %1                    %2 = mul %1 %1
//! store 1 %0 %2                     %3 = take 3 %0          adjoint of %2
//!                                   %4 = mul %3 %1          twice, for each operand
//!                                   %5 = add %4 %4          adjoint of %1
//! ```
//! - `if`: an `if` on the same condition; each side replays its branch and reverses it.
//! - `for`: the forward loop keeps on stacks what its carried values are when a turn starts; the reverse loop goes
//!   through the turns from the last, replays each from there and reverses it. The stack of an inner loop is filled
//!   anew in each turn of the outer one, so memory is the sum of the turns, not the product.
//!
//! - a local array in memory: stores are undone on the way back, see [`memory`].
//!
//! All of this is written without regard to what is read; [`crate::simplify`] then removes what is not, so that the
//! adjoint of a sum keeps nothing.

mod bars;
mod control;
mod memory;
mod products;
mod replay;
mod statements;

use std::collections::HashMap;

use diffkern_ir::{Access, Block, Func, FuncKind, Id, Param, ParamKind, Slot, verify};

use crate::access::set_access;
use crate::activity::{is_real_array, useful, varied};
use crate::builder::Builder;
use crate::reach::{Reached, reached};
use crate::simplify::simplify;

use bars::Bar;
use memory::{Memory, Undo};

/// The adjoint of a kernel or the vector-Jacobian product of a device function, simplified.
///
/// Parameters are those of the primal, then for a device function one scalar for the adjoint of each real result, then
/// one bar array for each real array parameter. A kernel writes bar arrays only; a device function also returns the
/// adjoint of each real value parameter.
///
/// Its guards are still to be told from the tests of the source; [`crate::guard::lower`] ends that.
pub fn adjoint(primal: &Func) -> Func {
    reverse(primal, varied(primal))
}

/// The part of the adjoint that a hand-written one leaves to the launcher: the adjoint of what a store has overwritten
/// is zero. As if all that is stored were constant; parameters are those of the adjoint.
pub fn clearing(primal: &Func) -> Func {
    reverse(primal, vec![false; primal.types.len()])
}

fn reverse(primal: &Func, varied: Vec<bool>) -> Func {
    let mut func = primal.clone();
    let mut seeds = Vec::new();
    if primal.kind == FuncKind::DiffFn {
        for (k, result) in primal.body.yields.iter().enumerate() {
            let ty = primal.ty(*result);
            if ty.is_real() {
                let id = func.fresh(ty);
                seeds.push((*result, id));
                let kind = ParamKind::Scalar { id, comptime: false };
                let name = format!("result{k}_bar");
                func.names.insert(id, name.clone());
                func.params.push(Param { name, kind });
            }
        }
    }
    let bar_slots = add_arrays(&mut func, primal, "bar");

    let mut state = Adjoint {
        primal,
        b: Builder::new(func),
        copy: (0..primal.types.len() as u32).map(Id).collect(),
        renames: false,
        bars: vec![Bar::default(); primal.types.len()],
        varied,
        useful: useful(primal),
        reached: reached(primal),
        bar_slots,
        tapes: HashMap::new(),
        memory: HashMap::new(),
        undo: Vec::new(),
    };
    state.replay(&primal.body.stmts, true);
    state.renames = true;
    for (result, seed) in seeds {
        state.add_bar(result, seed);
    }
    state.reverse(&primal.body.stmts);
    let mut yields = Vec::new();
    if primal.kind == FuncKind::DiffFn {
        for param in &primal.params {
            if let ParamKind::Scalar { id, .. } = param.kind
                && primal.ty(id).is_real()
            {
                yields.push(state.take_bar_or_zero(id));
            }
        }
    }
    let mut func = state.b.func;
    func.body = Block { stmts: state.b.stmts, yields };
    let bars: Vec<Slot> = state.bar_slots.iter().flatten().copied().collect();
    set_access(&mut func, &bars);
    simplify(&mut func);
    set_access(&mut func, &bars);
    debug_assert_eq!(verify(&func), Ok(()));
    func
}

/// Appends an array parameter for each real array parameter of the primal; says which.
pub fn add_arrays(func: &mut Func, primal: &Func, suffix: &str) -> Vec<Option<Slot>> {
    let mut slots = vec![None; primal.params.len()];
    for (slot, param) in primal.params.iter().enumerate() {
        let ParamKind::Array { elem, owned, .. } = param.kind else { continue };
        if is_real_array(primal, slot) {
            slots[slot] = Some(func.params.len());
            let kind = ParamKind::Array { elem, access: Access::Unused, owned };
            func.params.push(Param { name: format!("{}_{suffix}", param.name), kind });
        }
    }
    slots
}

struct Adjoint<'a> {
    primal: &'a Func,
    b: Builder,
    /// The copy in scope of each value of the primal.
    copy: Vec<Id>,
    /// Whether a replay makes new names: all do but the first, of the whole body.
    renames: bool,
    /// What has been collected of the adjoint of each value of the primal.
    bars: Vec<Bar>,
    varied: Vec<bool>,
    useful: Vec<bool>,
    reached: Reached,
    bar_slots: Vec<Option<Slot>>,
    /// What the forward run of a loop left, by the loop's index.
    tapes: HashMap<Id, Tape>,
    /// Local arrays in memory that are in scope in the block that is reversed.
    memory: HashMap<u32, Memory>,
    /// What statements left that are replayed and not yet reversed.
    undo: Vec<Undo>,
}

/// What a loop was when it ran forward.
#[derive(Default)]
struct Tape {
    /// One per carried value: what it was when each turn began.
    stacks: Vec<u32>,
    /// One per log: how many stores it had when each turn began.
    tops: Vec<u32>,
    /// One beyond the last turn that ran, of a loop that may end early.
    end: Option<Id>,
}

impl Adjoint<'_> {
    fn val(&self, id: Id) -> Id {
        self.copy[id.0 as usize]
    }

    fn is_varied(&self, id: Id) -> bool {
        self.varied[id.0 as usize]
    }

    fn is_reached(&self, id: Id) -> bool {
        self.reached.get(id)
    }
}
