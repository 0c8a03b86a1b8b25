//! The schema of a document, for editors and for other programs.

use super::Document;
use crate::error::{Error, Result};

impl Document {
    /// The JSON schema, as in `docs/scene.schema.json`.
    ///
    /// # Errors
    /// When it holds a number that JSON does not have.
    pub fn schema() -> Result<String> {
        let text = serde_json::to_string_pretty(&schemars::schema_for!(Self));
        text.map(|text| text + "\n").map_err(|e| Error::Compute(format!("the schema cannot be written: {e}")))
    }
}
