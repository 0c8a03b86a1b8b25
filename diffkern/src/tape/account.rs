//! Counts and times launches, for the report.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use super::ledger::Ledger;
use crate::buffer::Buffer;
use crate::error::Result;
use crate::launch::observers::{Event, Observer};

/// Puts the launches of a stretch of the program on the account of its recording.
pub(super) struct Account {
    ledger: Rc<Ledger>,
    start: Cell<Option<Instant>>,
}

impl Account {
    pub(super) fn new(ledger: Rc<Ledger>) -> Account {
        Account { ledger, start: Cell::new(None) }
    }
}

impl Observer for Account {
    fn before(&self, event: &Event<'_>) -> Result<()> {
        if let Event::Launch(call) = event {
            if self.ledger.options.timed {
                call.device.wait()?;
            }
            self.start.set(Some(Instant::now()));
        }
        Ok(())
    }

    fn times(&self) -> bool {
        true
    }

    fn after(&self, event: &Event<'_>, _: &[Option<Arc<Buffer>>]) -> Result<()> {
        if let Event::Launch(call) = event {
            if self.ledger.options.timed {
                call.device.wait()?;
            }
            let seconds = self.start.take().map_or(0.0, |start| start.elapsed().as_secs_f64());
            let [lack, _] = call.native.lacks_on(call.device);
            self.ledger.forward(call.def, lack, seconds);
        }
        Ok(())
    }
}
