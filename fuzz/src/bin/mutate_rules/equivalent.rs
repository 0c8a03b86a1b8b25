//! Mutants that change nothing that can be seen, each with the reason.

/// A mutant's description, and why no test can notice it.
const EQUIVALENT: &[(&str, &str)] = &[(
    "Powi: b.real(0.0) -> b.real(2.5 * 0.0 + 0.5) (again, 1)",
    "the exponent is an integer, which has no bar and no dot, so nobody asks for the row of the second operand",
)];

/// Why no test can notice the mutant, where that is so.
pub fn reason(what: &str) -> Option<&'static str> {
    EQUIVALENT.iter().find(|(mutant, _)| what == *mutant).map(|(_, why)| *why)
}
