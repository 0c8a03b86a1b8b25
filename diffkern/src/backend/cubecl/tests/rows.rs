//! Every row of the table of operations: what the builder makes of it, and where there is a device what it gives.

use diffkern_ir::interpret::{Array, Val};
use diffkern_ir::{Row, print, rows};

use super::super::build::{Special, Target};
use super::super::kernel::Kernel;
use super::*;
use crate::linked::Linked;

/// Positions.
const N: usize = 4;

fn row_program(row: &Row) -> &'static Program {
    program(&print(&row.func, &|node| node.0 as usize))
}

#[test]
fn the_builder_knows_every_row() {
    for row in rows() {
        let linked = Linked::of(row_program(&row)).unwrap();
        let slots = row.operands.len() + 1;
        for [double, exact_math] in [[false, false], [false, true], [true, true]] {
            let special = Special {
                target: Target { double, atomic_add: true, exact_math },
                bound: (0..slots).map(Some).collect(),
                copied: vec![],
                comptime: vec![None; slots],
            };
            Kernel::new(linked.clone(), special, 64).map(|_| ()).unwrap_or_else(|e| panic!("{}: {e}", row.name));
        }
    }
}

/// The bits of the elements, one word a scalar.
fn bits(array: &Array) -> Vec<u32> {
    let element = |value: &Val| match value {
        Val::Real(parts) => parts.iter().map(|x| (*x as f32).to_bits()).collect(),
        Val::Int(value) => vec![*value as u32],
        Val::Bool(value) => panic!("{value} in an array"),
    };
    array.iter().flat_map(element).collect()
}

#[test]
fn a_device_gives_what_the_interpreter_gives() {
    let Some(device) = device() else { return };
    for row in rows() {
        let elems: Vec<ElemTy> = row.elems().into_iter().map(elem_ty).collect();
        let buffers: Vec<CubeBuffer> = row.arrays(N).iter().map(|array| words(device, &bits(array))).collect();
        let args: Vec<_> = buffers.iter().zip(&elems).map(|(buffer, elem)| array(buffer, *elem)).collect();
        run(device, row_program(&row), N, &args).unwrap();
        let found = read_words(device, &buffers[row.operands.len()]);
        let expected = bits(&row.outcome(N));
        let close = |(found, expected): (&u32, &u32)| match row.result.is_real() {
            true => {
                let [found, expected] = [*found, *expected].map(f32::from_bits);
                (found - expected).abs() <= 1e-5 * expected.abs().max(1e-2)
            }
            false => found == expected,
        };
        let same = found.len() == expected.len() && found.iter().zip(&expected).all(close);
        assert!(same, "{}: {found:x?}, expected {expected:x?}", row.name);
    }
}
