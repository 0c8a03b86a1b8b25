//! Inputs read by the library, on a thread that may panic or hang.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use train::Error;
use train::experiment::Experiment;
use train::experiment::Prepared;
use train::limits::Limits;
use train::scene::Scene;
use train::video::Video;

use crate::case::{Case, Kind};
use crate::judge::{self, Taken};
use crate::memory;

/// Bytes that reading an input may take at a time.
const MEMORY: usize = 1 << 30;

type Task = (Arc<Case>, PathBuf);
type Answer = (Result<Taken, String>, usize);

thread_local! {
    /// What the last panic of this thread said, and where.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what panics say, instead of printing it.
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|info| PANIC.with(|text| *text.borrow_mut() = info.to_string())));
}

/// The thread that reads.
pub struct Reader {
    tasks: Sender<Task>,
    answers: Receiver<Answer>,
    most: usize,
}

impl Reader {
    /// Starts the thread.
    pub fn start() -> Reader {
        let ((tasks, todo), (done, answers)) = (channel::<Task>(), channel());
        thread::spawn(move || {
            for (case, folder) in todo {
                // What a thread that hangs has taken is not of this input.
                let before = memory::forget_peak();
                let taken = catch_unwind(AssertUnwindSafe(|| judge::result(&case, &folder, &read(&case, &folder))))
                    .unwrap_or_else(|_| Err(format!("panic: {}", PANIC.take())));
                if done.send((taken, memory::peak().saturating_sub(before))).is_err() {
                    return;
                }
            }
        });
        Reader { tasks, answers, most: 0 }
    }

    /// How an input is taken; a thread that hangs is left behind.
    pub fn read(&mut self, case: &Arc<Case>, folder: &Path, limit: Duration) -> Result<Taken, String> {
        // The thread is there: it catches what may end it.
        let _ = self.tasks.send((case.clone(), folder.to_owned()));
        let Ok((taken, bytes)) = self.answers.recv_timeout(limit) else {
            *self = Reader { most: self.most, ..Reader::start() };
            return Err(format!("hangs for more than {} s", limit.as_secs()));
        };
        self.most = self.most.max(bytes);
        if bytes > MEMORY {
            return Err(format!("takes {bytes} bytes of memory"));
        }
        taken
    }

    /// The most bytes that were in use at a time.
    pub fn most(&self) -> usize {
        self.most
    }
}

/// Everything that a job reads before its work.
fn read(case: &Case, folder: &Path) -> Result<(), Error> {
    match case.kind {
        Kind::Frame => {
            let video = folder.join("video");
            let read = Scene::read(&video).and_then(|scene| Video::read(&video, &scene));
            // The renderer's readers do not know the size beforehand.
            return images(case, folder).and(read.map(drop));
        }
        Kind::Scene | Kind::Document | Kind::Mesh => {
            let video = folder.join("video");
            let scene = Scene::read(&video)?;
            Video::read(&video, &scene)?;
        }
        Kind::Job => Experiment::read(&folder.join("job.ron"))?.check()?,
        Kind::Run => drop(Prepared::resume(&folder.join("run"), None, None, Limits::default())?),
        Kind::Command => {}
    }
    Ok(())
}

/// The renderer's readers of images.
fn images(case: &Case, folder: &Path) -> Result<(), Error> {
    for name in &case.changed {
        let file = folder.join(name);
        let refused = match name.contains("silhouette") {
            true => diffkern_render::image::read_gray(&file).err(),
            false => diffkern_render::image::read_rgb(&file).err(),
        };
        if let Some(error) = refused {
            return Err(Error::file(&file, error.to_string().replace(&file.display().to_string(), "")));
        }
    }
    Ok(())
}
