//! The handle without its type of element.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::captured;
use super::marks::Marks;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::ids::{Label, fresh_id};
use crate::kernel::{ElemTy, ScalarTy};
use crate::sync::lock;

/// An array whose type of element is known at run time only. Cloning gives another handle to the same array.
#[derive(Clone)]
pub struct AnyArray {
    shared: Arc<Shared>,
    /// In elements; a view starts inside the array that it belongs to.
    offset: u32,
    len: u32,
}

struct Shared {
    id: u64,
    device: Device,
    scalar: ScalarTy,
    elem: ElemTy,
    len: u32,
    name: Mutex<Option<Arc<str>>>,
    blank: Option<Blank>,
    cell: Mutex<Cell>,
    requires_grad: AtomicBool,
    marks: Marks,
    grad: Mutex<Option<AnyArray>>,
    dots: Mutex<Option<Dots>>,
}

/// What an array was made with, where that costs nothing to make again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blank {
    Zeros,
    /// Nothing in particular; the reals are of this type.
    Uninit(ScalarTy),
}

impl Blank {
    pub(crate) fn alloc(self, device: &Device, bytes: usize) -> Result<Arc<Buffer>> {
        match self {
            Blank::Zeros => device.alloc_zeroed(bytes),
            Blank::Uninit(scalar) => device.alloc_poisoned(bytes, scalar),
        }
    }
}

/// Present contents of an array.
pub(crate) struct Cell {
    pub(crate) buffer: Arc<Buffer>,
    /// Number of writes so far.
    pub(crate) version: u64,
}

/// Tangents of an array in one forward-mode evaluation; they die with the array.
#[derive(Clone)]
pub(crate) struct Dots {
    pub(crate) evaluation: u64,
    /// One per direction, of the size of the whole array.
    pub(crate) buffers: Vec<Option<Arc<Buffer>>>,
}

impl AnyArray {
    /// A new array over a buffer. The caller has checked that it fits.
    pub(crate) fn over(device: &Device, scalar: ScalarTy, elem: ElemTy, len: u32, buffer: Arc<Buffer>) -> AnyArray {
        AnyArray::with_origin(device, (scalar, elem, len), buffer, None)
    }

    /// The same for a buffer that has nothing in it yet.
    pub(crate) fn with_origin(
        device: &Device,
        (scalar, elem, len): (ScalarTy, ElemTy, u32),
        buffer: Arc<Buffer>,
        blank: Option<Blank>,
    ) -> AnyArray {
        let id = fresh_id();
        let shared = Shared {
            id,
            device: device.clone(),
            scalar,
            elem,
            len,
            name: Mutex::new(None),
            blank,
            cell: Mutex::new(Cell { buffer, version: 0 }),
            requires_grad: AtomicBool::new(false),
            marks: Marks::new(id),
            grad: Mutex::new(None),
            dots: Mutex::new(None),
        };
        AnyArray { shared: Arc::new(shared), offset: 0, len }
    }

    /// A new array with the present contents of this one, shared until one of them is written.
    pub(crate) fn fork(&self) -> AnyArray {
        let fork = AnyArray::over(self.device(), self.scalar(), self.elem(), self.base_len(), self.buffer());
        *lock(&fork.shared.dots) = lock(&self.shared.dots).clone();
        fork.set_name(self.name());
        fork.shared.marks.follow(&self.shared.marks);
        AnyArray { shared: fork.shared, offset: self.offset, len: self.len }
    }

    /// Identity of the array; its views have the same.
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// Its identity, and its name if it has one: what reports and errors call it.
    pub fn label(&self) -> Label {
        Label::new(self.id(), self.name())
    }

    pub(crate) fn name(&self) -> Option<Arc<str>> {
        lock(&self.shared.name).clone()
    }

