//! What flows from step to step.

use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tape::context;

/// The state of a rollout: some arrays, and perhaps values on the host. An array is one, and so are vectors and tuples of
/// states.
///
/// ```
/// use diffkern::{AnyArray, prelude::*};
///
/// #[derive(Clone)]
/// struct Ball {
///     x: Array<f64>,
///     v: Array<f64>,
/// }
///
/// impl State for Ball {
///     fn arrays(&self) -> Vec<AnyArray> {
///         (self.x.clone(), self.v.clone()).arrays()
///     }
///
///     fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
///         let (x, v) = (self.x.clone(), self.v.clone()).with_arrays(arrays);
///         Ball { x, v }
///     }
/// }
/// ```
pub trait State: Clone {
    /// All arrays, in an order of the implementor's choice.
    fn arrays(&self) -> Vec<AnyArray>;

    /// The same state with other arrays: those of [`State::arrays`], in its order, with the same shapes and types. That each
    /// is in its place is looked at.
    #[must_use]
    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self;
}

impl<T: Element> State for Array<T> {
    fn arrays(&self) -> Vec<AnyArray> {
        vec![self.as_any().clone()]
    }

    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
        // The type is right by the contract of `with_arrays`.
        arrays.into_iter().next().and_then(|any| Array::try_from(any).ok()).unwrap_or_else(|| self.clone())
    }
}

impl<S: State> State for Vec<S> {
    fn arrays(&self) -> Vec<AnyArray> {
        self.iter().flat_map(State::arrays).collect()
    }

    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
        let mut rest = arrays.into_iter();
        self.iter().map(|part| part.with_arrays(rest.by_ref().take(part.arrays().len()).collect())).collect()
    }
}

impl<S: State> State for Option<S> {
    fn arrays(&self) -> Vec<AnyArray> {
        self.iter().flat_map(State::arrays).collect()
    }

    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
        self.as_ref().map(|part| part.with_arrays(arrays))
    }
}

/// What the steps of a rollout read besides their state, see [`rollout_with`](crate::rollout_with): a reference, or a tuple of
/// references. The tape, which may outlive them, keeps clones.
pub trait Given {
    /// The clones.
    type Kept: 'static;

    /// Clones what is referred to.
    fn keep(self) -> Self::Kept;
}

impl<T: Clone + 'static> Given for &T {
    type Kept = T;

    fn keep(self) -> T {
        self.clone()
    }
}

macro_rules! tuple {
    ($($name:ident $k:tt),+) => {
        impl<$($name: State),+> State for ($($name,)+) {
            fn arrays(&self) -> Vec<AnyArray> {
                let mut all = Vec::new();
                $(all.extend(self.$k.arrays());)+
                all
            }

            fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
                let mut rest = arrays.into_iter();
                ($(self.$k.with_arrays(rest.by_ref().take(self.$k.arrays().len()).collect()),)+)
            }
        }

        impl<$($name: Given),+> Given for ($($name,)+) {
            type Kept = ($($name::Kept,)+);

            fn keep(self) -> Self::Kept {
                ($(self.$k.keep(),)+)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, G 5);

/// The state with handles of its own: what is written through them does not show in the state given.
pub(crate) fn refresh<S: State>(state: &S) -> Result<S> {
    let arrays = state.arrays();
    let mut fresh: Vec<AnyArray> = Vec::with_capacity(arrays.len());
    for (k, array) in arrays.iter().enumerate() {
        if !array.is_whole() {
            return Err(Error::Rollout {
                step: 0,
                reason: format!("{array:?} in the state is a view; put a copy into the state (`copy_from`)"),
            });
        }
        // An array that is in the state twice stays one array.
        let same = arrays[..k].iter().position(|other| other.id() == array.id());
        fresh.push(same.map_or_else(|| array.fork(), |j| fresh[j].clone()));
    }
    with_arrays(state, fresh)
}

/// [`State::with_arrays`], and a look at what it did: a step would write to arrays that others hold.
pub(crate) fn with_arrays<S: State>(state: &S, arrays: Vec<AnyArray>) -> Result<S> {
    let given: Vec<u64> = arrays.iter().map(AnyArray::id).collect();
    let state = state.with_arrays(arrays);
    match state.arrays().iter().map(AnyArray::id).eq(given) {
        true => Ok(state),
        false => Err(Error::Invalid(
            "`State::with_arrays` of the state did not return a state of the arrays that it was given, in the order of \
             `State::arrays`; put each of them in its place"
                .to_owned(),
        )),
    }
}

/// Tells the step around the rollout, if there is one, that the state is read.
pub(crate) fn observe<S: State>(state: &S) -> Result<()> {
    let what = || "initial state of a rollout inside the step".to_owned();
    context::with_monitor(|monitor| state.arrays().iter().try_for_each(|array| monitor.read(array, &what)))
}
