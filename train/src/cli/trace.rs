//! `--trace FILE`.

use std::path::Path;
use train::Error;

/// The trace of this run, written until it ends; until then under another name.
pub(super) struct Trace {
    #[cfg(feature = "trace")]
    trace: diffkern::trace::ChromeTrace,
    #[cfg(feature = "trace")]
    path: std::path::PathBuf,
}

#[cfg(feature = "trace")]
impl Trace {
    pub(super) fn start(path: &Path) -> Result<Trace, Error> {
        use train::files;
        let temporary = files::temporary(path);
        files::remove(&temporary)?;
        let trace = diffkern::trace::ChromeTrace::start(temporary);
        let trace = trace.map_err(|e| match e {
            diffkern::Error::File { reason, .. } => Error::argument("trace", format!("{}: {reason}", path.display())),
            other => Error::argument("trace", other.to_string()),
        })?;
        Ok(Trace { trace, path: path.into() })
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        use train::files;
        let temporary = files::temporary(&self.path);
        let finished = self.trace.finish().map_err(Error::from).and_then(|_| files::put(&temporary, &self.path));
        finished.inspect_err(|_| {
            // The first error is the one to tell.
            let _ = files::remove(&temporary);
        })
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
