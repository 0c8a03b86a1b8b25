//! Adjoints while they are collected.

use diffkern_ir::{Id, Op};

use super::Adjoint;

/// The adjoint of one value: the sum of `whole` and of `parts`, each absent while it is zero.
#[derive(Clone, Default, PartialEq)]
pub struct Bar {
    whole: Option<Id>,
    /// By component, empty or all of them; so that reading components one by one costs no vector of zeros each.
    parts: Vec<Option<Id>>,
}

impl Bar {
    pub fn of(whole: Option<Id>) -> Self {
        Self { whole, parts: Vec::new() }
    }

    fn is_zero(&self) -> bool {
        self.whole.is_none() && self.parts.iter().all(Option::is_none)
    }
}

impl Adjoint<'_> {
    pub fn add_bar(&mut self, id: Id, term: Id) {
        if self.is_varied(id) {
            let whole = self.bars[id.0 as usize].whole;
            self.bars[id.0 as usize].whole = Some(self.sum(whole, term));
        }
    }

    /// Adds to the adjoint of component `k` of `id`.
    pub fn add_part(&mut self, id: Id, k: usize, term: Id) {
        if self.is_varied(id) {
            let count = self.primal.ty(id).components();
            self.bars[id.0 as usize].parts.resize(count, None);
            let part = self.bars[id.0 as usize].parts[k];
            self.bars[id.0 as usize].parts[k] = Some(self.sum(part, term));
        }
    }

    fn sum(&mut self, old: Option<Id>, term: Id) -> Id {
        match old {
            Some(old) => self.b.add(old, term),
            None => term,
        }
    }

    pub fn bar(&self, id: Id) -> &Bar {
        &self.bars[id.0 as usize]
    }

    pub fn set_bar(&mut self, id: Id, bar: Bar) {
        self.bars[id.0 as usize] = bar;
    }

    pub fn take_parts(&mut self, id: Id) -> Bar {
        std::mem::take(&mut self.bars[id.0 as usize])
    }

    pub fn has_bar(&self, id: Id) -> bool {
        !self.bar(id).is_zero()
    }

    /// A value that is to be the adjoint of `id`.
    pub fn fresh_bar(&mut self, id: Id) -> Id {
        let bar = self.b.fresh(self.primal.ty(id));
        self.b.func.name_after(bar, id, "_bar");
        bar
    }

    /// The adjoint of `id` as one value.
    pub fn take_bar(&mut self, id: Id) -> Option<Id> {
        let bar = self.whole_bar(id)?;
        self.b.func.name_after(bar, id, "_bar");
        Some(bar)
    }

    fn whole_bar(&mut self, id: Id) -> Option<Id> {
        let bar = self.take_parts(id);
        if bar.parts.iter().all(Option::is_none) {
            return bar.whole;
        }
        let zero = self.b.real(0.0);
        let parts = bar.parts.iter().map(|part| part.unwrap_or(zero)).collect();
        let parts = self.b.op(self.primal.ty(id), Op::Compose(parts));
        Some(self.sum(bar.whole, parts))
    }

    pub fn take_bar_or_zero(&mut self, id: Id) -> Id {
        match self.take_bar(id) {
            Some(bar) => bar,
            None => self.b.zero(self.primal.ty(id)),
        }
    }

    /// The adjoint of component `k`, out of the bar of a vector or matrix.
    pub fn part_of(&mut self, bar: &Bar, k: usize) -> Option<Id> {
        let part = bar.parts.get(k).copied().flatten();
        match bar.whole {
            None => part,
            Some(whole) => {
                let component = self.b.extract(whole, k);
                Some(self.sum(part, component))
            }
        }
    }

    /// The bar without its component `k`.
    pub fn without_part(&mut self, id: Id, mut bar: Bar, k: usize) -> Bar {
        if let Some(part) = bar.parts.get_mut(k) {
            *part = None;
        }
        if let Some(whole) = bar.whole {
            let zero = self.b.real(0.0);
            bar.whole = Some(self.b.op(self.primal.ty(id), Op::Insert(whole, k as u8, zero)));
        }
        bar
    }

    pub fn add_whole_and_parts(&mut self, id: Id, bar: &Bar) {
        if let Some(whole) = bar.whole {
            self.add_bar(id, whole);
        }
        for (k, part) in bar.parts.iter().enumerate() {
            if let Some(part) = part {
                self.add_part(id, k, *part);
            }
        }
    }
}
