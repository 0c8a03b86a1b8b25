//! The benches cover every kernel of `sim` and `render`, each case launches the kernel that it is named after, and every
//! gradient passes the generated check at the bench's points.

use std::collections::BTreeSet;

use benches::kernels::{all, declared};
use diffkern::{Device, Result};

#[test]
fn every_declared_kernel_has_a_case() -> std::io::Result<()> {
    let declared = declared()?;
    assert!(declared.len() > 20, "the search finds the sources: {declared:?}");
    let timed: Vec<String> = all().iter().map(|k| k.name.to_owned()).collect();
    let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(set(&declared), set(&timed), "declared in the sources, and timed");
    assert_eq!((declared.len(), timed.len()), (set(&declared).len(), set(&timed).len()), "each once");
    Ok(())
}

#[test]
fn a_case_launches_its_kernel_and_its_adjoint() -> Result<()> {
    let device = Device::cpu();
    for kernel in all() {
        let case = (kernel.case)(&device)?;
        let tape = case.record()?;
        if kernel.check.is_some() {
            case.backward(&tape)?;
        }
        let launched: Vec<_> =
            tape.report().kernels.into_iter().map(|k| (k.name, k.launches, k.adjoint_launches)).collect();
        assert_eq!(launched, [(kernel.name, 1, usize::from(kernel.check.is_some()))]);
    }
    Ok(())
}

#[test]
fn gradients_are_right() -> Result<()> {
    let device = Device::cpu();
    let mut integers = Vec::new();
    for kernel in all() {
        let Some(check) = kernel.check else {
            integers.push(kernel.name);
            continue;
        };
        let report = check(&device)?;
        assert!(report.directions > 0 && report.dot_product_error < 1e-10, "{}: {report}", kernel.name);
    }
    // Those that write integers alone, what depends on integers alone, or what a search alone needs; any other has a gradient to check.
    let known = [
        "node_places_2d",
        "node_places_3d",
        "base_nodes_2d",
        "base_nodes_3d",
        "mark_blocks",
        "flag_blocks",
        "number_blocks",
        "invert_order",
        "node_positions",
        "elastic_modes",
        "barrier_blocks",
        "follow",
        "advance",
        "negative_lengths",
        "least_of_blocks",
        "note_near",
        "mean_map",
        "locate",
        "nearest",
    ];
    assert_eq!(integers, known);
    Ok(())
}
