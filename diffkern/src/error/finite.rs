//! The first value that is not finite.

use std::fmt;

use crate::ids::Label;

/// Where a NaN or an infinity was found first, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    /// Name of the kernel that wrote it.
    pub kernel: &'static str,
    /// Source file of the line.
    pub file: &'static str,
    /// Line of the operation whose result is not finite though its operands are (or that read what is not), or of the call
    /// that leads there; in an adjoint, of the operation that this belongs to. Where it is not one position alone that makes
    /// it so, or the position is not known: of the first statement that writes to the parameter.
    pub line: u32,
    /// Of an operation in a device function: the lines there, the innermost last.
    pub inside: Vec<(&'static str, u32)>,
    /// The position (`ABSOLUTE_POS`) that wrote it, or that made it so by what it added: known of kernels over a domain of one
    /// extent, and of adjoints that touch each element at its own position.
    pub position: Option<usize>,
    /// The adjoint of the kernel wrote it, to the adjoint of the array.
    pub adjoint: bool,
    /// Name of the parameter.
    pub param: &'static str,
    /// The array.
    pub array: Label,
    /// Number of the element, within the view that was passed.
    pub element: usize,
    /// Number of the component within the element.
    pub component: usize,
    /// Components of an element.
    pub components: usize,
    /// NaN or an infinity.
    pub value: f64,
    /// Steps of the rollouts in which that happened, the outermost first; empty outside rollouts.
    pub steps: Vec<usize>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value that is not finite comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// It arises in this launch: everything that the launch read is finite.
    Here,
    /// The launch read a value that was not finite and that no launch under observation wrote: it came in by an input, or
    /// by an element that nothing has written.
    Input {
        /// Name of the parameter.
        param: &'static str,
        /// The array.
        array: Label,
        /// It is the adjoint of the array: a seed that is not finite.
        adjoint: bool,
        /// Number of the element, within the view that was passed.
        element: usize,
        /// Number of the component within the element.
        component: usize,
        /// NaN or an infinity.
        value: f64,
    },
}

struct Place(usize, usize, usize);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place(element, component, components) = self;
        match components {
            1 => write!(f, "element {element}"),
            _ => write!(f, "component {component} of element {element}"),
        }
    }
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.steps.iter().enumerate() {
            write!(f, "{}step {step}", if depth == 0 { "" } else { ", inside it " })?;
        }
        if !self.steps.is_empty() {
            f.write_str(": ")?;
        }
        let of = if self.adjoint { "the adjoint of " } else { "" };
        let place = Place(self.element, self.component, self.components);
        write!(f, "{of}kernel `{}` ({}:{}", self.kernel, self.file, self.line)?;
        for (file, line) in &self.inside {
            write!(f, ", inside it {file}:{line}")?;
        }
        write!(f, ") gives {} for {place} of {of}`{}` ({})", self.value, self.param, self.array)?;
        match self.position {
            Some(position) => write!(f, ", from position {position}; ")?,
            None => f.write_str("; ")?,
        }
        match &self.origin {
            Origin::Here => f.write_str("it arises here: everything that it read is finite"),
            Origin::Input { param, array, adjoint, element, component, value } => write!(
                f,
                "it came in from outside: {place} of {of}`{param}` ({array}) is {value}, which no launch under \
                 observation wrote",
                of = if *adjoint { "the adjoint of " } else { "" },
                place = Place(*element, *component, if *component > 0 { 2 } else { 1 }),
            ),
        }
    }
}
