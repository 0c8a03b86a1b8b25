//! The indices that a launch runs over.

/// One, two or three extents; the kernel runs once per index, x fastest: linear = x + nx (y + ny z).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    dims: [usize; 3],
}

impl Domain {
    /// Extents along x, y, z; 1 where not given.
    pub fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// Number of indices, `usize::MAX` when it overflows.
    pub fn len(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.dims.iter().fold(1, |n, &d| n.saturating_mul(d))
    }

    /// Whether a launch over it does nothing.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// Extents as kernels see them; `None` when the number of indices exceeds `u32::MAX`, which no launch allows.
    pub(crate) fn extent(&self) -> Option<[u32; 3]> {
        if self.is_empty() {
            return Some([0; 3]);
        }
        u32::try_from(self.len()).ok().map(|_| self.dims.map(|d| d as u32))
    }
}

impl From<usize> for Domain {
    fn from(n: usize) -> Domain {
        Domain { dims: [n, 1, 1] }
    }
}

impl From<(usize, usize)> for Domain {
    fn from((x, y): (usize, usize)) -> Domain {
        Domain { dims: [x, y, 1] }
    }
}

impl From<(usize, usize, usize)> for Domain {
    fn from((x, y, z): (usize, usize, usize)) -> Domain {
        Domain { dims: [x, y, z] }
    }
}

impl From<[usize; 2]> for Domain {
    fn from([x, y]: [usize; 2]) -> Domain {
        Domain { dims: [x, y, 1] }
    }
}

impl From<[usize; 3]> for Domain {
    fn from(dims: [usize; 3]) -> Domain {
        Domain { dims }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_and_limits() {
        assert_eq!(Domain::from(5).extent(), Some([5, 1, 1]));
        assert_eq!(Domain::from((2, 3)).len(), 6);
        assert_eq!(Domain::from([2, 3, 4]).dims(), [2, 3, 4]);
        assert_eq!(Domain::from((usize::MAX, 0)).extent(), Some([0; 3]));
        assert_eq!(Domain::from((usize::MAX, 2)).extent(), None);
        assert_eq!(Domain::from((1 << 16, 1 << 16)).extent(), None);
    }
}
