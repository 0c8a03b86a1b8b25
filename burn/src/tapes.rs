//! Tapes between the forward and the backward walk. A tape stays on its thread, while what Burn keeps has to be `Send`; so
//! the tapes lie here, and Burn keeps a token.

use diffkern::Tape;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// Stands for a tape. When all its clones are gone, so is the tape, at the next [`keep`] or [`take`] of its thread at the
/// latest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Token(Arc<()>);

thread_local! {
    static KEPT: RefCell<Vec<(Weak<()>, Tape)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a tape on this thread.
pub(crate) fn keep(tape: Tape) -> Token {
    let token = Token::default();
    KEPT.with_borrow_mut(|kept| {
        kept.retain(|(weak, _)| weak.strong_count() > 0);
        kept.push((Arc::downgrade(&token.0), tape));
    });
    token
}

/// The tape, if it is on this thread.
pub(crate) fn take(token: &Token) -> Option<Tape> {
    KEPT.with_borrow_mut(|kept| {
        let here = Arc::downgrade(&token.0);
        kept.retain(|(weak, _)| weak.strong_count() > 0);
        let at = kept.iter().position(|(weak, _)| weak.ptr_eq(&here))?;
        Some(kept.swap_remove(at).1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tape() -> Tape {
        Tape::record(|| Ok(())).expect("an empty program records")
    }

    fn count() -> usize {
        KEPT.with_borrow(Vec::len)
    }

    #[test]
    fn a_tape_lives_as_long_as_its_token_and_stays_on_its_thread() {
        let (one, other) = (keep(tape()), keep(tape()));
        assert_eq!(count(), 2);
        drop(one);
        let copy = other.clone();
        assert!(std::thread::spawn(move || take(&copy).is_none()).join().expect("the thread ends"));
        assert!(take(&other).is_some() && take(&other).is_none());
        assert_eq!(count(), 0);
    }
}
