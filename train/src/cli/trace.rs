//! `--trace FILE`.

use std::path::Path;
use train::Error;

/// The trace of this run, written until it ends.
pub(super) struct Trace {
    #[cfg(feature = "trace")]
    file: diffkern::trace::ChromeTrace,
}

#[cfg(feature = "trace")]
impl Trace {
    pub(super) fn start(path: &Path) -> Result<Trace, Error> {
        let file = diffkern::trace::ChromeTrace::start(path).map_err(|e| Error::argument("trace", e.to_string()))?;
        Ok(Trace { file })
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.file.finish().map(|_| ()).map_err(Error::from)
    }
}

#[cfg(not(feature = "trace"))]
impl Trace {
    pub(super) fn start(_: &Path) -> Result<Trace, Error> {
        Err(Error::argument("trace", "this program was built without it; build with `--features trace`"))
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        Ok(())
    }
}
