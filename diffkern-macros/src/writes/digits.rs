//! Indices as numbers of several digits.
//!
//! `(z * h + y) * w + x` has the digits `x`, `y` and `z` with the weights 1, `w` and `w h`. Threads with different digits have
//! different elements if no digit reaches the weight of the next: that is for the launcher to see, which knows `w` and `h` and
//! the domain. What is added to all indices makes no difference, nor does a digit that counts down in all of them.

use diffkern_ir::{BinaryOp, Builtin, Id, Lit, Op, Slot};

use super::Look;

/// A number that all threads have, and the launcher too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    Number(u32),
    /// A parameter.
    Scalar(Slot),
    /// The length of an array.
    Len(Slot),
}

/// What an index counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Digit {
    Pos,
    X,
    Y,
    Z,
    /// Of `ABSOLUTE_POS` by a number: the quotient, the remainder.
    Quotient(Extent),
    Remainder(Extent),
    /// Not of the thread: what it stores to many elements by.
    Below(Extent),
}

/// A digit and the product that it is multiplied by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub digit: Digit,
    pub negative: bool,
    /// In order.
    pub weight: Vec<Extent>,
}

/// A product without a digit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Product {
    negative: bool,
    factors: Vec<Extent>,
}

/// Terms by increasing weight, each of which divides the next.
pub type Form = Vec<Term>;

/// A sum: what has a digit and what has none.
#[derive(Clone, Default, PartialEq)]
struct Sum {
    terms: Vec<Term>,
    rest: Vec<Product>,
}

/// The forms of several indices, if threads with different digits have different elements by all of them.
pub(super) fn forms(look: &Look, indices: impl Iterator<Item = Id>) -> Option<Vec<Form>> {
    let mut sums: Vec<Sum> = indices.map(|index| look.sum(index)).collect::<Option<_>>()?;
    let same = sums.iter().all(|sum| sum.rest == sums[0].rest);
    for sum in &mut sums {
        let rest = std::mem::take(&mut sum.rest);
        if !same {
            sum.terms.extend(below(&rest)?);
        }
    }
    let mut forms: Vec<Form> = sums.into_iter().map(|sum| ordered(sum.terms)).collect::<Option<_>>()?;
    let of_thread = |form: &Form| -> Vec<Term> { form.iter().filter(|term| term.of_thread()).cloned().collect() };
    let weights = |form: &Form| -> Vec<Vec<Extent>> { form.iter().map(|term| term.weight.clone()).collect() };
    let (first, all) = (of_thread(&forms[0]), weights(&forms[0]));
    // By one form a thread has a stretch of elements; by another it may have any others, but of this stretch.
    let stretch = |form: &Form| first.len() == 1 && form.last() == first.first();
    let alike = forms.iter().all(|form| of_thread(form) == first)
        && (forms.iter().all(stretch) || forms.iter().all(|form| weights(form) == all));
    forms.dedup();
    (alike && !first.is_empty()).then_some(forms)
}

/// A number that is added to some indices and not to others, as a digit.
fn below(rest: &[Product]) -> Option<Option<Term>> {
    let number = rest.iter().try_fold(0u32, |sum, product| match product.factors[..] {
        [Extent::Number(n)] if !product.negative => sum.checked_add(n),
        _ => None,
    })?;
    let end = Extent::Number(number.checked_add(1)?);
    Some((number > 0).then(|| Term::of(Digit::Below(end))))
}

fn ordered(mut terms: Vec<Term>) -> Option<Form> {
    terms.sort_by_key(|term| term.weight.len());
    let chain = terms.windows(2).all(|pair| match quotient(&pair[1].weight, &pair[0].weight) {
        None => false,
        // Of one weight: only what no thread differs by.
        Some(left) => !left.is_empty() || pair.iter().all(|term| !term.of_thread()),
    });
    chain.then_some(terms)
}

/// What is left of a product without the factors of another.
pub fn quotient(product: &[Extent], by: &[Extent]) -> Option<Vec<Extent>> {
    let mut left = product.to_vec();
    for factor in by {
        left.remove(left.iter().position(|other| other == factor)?);
    }
    Some(left)
}

impl Term {
    pub fn of_thread(&self) -> bool {
        !matches!(self.digit, Digit::Below(_))
    }

    fn of(digit: Digit) -> Term {
        Term { digit, negative: false, weight: Vec::new() }
    }

    fn times(mut self, by: &Product) -> Term {
        self.weight.extend(&by.factors);
        self.weight.sort();
        self.negative ^= by.negative;
        self
    }
}

impl Product {
    fn times(mut self, by: &Product) -> Product {
        self.factors.extend(&by.factors);
        self.factors.sort();
        self.negative ^= by.negative;
        self
    }
}

impl Sum {
    fn times(self, by: &Product) -> Sum {
        Sum {
            terms: self.terms.into_iter().map(|term| term.times(by)).collect(),
            rest: self.rest.into_iter().map(|product| product.times(by)).collect(),
        }
    }

    /// None where a thread's digit is there twice: `i - i` is none.
    fn plus(mut self, other: Sum) -> Option<Sum> {
        let twice = |term: &Term| term.of_thread() && self.terms.iter().any(|own| own.digit == term.digit);
        if other.terms.iter().any(twice) {
            return None;
        }
        self.terms.extend(other.terms);
        self.rest.extend(other.rest);
        Some(self)
    }
}

impl Look {
    fn extent(&self, id: Id) -> Option<Extent> {
        let id = self.uncast(id);
        match self.operations.get(&id) {
            Some(Op::Const(Lit::Int(n))) => u32::try_from(*n).ok().map(Extent::Number),
            Some(Op::Len(slot)) => Some(Extent::Len(*slot)),
            _ => self.scalars.get(&id).map(|slot| Extent::Scalar(*slot)),
        }
    }

    fn sum(&self, id: Id) -> Option<Sum> {
        let id = self.uncast(id);
        let digit = |digit: Digit| Some(Sum { terms: vec![Term::of(digit)], rest: Vec::new() });
        match self.extent(id) {
            Some(Extent::Number(0)) => return Some(Sum::default()),
            Some(extent) => {
                let product = Product { negative: false, factors: vec![extent] };
                return Some(Sum { terms: Vec::new(), rest: vec![product] });
            }
            None => {}
        }
        if let Some(end) = self.turns.get(&id) {
            return digit(Digit::Below(self.extent(*end)?));
        }
        match *self.operations.get(&id)? {
            Op::Builtin(builtin) => digit(match builtin {
                Builtin::Pos => Digit::Pos,
                Builtin::PosX => Digit::X,
                Builtin::PosY => Digit::Y,
                Builtin::PosZ => Digit::Z,
            }),
            Op::Binary(BinaryOp::Div, a, b) if self.is_position(a) && self.is_unsigned(id) => {
                digit(Digit::Quotient(self.extent(b)?))
            }
            Op::Binary(BinaryOp::Rem, a, b) if self.is_position(a) && self.is_unsigned(id) => {
                digit(Digit::Remainder(self.extent(b)?))
            }
            Op::Binary(BinaryOp::Add, a, b) => self.sum(a)?.plus(self.sum(b)?),
            Op::Binary(BinaryOp::Sub, a, b) => {
                self.sum(a)?.plus(self.sum(b)?.times(&Product { negative: true, factors: Vec::new() }))
            }
            Op::Binary(BinaryOp::Mul, a, b) => {
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                let (sum, by) = if b.terms.is_empty() { (a, b) } else { (b, a) };
                match &by.rest[..] {
                    [factors] if by.terms.is_empty() => Some(sum.times(factors)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
