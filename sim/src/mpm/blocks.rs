//! The grid in blocks of 64 nodes, and which of them hold anything.
//!
//! Nodes are stored block by block, a block's last axis fastest: the nodes of a particle lie in few pages, and blocks that
//! no particle reaches need no memory and no time. A table gives the first node of each block, or [`NOWHERE`]. Its last
//! entry, of no block, is always that: particles outside the grid look there, so that the launch reports them.
//!
//! Sparse grids by blocks: Setaluri, Aanjaneya, Bauer, Sifakis: SPGrid, 2014.

use super::lattice::Grid;
use super::occupied::{flag_blocks, mark_blocks, number_blocks};
use diffkern::memory::{collect, with_room};
use diffkern::ops;
use diffkern::prelude::*;

/// Nodes of a block: 8 x 8 in the plane, 4 x 4 x 4 in space.
pub const NODES: usize = 64;

/// Nodes of a block along each axis.
pub(super) const fn side<D: Dimension>() -> usize {
    1 << (6 / D::AXES)
}

/// What the table holds for a block without nodes. With a node's place in its block it is still past the end of every grid.
pub const NOWHERE: u32 = u32::MAX - (NODES as u32 - 1);

/// Which blocks of the grid a step works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blocks {
    /// Those that particles reach, where the grid has so many more nodes than there are particles that finding them pays,
    /// and reading how many there are costs next to nothing: on the CPU.
    #[default]
    Auto,
    /// All of them.
    All,
    /// Those that particles reach, found before each step. Their number is read to the host.
    Occupied,
}

/// Nodes up to which finding the occupied blocks costs more than the others do, beside two for each particle: one step is
/// some ten launches longer.
pub(crate) const FEW_NODES: usize = 1 << 14;

impl Blocks {
    /// Whether to look for the occupied blocks.
    pub(crate) fn sparse(self, device: &Device, nodes: usize, particles: usize) -> bool {
        match self {
            Blocks::Auto => device.name() == "cpu" && nodes > FEW_NODES + 2 * particles,
            Blocks::All => false,
            Blocks::Occupied => true,
        }
    }
}

/// Blocks that have nodes, in the order of the grid.
#[derive(Clone, Debug)]
pub struct Active {
    /// By block: its first node, or [`NOWHERE`]; one entry more.
    pub(crate) table: Array<u32>,
    /// By 64 nodes: their block.
    pub(crate) list: Array<u32>,
}

impl Active {
    /// All blocks of a grid.
    pub(super) fn all<D: Dimension>(device: &Device, grid: &Grid<D>) -> diffkern::Result<Active> {
        let blocks = grid.block_count() as u32;
        let list: Vec<u32> = collect(0..blocks)?;
        let mut table: Vec<u32> = with_room(list.len() + 1)?;
        table.extend(list.iter().map(|b| b * NODES as u32).chain([NOWHERE]));
        Ok(Active { table: device.array(&table)?, list: device.array(&list)? })
    }

    /// The blocks of the nodes of particles with these [`base_nodes`](super::occupied), which are at most one off.
    pub(super) fn around<D: Dimension>(grid: &Grid<D>, bases: &Array<u32>) -> diffkern::Result<Active> {
        let (device, blocks, [_, y, z]) = (bases.device(), grid.block_count(), grid.block_counts());
        let marks = device.zeros::<u32>(blocks)?;
        mark_blocks(bases.len(), bases, &marks)?;
        let flags = device.uninit::<u32>(blocks + 1)?;
        flag_blocks(blocks + 1, &marks, &flags, y, z)?;
        let before = ops::exclusive_sum_u32(&flags)?;
        let count = before.slice(blocks..blocks + 1)?.to_vec()?[0] as usize;
        let table = device.uninit(blocks + 1)?;
        let list = device.uninit(count)?;
        number_blocks(blocks + 1, &flags, &before, &table, &list)?;
        Ok(Active { table, list })
    }

    /// Number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.list.len() * NODES
    }
}