    pub(crate) fn set_name(&self, name: Option<Arc<str>>) {
        *lock(&self.shared.name) = name;
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it lives.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// Type of the scalars that its elements are made of.
    pub fn scalar(&self) -> ScalarTy {
        self.shared.scalar
    }

    /// Type of its elements.
    pub fn elem(&self) -> ElemTy {
        self.shared.elem
    }

    /// Number of writes to it so far.
    pub fn version(&self) -> u64 {
        self.lock().version
    }

    /// What it was made with, if nothing has been written since.
    pub(crate) fn blank(&self) -> Option<Blank> {
        self.shared.blank.filter(|_| self.version() == 0)
    }

    /// Whether [`Array::requires_grad`](crate::Array::requires_grad) was called.
    pub fn needs_grad(&self) -> bool {
        self.shared.requires_grad.load(Ordering::Relaxed)
    }

    /// Whether it has a gradient: [`Array::requires_grad`](crate::Array::requires_grad) was called, or it depends on such an array in a recording, or has a tangent in a
    /// [`jvp`](crate::jvp), of this thread. For programs that must refuse it.
    pub fn is_differentiated(&self) -> bool {
        self.is_real() && (self.needs_grad() || super::active::any_here(|recording| self.marks().depends_on(recording)))
    }

    /// Size of one element in bytes.
    pub(crate) fn elem_bytes(&self) -> usize {
        self.elem().components() * self.scalar().bytes()
    }

    /// Whether it can carry a derivative.
    pub(crate) fn is_real(&self) -> bool {
        self.elem().is_real()
    }

    /// In elements.
    pub(crate) fn offset(&self) -> u32 {
        self.offset
    }

    /// Length of the array that this is a view of.
    pub(crate) fn base_len(&self) -> u32 {
        self.shared.len
    }

    pub(crate) fn base_bytes(&self) -> usize {
        self.base_len() as usize * self.elem_bytes()
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.offset == 0 && self.len == self.base_len()
    }

    /// Start and size within the buffer, in bytes.
    pub(crate) fn byte_range(&self) -> (usize, usize) {
        (self.offset as usize * self.elem_bytes(), self.len() * self.elem_bytes())
    }

    pub(crate) fn set_requires_grad(&self) {
        self.shared.requires_grad.store(true, Ordering::Relaxed);
    }

    pub(crate) fn marks(&self) -> &Marks {
        &self.shared.marks
    }

    pub(crate) fn view(&self, from: usize, to: usize) -> Result<AnyArray> {
        if from > to || to > self.len() {
            return Err(Error::Invalid(format!("slice {from}..{to} of an array of {} elements", self.len())));
        }
        Ok(AnyArray { shared: self.shared.clone(), offset: self.offset + from as u32, len: (to - from) as u32 })
    }

    /// Whether the two have an element in common.
    pub(crate) fn overlaps(&self, other: &AnyArray) -> bool {
        let both = self.len > 0 && other.len > 0 && self.id() == other.id();
        both && self.offset < other.offset + other.len && other.offset < self.offset + self.len
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Cell> {
        lock(&self.shared.cell)
    }

    pub(crate) fn lock_dots(&self) -> MutexGuard<'_, Option<Dots>> {
        lock(&self.shared.dots)
    }

    pub(crate) fn lock_grad(&self) -> MutexGuard<'_, Option<AnyArray>> {
        lock(&self.shared.grad)
    }

    /// Present contents, to be read; for the replay of a step, what it read at first.
    pub(crate) fn buffer(&self) -> Arc<Buffer> {
        captured::contents(self.id()).unwrap_or_else(|| self.lock().buffer.clone())
    }

    /// Present contents, unless a launch has them in hand.
    pub(super) fn try_buffer(&self) -> Option<Arc<Buffer>> {
        captured::contents(self.id()).or_else(|| Some(self.shared.cell.try_lock().ok()?.buffer.clone()))
    }

    /// Runs `write` on contents that nobody else holds, and counts the write.
    pub(crate) fn update(&self, write: impl FnOnce(&Buffer) -> Result<()>) -> Result<()> {
        let mut cell = self.lock();
        Buffer::unshare(&mut cell.buffer)?;
        cell.version += 1;
        write(&cell.buffer)
    }
}
