//! Spans in the JSON that Perfetto (<https://ui.perfetto.dev>) and `chrome://tracing` open: the "trace event format", one
//! complete event (`"ph":"X"`, times in microseconds) per span.

use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::error::{Error, Result};
use crate::sync::lock;

/// Writes all spans of the process into a file, from [`ChromeTrace::start`] until it is dropped.
pub struct ChromeTrace(Arc<Sink>);

struct Sink {
    path: PathBuf,
    zero: Instant,
    state: Mutex<State>,
    next: AtomicU64,
}

struct State {
    /// `None` when finished, or when a write has failed.
    file: Option<BufWriter<File>>,
    failed: Option<String>,
    open: HashMap<u64, Open>,
    written: usize,
}

/// A span that has not been closed.
struct Open {
    name: &'static str,
    fields: Fields,
    entered: Option<Instant>,
}

/// Fields as the inside of a JSON object.
#[derive(Default)]
struct Fields {
    json: String,
    name: Option<String>,
}

impl ChromeTrace {
    /// Opens the file and takes the place of the process's subscriber.
    ///
    /// # Errors
    /// When the file cannot be written, or the process has a subscriber already.
    pub fn start(path: impl AsRef<Path>) -> Result<ChromeTrace> {
        let path = path.as_ref().to_owned();
        let failed = |reason: String| Error::File { path: path.clone(), reason };
        let file = File::create(&path).map_err(|e| failed(format!("cannot be written: {e}")))?;
        let mut file = BufWriter::with_capacity(1 << 18, file);
        file.write_all(b"[\n").map_err(|e| failed(format!("cannot be written: {e}")))?;
        let state = State { file: Some(file), failed: None, open: HashMap::new(), written: 0 };
        let sink = Sink { path: path.clone(), zero: Instant::now(), state: Mutex::new(state), next: AtomicU64::new(1) };
        let sink = Arc::new(sink);
        tracing::subscriber::set_global_default(Writer(sink.clone()))
            .map_err(|_| failed("is not written: the process has a subscriber for `tracing` already".to_owned()))?;
        Ok(ChromeTrace(sink))
    }

    /// Ends the trace; returns the number of spans in it.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn finish(self) -> Result<usize> {
        self.0.close()
    }
}

impl Drop for ChromeTrace {
    fn drop(&mut self) {
        // Who wants to know calls `finish`.
        let _ = self.0.close();
    }
}

impl Sink {
    fn close(&self) -> Result<usize> {
        let mut state = lock(&self.state);
        if let Some(mut file) = state.file.take()
            && let Err(e) = file.write_all(b"\n]\n").and_then(|()| file.flush())
        {
            state.failed = Some(e.to_string());
        }
        match &state.failed {
            Some(e) => Err(Error::File { path: self.path.clone(), reason: format!("cannot be written: {e}") }),
            None => Ok(state.written),
        }
    }

    fn event(&self, state: &mut State, span: &str, entered: Instant, fields: &Fields) {
        let Some(file) = &mut state.file else { return };
        let micros = |d: std::time::Duration| d.as_nanos() as f64 / 1e3;
        let name = fields.name.as_deref().unwrap_or(span);
        let mut line = String::with_capacity(128);
        let comma = if state.written == 0 { "" } else { ",\n" };
        let _ = write!(
            line,
            "{comma}{{\"name\":{},\"cat\":{},\"ph\":\"X\",\"ts\":{:.3},\"dur\":{:.3},\"pid\":{},\"tid\":{},\
             \"args\":{{{}}}}}",
            quoted(name),
            quoted(span),
            micros(entered.duration_since(self.zero)),
            micros(entered.elapsed()),
            std::process::id(),
            thread_number(),
            fields.json
        );
        match file.write_all(line.as_bytes()) {
            Ok(()) => state.written += 1,
            Err(e) => {
                state.file = None;
                state.failed = Some(e.to_string());
            }
        }
    }
}

/// A small number of this thread.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(json, "\\u{:04x}", c as u32);
            }
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

impl Fields {
    fn add(&mut self, field: &Field, value: &str) {
        let comma = if self.json.is_empty() { "" } else { "," };
        let _ = write!(self.json, "{comma}{}:{value}", quoted(field.name()));
    }
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, &value.to_string());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, &value.to_string());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, if value { "true" } else { "false" });
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "name" => self.name = Some(value.to_owned()),
            _ => self.add(field, &quoted(value)),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, &quoted(&format!("{value:?}")));
    }
}

struct Writer(Arc<Sink>);

impl Subscriber for Writer {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let mut fields = Fields::default();
        span.record(&mut fields);
        lock(&self.0.state).open.insert(id, Open { name: span.metadata().name(), fields, entered: None });
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some(open) = lock(&self.0.state).open.get_mut(&span.into_u64()) {
            values.record(&mut open.fields);
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.event(&mut lock(&self.0.state), event.metadata().name(), Instant::now(), &fields);
    }

    fn enter(&self, span: &Id) {
        if let Some(open) = lock(&self.0.state).open.get_mut(&span.into_u64()) {
            open.entered = Some(Instant::now());
        }
    }

    fn exit(&self, span: &Id) {
        let mut state = lock(&self.0.state);
        let Some(mut open) = state.open.remove(&span.into_u64()) else { return };
        if let Some(entered) = open.entered.take() {
            self.0.event(&mut state, open.name, entered, &open.fields);
        }
        state.open.insert(span.into_u64(), open);
    }

    fn try_close(&self, span: Id) -> bool {
        lock(&self.0.state).open.remove(&span.into_u64()).is_some()
    }
}
