//! What a filter box asks of an object: words, each of which stands somewhere in the texts that are searched.

use crate::json::fields::{FieldSet, Slot};
use crate::json::path::Path;
use crate::object::Object;

/// Words, and the texts of an object in which they are looked for. An object is found if each word stands in at least one of the texts.
///
/// Letters of ASCII match in either case; all others as they are written. Texts are compared without the escapes of JSON.
///
/// ```
/// use watchcache::json::{FieldSet, Path};
/// use watchcache::testing::document;
/// use watchcache::view::Search;
///
/// let mut fields = FieldSet::new(Vec::new());
/// let pod = document(r#"{"metadata":{"namespace":"shop","name":"web-1","resourceVersion":"1","labels":{"app":"Web"}}}"#, &fields);
/// for (text, found) in [("SHOP web", true), ("shop/web", true), ("shop db", false), ("app=web", false)] {
///     assert_eq!(Search::new(text, None, &mut fields).finds(&pod, &fields), found, "{text}");
/// }
/// let labels = [Path::member(&["metadata", "labels"])];
/// assert!(Search::new("app=web", Some(&labels), &mut fields).finds(&pod, &fields));
/// ```
#[derive(Debug, Clone)]
pub struct Search {
    words: Vec<Word>,
    texts: Vec<Searched>,
}

/// A text that is searched. All but fields are held beside the document, so nothing at rest is unpacked for them.
#[derive(Debug, Clone)]
enum Searched {
    /// `namespace/name`, or `name`.
    Key,
    Namespace,
    Name,
    /// Each label as `key=value`.
    Labels,
    Field(Slot),
}

impl Search {
    /// Reads what was typed: words between whitespace. They are looked for in the values at these paths, and without paths in the key,
    /// `namespace/name`. `metadata.labels` stands for each label as `key=value`. The other paths lead to scalars, which are registered as
    /// fields while this or a clone of it is held.
    pub fn new(text: &str, paths: Option<&[Path]>, fields: &mut FieldSet) -> Self {
        let [namespace, name, labels] = ["namespace", "name", "labels"].map(|member| Path::member(&["metadata", member]));
        let is_listed = |path: &Path| paths.is_none_or(|paths| paths.contains(path));
        let mut texts = Vec::new();
        match (is_listed(&namespace), is_listed(&name)) {
            // A word may then span both, as `kube-system/core` does.
            (true, true) => texts.push(Searched::Key),
            (true, false) => texts.push(Searched::Namespace),
            (false, true) => texts.push(Searched::Name),
            (false, false) => {}
        }
        for path in paths.unwrap_or_default() {
            if *path == labels {
                texts.push(Searched::Labels);
            } else if ![&namespace, &name].contains(&path) {
                texts.push(Searched::Field(fields.hold(path)));
            }
        }
        Self { words: text.split_whitespace().map(Word::new).collect(), texts }
    }

    /// Whether there is no word, so that every object is found.
    pub fn is_everything(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether fields are searched, which are read from the document.
    pub(super) fn reads_fields(&self) -> bool {
        self.texts.iter().any(|text| matches!(text, Searched::Field(_)))
    }

    /// Whether an object is found. `fields` is the set that this was made with.
    pub fn finds(&self, object: &Object, fields: &FieldSet) -> bool {
        self.words.iter().all(|word| self.texts.iter().any(|text| text.has(word, object, fields)))
    }
}

impl Searched {
    fn has(&self, word: &Word, object: &Object, fields: &FieldSet) -> bool {
        match self {
            Self::Key => word.is_in(&[object.key()]),
            Self::Namespace => word.is_in(&[object.namespace()]),
            Self::Name => word.is_in(&[object.name()]),
            Self::Labels => object.labels().iter().any(|(key, value)| word.is_in(&[key, "=", value])),
            Self::Field(slot) => word.is_in(&[object.field(slot.number(), fields).text()]),
        }
    }
}

/// A word that is looked for, by the algorithm of Knuth, Morris and Pratt. It reads each byte of a text once, whatever was typed and whatever a
/// server sends, and a text may come in pieces.
#[derive(Debug, Clone)]
struct Word {
    /// In lower case. Never empty.
    bytes: Box<[u8]>,
    /// After so many bytes, less one: how many of its first bytes the last ones are, without being all of them.
    borders: Box<[usize]>,
}

impl Word {
    fn new(text: &str) -> Self {
        let bytes = text.to_ascii_lowercase().into_bytes().into_boxed_slice();
        let mut word = Self { borders: vec![0; bytes.len()].into(), bytes };
        let mut border = 0;
        for end in 1..word.bytes.len() {
            border = word.step(border, word.bytes[end]);
            word.borders[end] = border;
        }
        word
    }

