//! What only the macro knows of an item: where its parts stand in the source, by the numbers that the IR carries. All
//! forms of an item share it.

use diffkern_ir::{Callee, Node};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Ident, Path};

use crate::parse::Signature;

pub struct Source {
    /// By node, from 1 on; node 0 is nowhere.
    spans: Vec<Span>,
    /// How the source names device functions.
    paths: Vec<(Node, Path)>,
    /// The parameters of the function, by slot.
    pub params: Vec<Span>,
    /// Type parameters (and `Self`) whose methods are device functions.
    pub laws: Vec<String>,
}

impl Source {
    /// Of a function with this signature.
    pub fn new(sig: &Signature) -> Source {
        let params = sig.params.iter().map(|param| param.span).collect();
        Source { spans: Vec::new(), paths: Vec::new(), params, laws: sig.laws.clone() }
    }

    /// A node for what stands here.
    pub fn node(&mut self, span: Span) -> Node {
        self.spans.push(span);
        Node(self.spans.len() as u32)
    }

    pub fn span(&self, node: Node) -> Span {
        let at = (node.0 as usize).checked_sub(1);
        at.and_then(|at| self.spans.get(at)).copied().unwrap_or_else(Span::call_site)
    }

    pub fn line(&self, node: Node) -> usize {
        self.span(node).start().line
    }

    /// A node for the name of a device function.
    pub fn callee(&mut self, path: Path) -> Node {
        let node = self.node(path.span());
        self.paths.push((node, path));
        node
    }

    pub fn path(&self, callee: &Callee) -> &Path {
        let found = self.paths.iter().find(|(node, _)| *node == callee.node);
        &found.expect("the path of each callee is noted where it is made").1
    }

    /// The type and the method, where this is the method of a law: of a type parameter, or of a type, whose name has a
    /// large letter.
    pub fn method_of(&self, callee: &Callee) -> Option<(Path, Ident)> {
        let mut owner = self.path(callee).clone();
        let method = owner.segments.pop()?.into_value().ident;
        owner.segments.pop_punct();
        let last = owner.segments.last()?.ident.to_string();
        (last.starts_with(char::is_uppercase) || self.laws.contains(&last)).then_some((owner, method))
    }
}
