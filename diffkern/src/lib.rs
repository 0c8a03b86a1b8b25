//! diffkern