    /// How many bytes of the word end a text with one byte more, where `found` ended it before.
    #[inline]
    fn step(&self, mut found: usize, byte: u8) -> usize {
        while self.bytes[found] != byte {
            if found == 0 {
                return 0;
            }
            found = self.borders[found - 1];
        }
        found + 1
    }

    /// Whether it stands in a text, which is given in pieces.
    fn is_in(&self, pieces: &[&str]) -> bool {
        let (first, mut found) = (self.bytes[0], 0);
        for piece in pieces {
            for byte in piece.bytes() {
                let byte = byte.to_ascii_lowercase();
                // Of most texts no byte is the first of the word.
                found = if found == 0 { usize::from(byte == first) } else { self.step(found, byte) };
                if found == self.bytes.len() {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::document;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    /// Whether this text, in these paths, finds the one pod.
    fn finds(text: &str, paths: Option<&[&str]>) -> bool {
        let mut fields = FieldSet::new(Vec::new());
        let paths: Option<Vec<Path>> = paths.map(|paths| paths.iter().map(|text| path(text)).collect());
        let search = Search::new(text, paths.as_deref(), &mut fields);
        let pod = r#"{"metadata":{"namespace":"shop","name":"web-1","resourceVersion":"1","labels":{"app":"Web","tier":"front"},
            "annotations":{"note":"gr\u00fcn \"quoted\"\nline"}},"spec":{"nodeName":"Node-7","priority":1.50e2,"hostNetwork":true,"ports":["web"]}}"#;
        search.finds(&document(pod, &fields), &fields)
    }

    #[test]
    fn vs_01_each_word_stands_in_one_of_the_texts() {
        for (text, found) in [
            ("", true),
            (" \t\n", true),
            ("web", true),
            ("WEB-1", true),
            ("shop web", true),
            ("web shop ", true),
            ("op/we", true),
            ("web db", false),
            ("web2", false),
            ("front", false),
            ("web-11", false),
        ] {
            assert_eq!(finds(text, None), found, "{text:?}");
        }
    }

    #[test]
    fn vs_02_paths_say_what_is_searched() {
        for (text, paths, found) in [
            ("shop", &["metadata.name"][..], false),
            ("web", &["metadata.name"], true),
            ("web", &["metadata.namespace"], false),
            ("shop/web", &["metadata.name", "spec.nodeName", "$.metadata['namespace']"], true),
            ("app=web", &["metadata.labels"], true),
            ("er=fro", &["metadata.labels"], true),
            ("webtier", &["metadata.labels"], false),
            ("app=front", &["metadata.labels"], false),
            ("web front", &["metadata.labels"], true),
            ("web node-7", &["metadata.name", "spec.nodeName"], true),
            ("1.50E2", &["spec.priority"], true),
            ("150", &["spec.priority"], false),
            ("TRUE", &["spec.hostNetwork"], true),
            ("web", &["spec.ports"], false),
            ("web", &["spec.ports[0]"], true),
            ("web", &["spec.none"], false),
            ("web", &[], false),
            ("", &[], true),
        ] {
            assert_eq!(finds(text, Some(paths)), found, "{text:?} in {paths:?}");
        }
    }

    #[test]
    fn vs_03_ascii_matches_in_either_case_and_escapes_are_read() {
        let note = Some(&["metadata.annotations.note"][..]);
        assert!(finds("GRün", note) && finds("grün \"QUOTED\"", note) && finds("line", note));
        assert!(!finds("grÜn", note), "other letters match as they are written");
        assert!(!finds(r"\n", note) && !finds("u00fc", note), "an escape is no text");
    }

    #[test]
    fn vs_04_names_and_labels_are_searched_without_the_document() {
        let mut fields = FieldSet::new(Vec::new());
        let [name, labels, node] = ["metadata.name", "metadata.labels", "spec.nodeName"].map(path);
        for paths in [None, Some(&[name.clone(), labels][..])] {
            assert!(!Search::new("x", paths, &mut fields).reads_fields());
        }
        assert!(fields.is_empty(), "no path is wanted for them");
        assert!(Search::new("x", Some(&[name, node]), &mut fields).reads_fields());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 2_000 }))]

        /// Few letters, so that words overlap with themselves.
        #[test]
        fn vs_03_a_word_is_found_where_it_stands(word in "[abA]{1,6}|[aäÄ√]{1,3}", pieces in prop::collection::vec("[abAB]{0,12}|[aäÄ√A]{0,6}", 1..4)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let stands = pieces.concat().to_ascii_lowercase().contains(&word.to_ascii_lowercase());
            prop_assert_eq!(Word::new(&word).is_in(&pieces), stands);
        }
    }
}
