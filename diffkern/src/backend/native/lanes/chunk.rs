//! What a body of lanes takes from its chunk.

use super::super::args::{Fault, HostArg};
use super::super::chunk::Chunk;
use super::super::own::Covered;
use super::acc::LaneAcc;
use super::acc_once::LaneAccOnce;
use super::memory::Lanes;
use super::own::LaneOwn;
use super::values::MOST;
use super::views::{LaneIn, LaneOut, LaneTake, consecutive};
use crate::element::{Element, Scalar};
use crate::kernel::Access;

impl Chunk<'_> {
    /// Why packs cannot run: an array has more scalars than they have offsets for, or lacks what they read beyond an element.
    pub(in super::super) fn unfit_for_lanes(&self) -> Option<Fault> {
        self.args.iter().enumerate().find_map(|(slot, arg)| {
            let (elem, len, read) = match arg {
                HostArg::Array(array) => (array.elem, array.len, array.access != Access::Read || array.padded),
                HostArg::Absent { elem, len, .. } => (*elem, *len, true),
                _ => return None,
            };
            let scalars = len as usize * elem.components();
            let unpadded =
                || Fault::Panicked { message: format!("there is no memory beyond the array in slot {slot}") };
            match scalars < 1 << 31 {
                true => (!read).then(unpadded),
                false => Some(Fault::TooLong { slot, scalars }),
            }
        })
    }

    /// Notes that a lane has left an array.
    pub fn suspect(&self) {
        self.suspect.set(true);
    }

    /// The first position and how many there are.
    #[inline(always)]
    pub fn positions(&self) -> (u32, u32) {
        (self.start, self.end - self.start)
    }

    /// As [`Chunk::read`].
    #[inline(always)]
    pub fn lanes_read<S: Lanes, T: Element>(&self, slot: usize) -> LaneIn<'_, S, T> {
        let one = self.read::<T>(slot);
        let (base, len) = one.memory();
        // Of an empty array, lanes that are masked off read zeros.
        let base = if len == 0 { self.zeros.as_ptr().cast() } else { base };
        LaneIn::new(one, base, len)
    }

    /// As [`Chunk::store`].
    #[inline(always)]
    pub fn lanes_store<S: Lanes, T: Element>(&self, slot: usize) -> LaneOut<'_, S, T> {
        let one = self.store::<T>(slot);
        let target = one.target();
        LaneOut::new(one, target, &self.position)
    }

    /// As [`Chunk::add`]; `fixed`: additions that every pack makes.
    #[inline(always)]
    pub fn lanes_add<S: Lanes, T: Element>(&self, slot: usize, fixed: usize) -> LaneAcc<'_, S, T> {
        let one = self.add::<T>(slot);
        let target = one.target();
        LaneAcc::new(one, target, fixed, &self.lines)
    }

    /// As [`Chunk::add_once`].
    #[inline(always)]
    pub fn lanes_add_once<S: Lanes, T: Element<Scalar = S::F>>(&self, slot: usize, _: usize) -> LaneAccOnce<'_, S, T> {
        LaneAccOnce::new(self.add_once::<T>(slot))
    }

    /// As [`Chunk::take`].
    #[inline(always)]
    pub fn lanes_take<S: Lanes, T: Element<Scalar = S::F>>(&self, slot: usize) -> LaneTake<'_, S, T> {
        LaneTake::new(self.take::<T>(slot))
    }

    /// As [`Chunk::take_once`].
    #[inline(always)]
    pub fn lanes_take_once<S: Lanes, T: Element<Scalar = S::F>>(&self, slot: usize) -> LaneTake<'_, S, T> {
        LaneTake::new(self.take_once::<T>(slot))
    }

    /// The array at `slot`, to read, where [`Chunk::covered_by_all`] gave `covered`.
    #[inline(always)]
    pub fn lanes_own_read<S: Lanes, T: Element>(&self, slot: usize, covered: Covered) -> LaneOwn<'_, S, T> {
        let (base, len) = self.source(slot, T::ELEM, T::Scalar::TY);
        LaneOwn::read(base.cast(), len, covered)
    }

    /// The array at `slot`, to add to or to take from, once, where [`Chunk::covered_by_all`] gave `covered`.
    #[inline(always)]
    pub fn lanes_own_write<S: Lanes, T: Element>(&self, slot: usize, covered: Covered) -> LaneOwn<'_, S, T> {
        LaneOwn::write(self.target(slot, T::ELEM, T::Scalar::TY), covered)
    }

    /// As [`Chunk::pos_x`], of the pack that begins at `p`.
    #[inline(always)]
    pub fn lanes_pos_x<S: Lanes>(&self, p: u32) -> S::I {
        if self.dims[1] == 1 && self.dims[2] == 1 { consecutive::<S>(p) } else { S::get_i(&self.lanes_pos(p)[0]) }
    }

    /// As [`Chunk::pos_y`], of the pack that begins at `p`.
    #[inline(always)]
    pub fn lanes_pos_y<S: Lanes>(&self, p: u32) -> S::I {
        if self.dims[1] == 1 && self.dims[2] == 1 { S::splat_i(0) } else { S::get_i(&self.lanes_pos(p)[1]) }
    }

    /// As [`Chunk::pos_z`], of the pack that begins at `p`.
    #[inline(always)]
    pub fn lanes_pos_z<S: Lanes>(&self, p: u32) -> S::I {
        if self.dims[2] == 1 { S::splat_i(0) } else { S::get_i(&self.lanes_pos(p)[2]) }
    }

    /// x, y and z of the positions from `p` on: one division, then counting.
    #[inline(never)]
    fn lanes_pos(&self, p: u32) -> [[u32; MOST]; 3] {
        let mut all = [[0; MOST]; 3];
        let [xs, ys, zs] = &mut all;
        let (mut x, mut y, mut z) = (self.pos_x(p), self.pos_y(p), self.pos_z(p));
        for ((at_x, at_y), at_z) in xs.iter_mut().zip(ys).zip(zs) {
            (*at_x, *at_y, *at_z) = (x, y, z);
            x += 1;
            if x == self.dims[0] {
                (x, y) = (0, y + 1);
            }
            if y == self.dims[1] {
                (y, z) = (0, z + 1);
            }
        }
        all
    }
}
