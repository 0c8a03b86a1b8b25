//! A picture of what was recorded, in the language of Graphviz.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::graph::{Entry, Graph, Part};
use crate::ids::Label;

/// A graph of the recorded launches for `dot -Tsvg`: boxes are launches, ovals arrays that were there before, arrows
/// carry the arrays from one to the next. A rollout is one frame with its last step in it.
pub(crate) fn to_dot(graph: &Graph, leaves: &[Label], losses: &[Label]) -> String {
    let mut dot = Dot { text: String::new(), last: BTreeMap::new(), nodes: 0, indent: 1, leaves };
    dot.text.push_str("digraph tape {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
    dot.text.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    dot.graph(graph);
    for loss in losses {
        if let Some((writer, _)) = dot.last.get(&loss.id()).cloned() {
            let node = dot.node(&format!("seed of {loss}"), "shape=doublecircle, fontsize=9");
            dot.edge(&writer, &node, "", "");
        }
    }
    dot.text.push_str("}\n");
    dot.text
}

struct Dot<'a> {
    text: String,
    /// By array, the node that wrote it last, and the frame to clip an arrow from it at.
    last: BTreeMap<u64, (String, Option<String>)>,
    nodes: usize,
    indent: usize,
    leaves: &'a [Label],
}

impl Dot<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * self.indent);
    }

    fn node(&mut self, label: &str, style: &str) -> String {
        let name = format!("n{}", self.nodes);
        self.nodes += 1;
        let label = label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        self.line(&format!("{name} [label=\"{label}\"{}{style}];", if style.is_empty() { "" } else { ", " }));
        name
    }

    fn edge(&mut self, from: &str, to: &str, label: &str, style: &str) {
        let label = label.replace('"', "\\\"");
        self.line(&format!("{from} -> {to} [label=\"{label}\"{}{style}];", if style.is_empty() { "" } else { ", " }));
    }

    /// The node that an array comes from: its writer, or an oval of its own.
    fn source(&mut self, part: &Part) -> String {
        if let Some((writer, _)) = self.last.get(&part.id) {
            return writer.clone();
        }
        let leaf = self.leaves.iter().any(|leaf| leaf.id() == part.id);
        let style = if leaf { "shape=oval, style=bold" } else { "shape=oval, color=gray" };
        let node = self.node(&format!("{}\n{}[{}]", part.label(), part.elem, part.len), style);
        self.last.insert(part.id, (node.clone(), None));
        node
    }

    fn writes(&mut self, part: &Part, node: &str) {
        self.last.insert(part.id, (node.to_owned(), None));
    }

    fn graph(&mut self, graph: &Graph) {
        graph.entries.iter().for_each(|entry| self.entry(entry));
    }

    fn entry(&mut self, entry: &Entry) {
        match entry {
            Entry::Launch { kernel, domain, arrays, .. } => {
                let extents: Vec<String> = match domain {
                    [n, 1, 1] => vec![n.to_string()],
                    _ => domain.iter().map(ToString::to_string).collect(),
                };
                // The arrays first, so that they stand before it.
                let read: Vec<_> = arrays.iter().filter(|used| used.read).collect();
                let sources: Vec<String> = read.iter().map(|used| self.source(&used.part)).collect();
                let node = self.node(&format!("{kernel}\n{}", extents.join(" x ")), "");
                for (used, source) in read.iter().zip(sources) {
                    let style = if used.passes { "" } else { "style=dashed, color=gray" };
                    self.edge(&source, &node, used.param, style);
                }
                for used in arrays.iter().filter(|used| used.written) {
                    if let Some((before, _)) = self.last.get(&used.part.id).filter(|_| !used.read).cloned() {
                        self.edge(&before, &node, used.param, "style=dotted");
                    }
                    self.writes(&used.part, &node);
                }
            }
            Entry::Write { to } => {
                let node = self.node(&format!("overwritten\n{}", to.label()), "style=dashed");
                self.writes(to, &node);
            }
            Entry::Copy { to, from } => {
                let source = from.as_ref().map(|from| self.source(from));
                let node = self.node(&format!("copy\nto {}", to.label()), "style=rounded");
                source.iter().for_each(|source| self.edge(source, &node, "", ""));
                self.writes(to, &node);
            }
            Entry::Rollout { steps, schedule, starts, ends, inputs, outputs, step } => {
                let sources: Vec<String> = starts.iter().map(|part| self.source(part)).collect();
                let frame = format!("cluster_{}", self.nodes);
                self.line(&format!("subgraph {frame} {{"));
                self.indent += 1;
                self.line(&format!("label=\"{steps} steps: {}\";", schedule.replace('"', "'")));
                let enter = self.node("state", "shape=point, xlabel=\"state\"");
                for part in inputs {
                    self.writes(part, &enter);
                }
                self.graph(step);
                let leave = self.node("next state", "shape=point, xlabel=\"next state\"");
                for part in outputs {
                    if let Some((writer, _)) = self.last.get(&part.id).cloned() {
                        self.edge(&writer, &leave, "", "");
                    }
                }
                self.edge(&leave, &enter, "", "style=dashed, constraint=false");
                self.indent -= 1;
                self.line("}");
                for source in sources {
                    self.edge(&source, &enter, "", "");
                }
                for part in ends {
                    self.last.insert(part.id, (leave.clone(), Some(frame.clone())));
                }
            }
        }
    }
}
