//! The output stream.

use std::io::{Write, stdout};

/// Writes a line where programs read it.
pub(super) fn print(line: &str) {
    // The reader has gone; the files are written all the same.
    let _ = writeln!(stdout(), "{line}");
}

/// Every device, with why it is not offered where it is not.
pub(super) fn devices() {
    for (name, found) in diffkern::Device::known() {
        let what = match found {
            Ok(description) => description,
            Err(diffkern::Error::Device { reason, .. }) => format!("not offered: {reason}"),
            Err(other) => format!("not offered: {other}"),
        };
        print(&format!("{name:<6} {what}"));
    }
}
