//! Do two threads of a launch store to one element?
//!
//! What the macro has not proved from the source is found out before the launch, where a list of indices decides (once for
//! each version of the list), or while it runs on the host, store by store. On a GPU what is still open then is refused.

mod digits;

use std::sync::atomic::AtomicU32;

use crate::buffer::{Backend, Buffer, Entries, LaunchArg};
use crate::domain::Domain;
#[cfg(feature = "cubecl")]
use crate::error::Error;
use crate::error::Result;
use crate::few::Few;
#[cfg(feature = "cubecl")]
use crate::kernel::KernelDef;
use crate::kernel::{Access, Indices, ParamKind, Program, Write};
use crate::memory;
use digits::Counts;

/// The arrays of which it is not known that no two threads store to one element.
pub(super) fn unproven(
    backend: &dyn Backend,
    program: &'static Program,
    domain: Domain,
    args: &[LaunchArg<'_, Buffer>],
) -> Result<Few<usize, 4>> {
    let mut unproven = Few::new();
    if program.writes.is_empty() {
        return Ok(unproven);
    }
    let Some(dims) = domain.extent() else { return Ok(unproven) };
    let threads = dims.iter().product::<u32>();
    for write in program.writes {
        // With debug assertions the CPU looks at promises, too: nothing else would find a wrong one.
        let believed = write.promised && !(cfg!(debug_assertions) && backend.is_cpu());
        if threads > 1 && !believed && !proved(backend, write, dims, args)? {
            unproven.push(write.slot);
        }
    }
    Ok(unproven)
}

fn proved(backend: &dyn Backend, write: &Write, dims: [u32; 3], args: &[LaunchArg<'_, Buffer>]) -> Result<bool> {
    let threads = dims.iter().product();
    match write.indices {
        Indices::Digits { forms } => Ok(Counts { dims, args }.tell_apart(forms)),
        Indices::Listed { by, stride } => match (args[by], args[write.slot]) {
            (
                LaunchArg::Buffer { buffer, offset, len, .. },
                LaunchArg::Buffer { len: elements, .. }
                | LaunchArg::Place { len: elements, .. }
                | LaunchArg::Absent { len: elements },
            ) => {
                let entries = Entries { first: offset, count: len.min(threads), stride, elements };
                buffer.are_distinct(entries, || distinct(backend, buffer, entries))
            }
            _ => Ok(false),
        },
        Indices::Anywhere => Ok(false),
    }
}

/// Whether no two entries name elements in common.
fn distinct(backend: &dyn Backend, list: &Buffer, entries: Entries) -> Result<bool> {
    let mut bytes = memory::filled(entries.count as usize * size_of::<u32>(), 0u8)?;
    backend.download((list, entries.first as usize * size_of::<u32>()), &mut bytes)?;
    let mut seen = memory::filled((entries.elements / entries.stride / u64::BITS) as usize + 1, 0u64)?;
    for entry in bytes.as_chunks().0.iter().map(|&word| u32::from_ne_bytes(word)) {
        let Some(first) = entry.checked_mul(entries.stride) else { return Ok(false) };
        if first >= entries.elements {
            continue;
        }
        let (word, bit) = (&mut seen[(entry / u64::BITS) as usize], 1 << (entry % u64::BITS));
        if *word & bit != 0 || first.checked_add(entries.stride).is_none() {
            return Ok(false);
        }
        *word |= bit;
    }
    Ok(true)
}

/// A zero for each element of the arrays at these slots.
pub(super) fn notes(slots: &[usize], args: &[LaunchArg<'_, Buffer>]) -> Result<Vec<(usize, Vec<AtomicU32>)>> {
    let one = |&slot: &usize| match args[slot] {
        LaunchArg::Buffer { len, .. } => Ok((slot, memory::collect((0..len as usize).map(|_| AtomicU32::new(0)))?)),
        _ => Ok((slot, Vec::new())),
    };
    slots.iter().map(one).collect()
}

/// Why a launch does not run on a device that cannot look at each store.
#[cfg(feature = "cubecl")]
pub(super) fn refused(def: &'static KernelDef, program: &'static Program, slot: usize) -> Error {
    let listed = program.writes.iter().find_map(|write| match write.indices {
        Indices::Listed { by, .. } if write.slot == slot => Some(program.params[by].name),
        _ => None,
    });
    let why = match listed {
        Some(list) => format!("`{list}` names an element twice"),
        None => "the source does not tell that they are, and only the CPU looks at each store".to_owned(),
    };
    Error::Argument {
        kernel: def.name,
        param: program.params[slot].name,
        reason: format!(
            "it is stored to at indices that have to be different in all threads, and {why}; {}. Where you know that they \
             are, say so: `#[diff_kernel(injective)]`",
            way_out(program, slot)
        ),
    }
}

/// What the author can do.
pub(super) fn way_out(program: &'static Program, slot: usize) -> &'static str {
    match program.params.get(slot).map(|param| param.kind) {
        Some(ParamKind::Array { access: Access::Update, .. }) => {
            "store to each element from one thread, or write to a second array that this kernel does not read"
        }
        _ => "store to each element from one thread, or accumulate with `+=`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are(list: &[u32], entries: (u32, u32), stride: u32, elements: u32) -> Result<bool> {
        let cpu = crate::Device::cpu();
        let list = cpu.array(list)?;
        let entries = Entries { first: entries.0, count: entries.1, stride, elements };
        distinct(&**cpu.backend(), &list.as_any().buffer(), entries)
    }

    #[test]
    fn entries_of_a_list_are_compared() -> Result<()> {
        let list = [3, 0, 64, 65, 3, 1 << 31, u32::MAX];
        assert!(are(&list, (0, 4), 1, 66)?);
        assert!(!are(&list, (0, 5), 1, 66)?);
        assert!(are(&list, (1, 4), 1, 66)?, "from the second on");
        assert!(are(&list, (0, 7), 1, 3)?, "beyond the array nothing is stored");
        assert!(!are(&list, (0, 5), 3, 10)?);
        assert!(are(&list, (1, 4), 3, 200)?);
        assert!(!are(&list, (5, 1), 2, 9)?, "twice this is zero in 32 bits");
        assert!(are(&list, (0, 0), 1, 0)?);
        Ok(())
    }
}
