//! What the fields of a document are called in the file that it was imported from.

/// Pairs of paths.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::scene) struct Fields {
    pairs: Vec<(String, String)>,
}

impl Fields {
    /// The value at `document` comes from `file`, and all below it, where nothing else is said of that.
    pub(super) fn add(&mut self, document: impl Into<String>, file: impl Into<String>) {
        self.pairs.push((document.into(), file.into()));
    }

    /// The path in the file of a path in the document.
    pub(in crate::scene) fn told(&self, path: &str) -> String {
        let below = |(document, file): &(String, String)| {
            let rest = path.strip_prefix(document.as_str())?;
            (rest.is_empty() || rest.starts_with(['.', '['])).then(|| (document.len(), format!("{file}{rest}")))
        };
        let longest = self.pairs.iter().filter_map(below).max_by_key(|(length, _)| *length);
        longest.map_or_else(|| path.to_owned(), |(_, told)| told)
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn the_longest_path_counts() {
        let mut fields = Fields::default();
        fields.add("bodies.object", "object");
        fields.add("bodies.object.shape.box.max", "object.block_max");
        assert_eq!(fields.told("bodies.object.shape.box.max[1]"), "object.block_max[1]");
        assert_eq!(fields.told("bodies.object.density"), "object.density");
        assert_eq!(fields.told("bodies.objects.density"), "bodies.objects.density");
    }
}
