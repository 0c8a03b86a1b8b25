//! What a loop keeps for its way back, one slot per turn and lane.

use super::memory::Lanes;
use super::values::{MOST, each, map};
use super::views::lanes_of;

/// Slots of packs. `T` is a pack per component, or a scalar where all lanes keep the same.
pub struct LaneStack<T>(Vec<T>);

impl<T: Copy> LaneStack<T> {
    /// Without slots.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub const fn new() -> Self {
        LaneStack(Vec::new())
    }

    /// At least `len` slots and one, holding anything.
    #[inline(always)]
    pub fn reserve(&mut self, len: u32, any: T) {
        if self.0.len() <= len as usize {
            self.0.resize(len as usize + 1, any);
        }
    }

    /// `len` slots, one at least, that hold `zero`.
    #[inline(always)]
    pub fn clear(&mut self, len: u32, zero: T) {
        self.0.clear();
        self.0.resize((len as usize).max(1), zero);
    }

    /// Sets slot `at` of all lanes: what it has for lanes that are masked off, these never read.
    #[inline(always)]
    pub fn set(&mut self, at: u32, value: T) {
        self.0[at as usize] = value;
    }

    /// What slot `at` holds.
    #[inline(always)]
    pub fn get(&self, at: u32) -> T {
        self.0[at as usize]
    }
}

/// Each lane at a slot of its own. A pack is its lanes in a row, so scalar `k` of pack `c` of slot `a` is scalar
/// `(a C + c) N + k`.
impl<P: Copy, const C: usize> LaneStack<[P; C]> {
    /// Slot `at` in each lane of `m`.
    #[inline(always)]
    pub fn set_each<S: Lanes<R = P>>(&mut self, m: S::M, at: S::I, value: [P; C]) {
        let value = map(value, S::put);
        self.write::<S, S::F>(S::bits(m), &S::put_i(at), &value);
    }

    /// As [`LaneStack::set_each`], integers.
    #[inline(always)]
    pub fn set_each_i<S: Lanes<I = P>>(&mut self, m: S::M, at: S::I, value: [P; C]) {
        let value = map(value, S::put_i);
        self.write::<S, u32>(S::bits(m), &S::put_i(at), &value);
    }

    /// What slot `at` of each lane of `m` holds, anything in the others.
    #[inline(always)]
    pub fn get_each<S: Lanes<R = P>>(&self, m: S::M, at: S::I) -> [P; C] {
        let place = self.place::<S>(m, at);
        let base = self.0.as_ptr().cast::<S::F>();
        // SAFETY: slots that are there.
        each(|c| unsafe { S::gather1(base.add(c * S::N), place)[0] })
    }

    /// As [`LaneStack::get_each`], integers.
    #[inline(always)]
    pub fn get_each_i<S: Lanes<I = P>>(&self, m: S::M, at: S::I) -> [P; C] {
        let place = self.place::<S>(m, at);
        let base = self.0.as_ptr().cast::<u32>();
        // SAFETY: slots that are there.
        each(|c| unsafe { S::gather_i(base.add(c * S::N), place) })
    }

    /// Where the first component of slot `at` is; of slot 0 for lanes that are masked off.
    #[inline(always)]
    fn place<S: Lanes>(&self, m: S::M, at: S::I) -> S::I {
        let at = S::select_i(m, at, S::splat_i(0));
        let there = S::lt_u(at, S::splat_i(self.0.len() as u32));
        assert!(S::full(there) && self.0.len() * C * S::N < 1 << 31, "a mistake in generated code");
        S::add_i(S::mul_i(at, S::splat_i((C * S::N) as u32)), S::count())
    }

    fn write<S: Lanes, E: Copy>(&mut self, mask: u32, at: &[u32; MOST], value: &[[E; MOST]; C]) {
        assert!(size_of::<P>() == S::N * size_of::<E>(), "a mistake in generated code");
        for k in lanes_of(mask) {
            let slot = &raw mut self.0[at[k] as usize];
            for (c, value) in value.iter().enumerate() {
                // SAFETY: a slot is `C` packs of `N` scalars.
                unsafe { slot.cast::<E>().add(c * S::N + k).write(value[k]) };
            }
        }
    }
}

/// The same for truth values.
impl<P: Copy> LaneStack<[P; 1]> {
    /// Slot `at` in each lane of `m`.
    #[inline(always)]
    pub fn set_each_m<S: Lanes<M = P>>(&mut self, m: S::M, at: S::I, [value]: [P; 1]) {
        let (at, value) = (S::put_i(at), S::bits(value));
        for k in lanes_of(S::bits(m)) {
            let slot = &mut self.0[at[k] as usize];
            *slot = [S::from_bits(S::bits(slot[0]) & !(1 << k) | value & 1 << k)];
        }
    }

    /// What slot `at` of each lane of `m` holds, false in the others.
    #[inline(always)]
    pub fn get_each_m<S: Lanes<M = P>>(&self, m: S::M, at: S::I) -> [P; 1] {
        let at = S::put_i(at);
        let bits = lanes_of(S::bits(m)).fold(0, |bits, k| bits | S::bits(self.0[at[k] as usize][0]) & 1 << k);
        [S::from_bits(bits)]
    }
}
