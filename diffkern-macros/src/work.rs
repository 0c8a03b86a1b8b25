//! How much work a position is: a rough number, from the source alone, so that what depends on it is alike on every machine.

use std::collections::HashMap;

use crate::ir::{Block, Func, Id, Lit, Op, StmtKind};

/// Turns of a loop whose number the source does not say.
const TURNS: u64 = 8;

/// Operations of a device function, which is compiled elsewhere.
const CALL: u64 = 50;

/// Operations that an access to memory counts for, by component.
const ACCESS: u64 = 2;

impl Func {
    /// Operations on scalars for one position, more or less.
    pub fn work(&self) -> u32 {
        let mut ints = HashMap::new();
        self.body.each(&mut |stmt| {
            if let StmtKind::Let { id, op: Op::Const(Lit::Int(value)) } = stmt.kind {
                ints.insert(id, value);
            }
        });
        u32::try_from(self.block(&self.body, &ints)).unwrap_or(u32::MAX)
    }

    fn block(&self, block: &Block, ints: &HashMap<Id, i64>) -> u64 {
        let parts = |id: &Id| self.ty(*id).components() as u64;
        let each = block.stmts.iter().map(|stmt| match &stmt.kind {
            StmtKind::Let { op: Op::Const(_), .. } | StmtKind::Fault { .. } | StmtKind::StackNew { .. } => 0,
            StmtKind::Let { id, .. } => parts(id),
            StmtKind::Load { id, .. } | StmtKind::Take { id, .. } | StmtKind::StackGet { id, .. } => ACCESS * parts(id),
            StmtKind::Store { value, .. } | StmtKind::StackSet { value, .. } => ACCESS * parts(value),
            StmtKind::Add { value, .. } | StmtKind::Fetch { value, .. } => 2 * ACCESS * parts(value),
            StmtKind::If { then, els, .. } => self.block(then, ints) + self.block(els, ints),
            StmtKind::For { lo, hi, body, .. } => {
                let turns = ints.get(hi).zip(ints.get(lo)).map(|(hi, lo)| (hi - lo).max(0).unsigned_abs());
                turns.unwrap_or(TURNS).saturating_mul(self.block(body, ints))
            }
            StmtKind::Call { .. } => CALL,
        });
        each.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use crate::gradient_tests::support::kernel;

    /// The work of a kernel with this body, after `let i = ABSOLUTE_POS`, which is 1.
    fn work(body: &str) -> u32 {
        let params =
            "x: &Array<F>, v: &Array<Vec3<F>>, m: &Array<Mat3<F>>, n: u32, y: &mut Array<F>, z: &mut Array<Mat3<F>>";
        kernel(&format!("fn k<F: Float>({params}, c: &mut Array<Atomic<u32>>) {{ let i = ABSOLUTE_POS; {body} }}"))
            .work()
    }

    #[test]
    fn every_scalar_counts() {
        assert_eq!(work(""), 1);
        assert_eq!(work("y[i] = x[i];"), 1 + 2 + 2);
        assert_eq!(work("y[i] += x[i] * x[i];"), 1 + 2 + 2 + 1 + 4);
        assert_eq!(work("let w = v[i] + v[i];"), 1 + 6 + 6 + 3);
        assert_eq!(work("z[i] += m[i];"), 1 + 18 + 36);
        assert_eq!(work("c[i].fetch_add(1u32);"), 1 + 4);
        assert_eq!(work("let t: F = f(x[i]); y[i] = t;"), 1 + 2 + 50 + 2);
        // Products of matrices as what they give.
        assert_eq!(work("z[i] = m[i] * m[i];"), 1 + 18 + 18 + 9 + 18);
        assert_eq!(work("let w = m[i] * v[i];"), 1 + 18 + 6 + 3);
    }

    #[test]
    fn both_sides_and_all_turns_count() {
        assert_eq!(work("if x[i] > 0.0 { y[i] = 1.0; } else { y[i] = x[i]; }"), 1 + 2 + 1 + 2 + 4);
        for (range, turns) in [("0..3u32", 3), ("2..5u32", 3), ("5..2u32", 0), ("0..n", 8)] {
            assert_eq!(work(&format!("for k in {range} {{ y[i] += x[k]; }}")), 1 + turns * 6, "{range}");
        }
        let many = "for _ in 0..2000000000u32 ";
        assert_eq!(work(&format!("{many} {{ {many} {{ {many} {{ y[i] += x[i]; }} }} }}")), u32::MAX);
    }
}
