//! Hexahedra cut into tetrahedra (Kuhn).

/// A path along the axes in each order, from the lowest to the highest corner of a cell; the tetrahedra of odd orders have two corners exchanged, so that all are of a right hand.
const PATHS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], false),
    ([1, 2, 0], false),
    ([2, 0, 1], false),
    ([1, 0, 2], true),
    ([0, 2, 1], true),
    ([2, 1, 0], true),
];

/// Tetrahedra of a cell.
pub(crate) const TETS: usize = PATHS.len();

/// One of the tetrahedra of a cell of a grid whose vertices `corner` numbers. All cells are cut along the same diagonal, so that neighbours agree on their common side.
pub(crate) fn tet(cell: [usize; 3], which: usize, corner: impl Fn([usize; 3]) -> u32) -> [u32; 4] {
    let (mut at, (order, odd)) = (cell, PATHS[which]);
    let mut tet = [corner(at); 4];
    for (k, axis) in order.into_iter().enumerate() {
        at[axis] += 1;
        tet[k + 1] = corner(at);
    }
    if odd {
        tet.swap(2, 3);
    }
    tet
}
