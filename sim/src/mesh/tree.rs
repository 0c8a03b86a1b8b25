//! A tree of bounding boxes, halved at the median of the longest axis.

use super::vector::{Point, bounds};
use diffkern::memory::{collect, with_room};

/// Lowest and highest corner \[m\].
pub(super) type Box3 = [Point; 2];

/// Most items of a leaf.
const LEAF: usize = 4;

enum Below {
    /// From and past-the-end position in `items`.
    Items(usize, usize),
    /// The second child; the first follows its parent.
    Second(usize),
}

/// Finds the items whose boxes meet a box.
pub(super) struct Tree {
    nodes: Vec<(Box3, Below)>,
    items: Vec<u32>,
}

impl Tree {
    pub(super) fn new(boxes: &[Box3]) -> diffkern::Result<Tree> {
        let mut tree = Tree { nodes: with_room(boxes.len())?, items: collect(0..boxes.len() as u32)? };
        tree.split(boxes, 0, boxes.len());
        Ok(tree)
    }

    /// As deep as the logarithm of the number of items, for each node halves its items.
    fn split(&mut self, boxes: &[Box3], from: usize, to: usize) {
        let items = &mut self.items[from..to];
        let around = bounds(items.iter().flat_map(|&i| boxes[i as usize]));
        let node = self.nodes.len();
        self.nodes.push((around, Below::Items(from, to)));
        if items.len() <= LEAF {
            return;
        }
        let size = |a: usize| around[1][a] - around[0][a];
        let axis = (1..3).fold(0, |best, a| if size(a) > size(best) { a } else { best });
        let middle = |&i: &u32| boxes[i as usize][0][axis] + boxes[i as usize][1][axis];
        let half = items.len() / 2;
        items.select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)));
        self.split(boxes, from, from + half);
        self.nodes[node].1 = Below::Second(self.nodes.len());
        self.split(boxes, from + half, to);
    }

    /// Calls `see` with the items whose boxes meet `with`.
    pub(super) fn visit(&self, boxes: &[Box3], with: &Box3, mut see: impl FnMut(usize)) {
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            let Some((_, below)) = self.nodes.get(node).filter(|(around, _)| overlap(around, with)) else {
                continue;
            };
            match *below {
                Below::Second(second) => open.extend([node + 1, second]),
                Below::Items(from, to) => {
                    let items = self.items[from..to].iter().map(|&i| i as usize);
                    items.filter(|&i| overlap(&boxes[i], with)).for_each(&mut see);
                }
            }
        }
    }
}

fn overlap(a: &Box3, b: &Box3) -> bool {
    (0..3).all(|k| a[0][k] <= b[1][k] && b[0][k] <= a[1][k])
}
