//! Who takes part in what a thread launches, writes and reads: one stack of observers, which tapes, steps of rollouts and
//! forward mode put themselves on. A launch asks one flag of the thread; what observers do, launches do not know.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use super::Call;
use crate::array::AnyArray;
use crate::backend::native::NativeBody;
use crate::buffer::Buffer;
use crate::error::Result;
use crate::few::Few;
use crate::kernel::Which;

/// What writes to arrays.
pub(crate) enum Event<'a> {
    /// A kernel runs.
    Launch(Call<'a>),
    /// The host overwrites elements; the operation is called `what`.
    Overwrite { array: &'a AnyArray, what: &'static str, content: &'a [u8] },
    /// Elements become those of another array.
    Copy { to: &'a AnyArray, from: &'a AnyArray },
}

/// Why an array is read other than by a launch.
pub(crate) enum Read<'a> {
    /// The host has got these elements.
    Host(&'a [u8]),
    /// An operation takes them as constants.
    Constant(&'static str),
}

/// A program that runs in place of a launch: it does what the launch does, and also what the observer would do afterwards.
pub(crate) struct Joined {
    pub(crate) program: (Which, NativeBody),
    /// Its arguments after those of the launch: the slot whose elements each is like, and its memory, if it has any.
    pub(crate) more: Vec<(usize, Option<Arc<Buffer>>)>,
    /// Whether the observer needs nothing afterwards of what the launch has read and overwritten.
    pub(crate) complete: bool,
}

/// Takes part in launches, writes and reads of its thread.
pub(crate) trait Observer: Any {
    /// Before anything is written: may refuse it.
    fn before(&self, event: &Event<'_>) -> Result<()>;

    /// Before a launch: what is to run in its place, if anything. `after` does the rest.
    fn join(&self, _call: Call<'_>) -> Result<Option<Joined>> {
        Ok(None)
    }

    /// Whether launches have to run by themselves, since this observer takes their time.
    fn times(&self) -> bool {
        false
    }

    /// Afterwards. Of a launch, `reads` are by slot the contents that it read, also of what it has overwritten.
    fn after(&self, event: &Event<'_>, reads: &[Option<Arc<Buffer>>]) -> Result<()>;

    /// A launch failed after it may have written something.
    fn failed(&self, _kernel: &'static str) {}

    /// The host brings in data.
    fn upload(&self, _bytes: &[u8]) {}

    fn read(&self, _array: &AnyArray, _read: &Read<'_>) -> Result<()> {
        Ok(())
    }
}

/// What an observer does. Of those that do the same, the innermost alone is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Roles(u8);

impl Roles {
    /// Records, or watches a step of a rollout.
    pub(crate) const PROGRAM: Roles = Roles(1);
    /// Carries tangents.
    pub(crate) const TANGENTS: Roles = Roles(2);
    /// Looks for values that are not finite.
    pub(crate) const FINITE: Roles = Roles(4);
    /// Counts and times.
    pub(crate) const ACCOUNT: Roles = Roles(8);

    pub(crate) const fn and(self, other: Roles) -> Roles {
        Roles(self.0 | other.0)
    }

    fn meets(self, other: Roles) -> bool {
        self.0 & other.0 != 0
    }
}

struct Entry {
    roles: Roles,
    /// None where these roles are masked.
    observer: Option<Rc<dyn Observer>>,
}

thread_local! {
    static OBSERVED: Cell<bool> = const { Cell::new(false) };
    static STACK: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// An observer is on the stack until this is dropped. Those that came later have left by then.
pub(crate) struct Registered {
    depth: usize,
    /// Of one thread.
    thread: PhantomData<*const ()>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        STACK.with_borrow_mut(|stack| stack.truncate(self.depth));
        OBSERVED.set(self.depth > 0);
    }
}

/// Puts an observer on the stack.
pub(crate) fn register(roles: Roles, observer: Rc<dyn Observer>) -> Registered {
    push(Entry { roles, observer: Some(observer) })
}

/// Masks these roles: no observer below plays them.
pub(crate) fn mask(roles: Roles) -> Registered {
    push(Entry { roles, observer: None })
}

fn push(entry: Entry) -> Registered {
    let depth = STACK.with_borrow_mut(|stack| {
        stack.push(entry);
        stack.len() - 1
    });
    OBSERVED.set(true);
    Registered { depth, thread: PhantomData }
}

/// Whether the stack of this thread has anything on it.
#[inline]
pub(crate) fn observed() -> bool {
    OBSERVED.get()
}

/// Those that are told, outermost first.
pub(super) fn active() -> Few<Rc<dyn Observer>, 4> {
    STACK.with_borrow(|stack| {
        let mut told = Roles(0);
        let mut active: Few<Rc<dyn Observer>, 4> = Few::new();
        for entry in stack.iter().rev() {
            if let Some(observer) = entry.observer.as_ref().filter(|_| !told.meets(entry.roles)) {
                active.push(observer.clone());
            }
            told = told.and(entry.roles);
        }
        active.reverse();
        active
    })
}

/// Whether an observer plays this role.
pub(crate) fn is_played(role: Roles) -> bool {
    STACK.with_borrow(|stack| {
        let innermost = stack.iter().rev().find(|entry| entry.roles.meets(role));
        innermost.is_some_and(|entry| entry.observer.is_some())
    })
}

/// All of one type, outermost first, whether they are told or not.
pub(crate) fn all<T: Observer>() -> Few<Rc<T>, 4> {
    STACK.with_borrow(|stack| {
        let typed = |entry: &Entry| {
            let any: Rc<dyn Any> = entry.observer.clone()?;
            any.downcast::<T>().ok()
        };
        stack.iter().filter_map(typed).collect()
    })
}

/// The innermost of those that are told, if it is of this type.
pub(crate) fn told<T: Observer>(role: Roles) -> Option<Rc<T>> {
    let innermost = STACK.with_borrow(|stack| {
        stack.iter().rev().find(|entry| entry.roles.meets(role)).and_then(|entry| entry.observer.clone())
    });
    let any: Rc<dyn Any> = innermost?;
    any.downcast().ok()
}

/// What runs in place of a launch, if one of these wants that and all others let it.
pub(super) fn join(active: &[Rc<dyn Observer>], call: Call<'_>) -> Result<Option<Joined>> {
    if active.iter().any(|observer| observer.times()) {
        return Ok(None);
    }
    active.iter().find_map(|observer| observer.join(call).transpose()).transpose()
}

/// Does what writes, with the observers around it.
pub(super) fn around(event: &Event<'_>, write: impl FnOnce() -> Result<()>) -> Result<()> {
    if !observed() {
        return write();
    }
    let active = active();
    active.iter().try_for_each(|observer| observer.before(event))?;
    write()?;
    active.iter().rev().try_for_each(|observer| observer.after(event, &[]))
}

/// The host brings in data.
pub(super) fn upload(bytes: &[u8]) {
    if observed() {
        active().iter().for_each(|observer| observer.upload(bytes));
    }
}

/// The elements of an array are read.
pub(super) fn read(array: &AnyArray, read: &Read<'_>) -> Result<()> {
    if !observed() {
        return Ok(());
    }
    active().iter().try_for_each(|observer| observer.read(array, read))
}
