//! What a tape recorded, as data: launches, and the arrays that pass between them.

use std::sync::Arc;

use crate::ids::Label;
use crate::kernel::KernelDef;

/// The recorded launches in order; those without a gradient in them are not recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// In the order of the program.
    pub entries: Vec<Entry>,
}

/// One recorded operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A launch.
    Launch {
        /// Name of the kernel.
        kernel: &'static str,
        /// Its source file.
        file: &'static str,
        /// Its line there.
        line: u32,
        /// Extents of the domain.
        domain: [usize; 3],
        /// Its array arguments.
        arrays: Vec<Use>,
    },
    /// Elements were set to values without a gradient, by a fill or from the host.
    Write {
        /// The elements.
        to: Part,
    },
    /// Elements were copied.
    Copy {
        /// Where to.
        to: Part,
        /// Where from; absent when that has no gradient.
        from: Option<Part>,
    },
    /// A rollout: its last step stands for all.
    Rollout {
        /// Number of steps.
        steps: usize,
        /// How it is reversed, in words.
        schedule: String,
        /// The state that it started from.
        starts: Vec<Part>,
        /// The state that it ended with.
        ends: Vec<Part>,
        /// The arrays of the state before the step.
        inputs: Vec<Part>,
        /// The arrays of the state after the step.
        outputs: Vec<Part>,
        /// What the step recorded.
        step: Graph,
    },
}

/// Some elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Identity of the array.
    pub id: u64,
    /// Its name, where it has one.
    pub name: Option<Arc<str>>,
    /// Type of an element, as in Rust.
    pub elem: String,
    /// First element.
    pub offset: usize,
    /// Number of elements.
    pub len: usize,
    /// Whether these are all elements of the array.
    pub whole: bool,
}

impl Part {
    /// What reports and errors call the array.
    pub fn label(&self) -> Label {
        Label::new(self.id, self.name.clone())
    }
}

/// An array argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// Name of the parameter.
    pub param: &'static str,
    /// The elements.
    pub part: Part,
    /// Whether the launch reads it.
    pub read: bool,
    /// Whether the launch writes to it.
    pub written: bool,
    /// Whether a derivative passes through this argument: not if it is of integers, or the kernel uses it in no way
    /// that has a derivative.
    pub passes: bool,
}

/// Whether a derivative passes, by slot of the kernel's parameters: the adjoint touches the argument's bar.
pub(crate) fn passes(def: &KernelDef) -> Vec<bool> {
    use crate::kernel::{Access, ParamKind};
    let params = def.primal.params;
    let mut bars = def.adjoint.params.iter().skip(params.len());
    let passes = |kind| match kind {
        ParamKind::Array { elem, .. } if elem.is_real() => bars
            .next()
            .is_some_and(|bar| matches!(bar.kind, ParamKind::Array { access, .. } if access != Access::Unused)),
        _ => false,
    };
    params.iter().map(|param| param.kind).map(passes).collect()
}
