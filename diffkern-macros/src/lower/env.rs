//! Names in scope and the value each stands for now.

use std::collections::{BTreeMap, HashMap};

use diffkern_ir::{Id, Slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    Value {
        id: Id,
        mutable: bool,
    },
    Array(Slot),
    /// A local array, by number; its elements are variables.
    Local(usize),
    /// Its definition had a mistake; uses of it are not reported again.
    Poisoned,
}

impl Binding {
    /// The value of a variable. Only variables are assigned, so only they are carried by branches and loops.
    pub fn id(self) -> Id {
        match self {
            Binding::Value { id, .. } => id,
            Binding::Array(_) | Binding::Local(_) | Binding::Poisoned => Id(0),
        }
    }
}

/// A variable: its place in [`Env::vars`] stays the same while its value changes.
pub type Var = usize;

#[derive(Default)]
pub struct Env {
    vars: Vec<Binding>,
    /// The name of each variable.
    names: Vec<String>,
    /// By value, the variable that it is first the value of.
    pub named: BTreeMap<Id, String>,
    scopes: Vec<HashMap<String, Var>>,
}

impl Env {
    pub fn push(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub fn pop(&mut self) {
        self.scopes.pop();
    }

    pub fn bind(&mut self, name: &str, binding: Binding) {
        self.vars.push(binding);
        self.names.push(name.trim_start_matches("r#").to_owned());
        if let Binding::Value { id, .. } = binding {
            self.note(self.vars.len() - 1, id);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), self.vars.len() - 1);
        }
    }

    /// The variable bound last.
    pub fn last(&self) -> Var {
        self.vars.len().saturating_sub(1)
    }

    pub fn poison(&mut self, name: &str) {
        self.bind(name, Binding::Poisoned);
    }

    pub fn find(&self, name: &str) -> Option<Var> {
        self.scopes.iter().rev().find_map(|s| s.get(name).copied())
    }

    pub fn get(&self, var: Var) -> Binding {
        self.vars[var]
    }

    pub fn lookup(&self, name: &str) -> Option<Binding> {
        self.find(name).map(|v| self.vars[v])
    }

    pub fn set(&mut self, var: Var, id: Id) {
        if let Binding::Value { id: current, .. } = &mut self.vars[var] {
            *current = id;
            self.note(var, id);
        }
    }

    fn note(&mut self, var: Var, id: Id) {
        let name = &self.names[var];
        if name != "_" {
            self.named.entry(id).or_insert_with(|| name.clone());
        }
    }

    /// The state of all variables, to go back to or compare with.
    pub fn snapshot(&self) -> Vec<Binding> {
        self.vars.clone()
    }

    /// Back to `before`, for the variables that there were then.
    pub fn restore(&mut self, before: &[Binding]) {
        self.vars[..before.len()].copy_from_slice(before);
    }
}
