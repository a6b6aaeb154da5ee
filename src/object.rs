//! One object at one version: the bytes it arrived as, and the few facts that the cache needs of it.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::json::scalar::Scalar;
use crate::json::scan::{Scanned, read_fields};
use crate::json::{Labels, no_labels};
use crate::key::{Key, key};
use crate::pack::Text;
use crate::status::{Error, ErrorCode, Status};
use crate::version::Version;

/// Identifies one object version within the process. Never reused.
pub type ObjectId = u64;

thread_local! {
    static NEXT_ID: Cell<ObjectId> = const { Cell::new(1) };
}

/// An object at a version. Immutable, shared by store, window, watchers and views.
pub struct Object {
    id: ObjectId,
    key: Key,
    namespace_len: usize,
    version: Version,
    uid: Option<Box<str>>,
    labels: Labels,
    // Paths may be registered after the object arrived: their slots are filled at the first read.
    fields: RefCell<Vec<Scalar>>,
    // By computed index. Given once, before the object is stored.
    index_values: OnceCell<IndexValues>,
    size: usize,
    text: Text,
}

/// The values of one object in each of the computed indexes.
pub type IndexValues = Box<[Box<[Rc<str>]>]>;

impl Object {
    /// Makes an object of a scanned document. Fails when it has no name, no version, or an unreadable version.
    pub fn new(scanned: Scanned) -> Result<Rc<Self>, Error> {
        let namespace = scanned.namespace.as_deref().unwrap_or("");
        let name = scanned.name.as_deref().unwrap_or("");
        let key = key(namespace, name)?;
        let text = scanned.version.as_deref().unwrap_or("");
        if text.is_empty() {
            return Err(Error::protocol(format!("the object {key:?} has no metadata.resourceVersion")));
        }
        let version = Version::parse(text).map_err(|error| Error::protocol(error.to_string()))?;
        Ok(Rc::new(Self {
            id: next_id(),
            namespace_len: namespace.len(),
            key,
            version,
            uid: scanned.uid,
            size: size(&scanned.bytes, &scanned.fields),
            labels: scanned.labels,
            fields: RefCell::new(scanned.fields),
            index_values: OnceCell::new(),
            text: Text::new(scanned.bytes),
        }))
    }

    /// The document of a bookmark: nothing but a version, and the annotation that ends the initial events.
    pub fn bookmark(version: &Version, initial_events_end: bool) -> Rc<Self> {
        let annotations = if initial_events_end { r#","annotations":{"k8s.io/initial-events-end":"true"}"# } else { "" };
        let text = format!(r#"{{"metadata":{{"resourceVersion":"{version}"{annotations}}}}}"#);
        Self::bare(version.clone(), text)
    }

    /// The document of an ERROR event.
    pub fn status(status: &Status) -> Rc<Self> {
        Self::bare(Version::ZERO, status.to_json())
    }

    fn bare(version: Version, text: String) -> Rc<Self> {
        Rc::new(Self {
            id: next_id(),
            key: "".into(),
            namespace_len: 0,
            version,
            uid: None,
            labels: no_labels(),
            fields: RefCell::new(Vec::new()),
            index_values: OnceCell::new(),
            size: size(text.as_bytes(), &[]),
            text: Text::new(text.into_bytes().into_boxed_slice()),
        })
    }

    /// Unique per object version.
    pub fn id(&self) -> ObjectId {
        self.id
    }

    /// `namespace/name` or `name`.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        &self.key[..self.namespace_len]
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        if self.namespace_len == 0 { &self.key } else { &self.key[self.namespace_len + 1..] }
    }

    /// `metadata.resourceVersion`.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }

    /// `metadata.labels`, sorted by key.
    pub fn labels(&self) -> &[(Rc<str>, Rc<str>)] {
        &self.labels
    }

    /// The stored document: what arrived, without the stripped paths. Ask once and keep the answer while it is read: an object at rest is
    /// unpacked at each call.
    pub fn text(&self) -> Text {
        self.text.clone()
    }

    /// The value at a registered path. Paths registered after the object arrived are read once, from the bytes.
    pub fn field(&self, slot: usize, fields: &FieldSet) -> Scalar {
        let mut values = self.fields.borrow_mut();
        if slot >= values.len() {
            let missing = &fields.paths()[values.len()..];
            values.extend(read_fields(&self.text(), missing));
        }
        values.get(slot).cloned().unwrap_or(Scalar::Missing)
    }

    /// The values in the computed index at this position; none before they were given.
    pub fn index_values(&self, position: usize) -> &[Rc<str>] {
        self.index_values.get().and_then(|values| values.get(position)).map_or(&[], |values| values)
    }

    /// Gives the values in the computed indexes. Only the first call counts: what an index holds under them has to be found again.
    pub fn set_index_values(&self, values: IndexValues) {
        let _given_before = self.index_values.set(values);
    }

    /// Whether the values in the computed indexes were given.
    pub fn has_index_values(&self) -> bool {
        self.index_values.get().is_some()
    }

    /// The value at any path, without decoding the object.
    pub fn read(&self, path: &Path) -> Scalar {
        path.read(&self.text()).unwrap_or(Scalar::Missing)
    }

    /// The same content at another version: what a watcher receives when an object is deleted or leaves its selector.
    pub fn restamped(&self, version: &Version) -> Result<Rc<Self>, Error> {
        let path = Path::parse("metadata.resourceVersion").map_err(|error| Error::new(ErrorCode::Internal, error.to_string()))?;
        let held = self.text();
        let Some(span) = path.find(&held) else {
            return Err(Error::new(ErrorCode::Internal, "a stored object has lost its resourceVersion"));
        };
        let text = format!("\"{version}\"");
        let mut bytes = Vec::with_capacity(held.len() - span.len() + text.len());
        bytes.extend_from_slice(&held[..span.start]);
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(&held[span.end..]);
        Ok(Rc::new(Self {
            id: next_id(),
            key: self.key.clone(),
            namespace_len: self.namespace_len,
            version: version.clone(),
            uid: self.uid.clone(),
            labels: self.labels.clone(),
            // Field values other than the version are the same, but the version may be one of them.
            fields: RefCell::new(Vec::new()),
            index_values: OnceCell::new(),
            size: size(&bytes, &[]),
            text: Text::new(bytes.into_boxed_slice()),
        }))
    }

    /// Bytes this object holds: the document and its facts, without what it shares. It stays what it was when the object was
    /// made, though paths may be read later: whoever adds sizes up takes away again what was added.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.key, self.version)
    }
}

fn size(bytes: &[u8], fields: &[Scalar]) -> usize {
    size_of::<Object>() + bytes.len() + size_of_val(fields)
}

fn next_id() -> ObjectId {
    NEXT_ID.with(|next| {
        let id = next.get();
        next.set(id + 1);
        id
    })
}
