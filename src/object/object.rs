//! One object at one version: the bytes it arrived as, and the few facts that the cache needs of it.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use super::rest::body::{Body, Whole};
use super::rest::text::{Lent, Text};
use crate::allocation::{allocation, own_text, shared};
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::json::scalar::Scalar;
use crate::json::scan::{Scanned, read_slots};
use crate::json::{Labels, no_labels};
use crate::key::{Key, key};
use crate::status::{Error, ErrorCode, Status};
use crate::version::Version;

/// Identifies one object version within the process. Never reused.
pub type ObjectId = u64;

thread_local! {
    static NEXT_ID: Cell<ObjectId> = const { Cell::new(1) };
}

/// Whose bytes an object counts among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holder {
    /// Nobody's: it is on its way, or held by a reader alone.
    #[default]
    Nobody,
    /// The store's.
    Store,
    /// The window's.
    Window,
}

/// An object at a version. Immutable but for the form its text is held in, which nobody can tell; shared by store, window, watchers and
/// views.
pub struct Object {
    id: ObjectId,
    version: Version,
    // What mostly stays as it is from one version to the next is held once for both.
    head: Rc<Head>,
    // Paths may be registered after the object arrived: their slots are filled at the first read.
    fields: RefCell<Rc<[Scalar]>>,
    // When that was: a slot may become another path's.
    read: Cell<u32>,
    // By computed index. Given once, before the object is stored.
    index_values: OnceCell<IndexValues>,
    size: Cell<usize>,
    holder: Cell<Holder>,
    // How many older versions are told by this one, one by the other.
    depth: Cell<u8>,
    queued: Cell<bool>,
    // Once for all that JavaScript holds of it.
    pinned: Cell<bool>,
    body: RefCell<Body<Self>>,
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
        let head = Head { namespace_len: namespace.len(), key, uid: scanned.uid, labels: scanned.labels };
        let fields = if scanned.fields.is_empty() { no_fields() } else { scanned.fields.into() };
        let object = Self::of(Rc::new(head), version, fields, scanned.bytes);
        object.read.set(scanned.read);
        Ok(object)
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
        let head = NOBODY.with(Rc::clone);
        Self::of(head, version, no_fields(), text.into_bytes().into_boxed_slice())
    }

    fn of(head: Rc<Head>, version: Version, fields: Rc<[Scalar]>, bytes: Box<[u8]>) -> Rc<Self> {
        let object = Self {
            id: next_id(),
            version,
            head,
            fields: RefCell::new(fields),
            read: Cell::new(0),
            index_values: OnceCell::new(),
            size: Cell::new(0),
            holder: Cell::default(),
            depth: Cell::new(0),
            queued: Cell::new(false),
            pinned: Cell::new(false),
            body: RefCell::new(Body::Raw(Text::new(bytes))),
        };
        object.size.set(object.measure());
        Rc::new(object)
    }

    /// Unique per object version.
    pub fn id(&self) -> ObjectId {
        self.id
    }

    /// `namespace/name` or `name`.
    pub fn key(&self) -> &Key {
        &self.head.key
    }

    /// Empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        &self.head.key[..self.head.namespace_len]
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        let Head { key, namespace_len, .. } = &*self.head;
        if *namespace_len == 0 { key } else { &key[namespace_len + 1..] }
    }

    /// `metadata.resourceVersion`.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> Option<&str> {
        self.head.uid.as_deref()
    }

    /// `metadata.labels`, sorted by key.
    pub fn labels(&self) -> &[(Rc<str>, Rc<str>)] {
        &self.head.labels
    }

    /// The stored document: what arrived, without the stripped paths. Ask once and keep the answer while it is read: an object at rest is
    /// unpacked at each call.
    pub fn text(&self) -> Text {
        self.body.borrow().text()
    }

    /// The same for one who reads it once and lets it go, as a decoder does: nothing of it is kept for the next reader.
    pub fn lend(&self) -> Lent {
        self.body.borrow().lend()
    }

    /// The value at a registered path. Paths registered after the object arrived are read once, from the bytes; what every object is known by
    /// needs no reading.
    pub fn field(&self, slot: usize, fields: &FieldSet) -> Scalar {
        let mut values = self.fields.borrow_mut();
        if slot >= values.len() || !fields.is_current(slot, self.read.get()) {
            let known = if fields.is_name(slot) { self.name() } else { "" };
            if !known.is_empty() {
                return Scalar::Text(known.into());
            }
            *values = read_slots(&self.lend(), fields).into();
            self.read.set(fields.now());
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
        let text = self.text();
        path.find(&text).map_or(Scalar::Missing, |span| Scalar::from_raw(&text[span]))
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
        // Field values other than the version are the same, but the version may be one of them.
        Ok(Self::of(self.head.clone(), version.clone(), no_fields(), bytes.into_boxed_slice()))
    }

    /// Shares with the version that it replaces what is the same in both.
    pub fn share_with(&mut self, previous: &Self) {
        if *self.head == *previous.head {
            self.head = previous.head.clone();
        }
        let (fields, held) = (self.fields.get_mut(), previous.fields.borrow());
        if **fields == **held {
            *fields = held.clone();
        }
    }

    /// Whether labels and registered fields are those of this version of the same object, as far as that costs two comparisons of pointers:
    /// where it does, [`share_with`](Object::share_with) has seen to it. Fields that neither has read do not count.
    pub fn shares_facts(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.head, &other.head)
            && Rc::ptr_eq(&*self.fields.borrow(), &*other.fields.borrow())
            && self.read.get() == other.read.get()
    }

    /// Bytes this object holds in the form it has: the text, its facts, and what the allocator takes for them. What many objects share
    /// (labels, equal field values) is left out, and what versions of an object share counts with the newest. It changes only when the object gets another holder or another form, though paths may be
    /// read in between: whoever adds sizes up takes away again what was added.
    pub fn size(&self) -> usize {
        self.size.get()
    }

    fn measure(&self) -> usize {
        let fields = self.fields.borrow();
        // What versions share counts with the newest of them.
        let own = |count: usize| count == 1 || self.holder.get() != Holder::Window;
        let texts = |value: &Scalar| match value {
            Scalar::Text(text) | Scalar::Number(text) => own_text(text),
            _ => 0,
        };
        let values = |values: &IndexValues| {
            let lists = values.iter().map(|list| allocation(size_of_val(&**list)) + list.iter().map(own_text).sum::<usize>());
            allocation(size_of_val(&**values)) + lists.sum::<usize>()
        };
        let head =
            || shared(size_of::<Head>()) + shared(self.head.key.len()) + self.head.uid.as_ref().map_or(0, |uid| allocation(uid.len()));
        let read = || shared(size_of_val(&**fields)) + fields.iter().map(texts).sum::<usize>();
        shared(size_of::<Self>())
            + if own(Rc::strong_count(&self.head)) { head() } else { 0 }
            + if !fields.is_empty() && own(Rc::strong_count(&fields)) { read() } else { 0 }
            + self.index_values.get().map_or(0, values)
            + self.body.borrow().cost()
    }

    /// Counts among the bytes of this holder from now on, with the size that it has now.
    pub fn held_by(&self, holder: Holder) {
        self.holder.set(holder);
        if holder != Holder::Nobody {
            self.size.set(self.measure());
        }
    }

    /// Whose bytes it counts among.
    pub fn holder(&self) -> Holder {
        self.holder.get()
    }

    /// The length of the text, and whether it is held as it is.
    pub fn form(&self) -> (usize, bool) {
        let body = self.body.borrow();
        (body.len(), body.is_raw())
    }

    /// Holds the text in another form. Returns the size before and after.
    pub(crate) fn reform(&self, body: Body<Self>) -> (usize, usize) {
        // What it replaces may be the last to hold other objects: they go when nothing is borrowed any more.
        let _before = self.body.replace(body);
        let size = self.measure();
        (self.size.replace(size), size)
    }

    /// Whether it was queued to be packed before this call; from now on it was.
    pub(crate) fn was_queued(&self) -> bool {
        self.queued.replace(true)
    }

    /// JavaScript may read it from now on, or no more. Whoever says so holds it once meanwhile.
    pub fn pinned(&self, pinned: bool) {
        self.pinned.set(pinned);
    }

    /// Whether one of those who hold it does so for JavaScript.
    pub fn is_pinned(&self) -> bool {
        self.pinned.get()
    }

    /// The version that its text is told by, and that it holds for that.
    pub(crate) fn told_by(&self) -> Option<ObjectId> {
        match &*self.body.borrow() {
            Body::Delta { next, .. } => Some(next.id()),
            _ => None,
        }
    }

    /// How many older versions are told by this one, one by the other.
    pub fn depth(&self) -> u8 {
        self.depth.get()
    }

    /// An older version is told by this one; that many hang on it now.
    pub fn set_depth(&self, depth: u8) {
        self.depth.set(depth.max(self.depth.get()));
    }
}

impl Whole for Object {
    fn text(&self) -> Text {
        Self::text(self)
    }
}

/// What an object is known by, and selected.
#[derive(PartialEq, Eq)]
struct Head {
    key: Key,
    namespace_len: usize,
    uid: Option<Box<str>>,
    labels: Labels,
}

thread_local! {
    static NOBODY: Rc<Head> = Rc::new(Head { key: "".into(), namespace_len: 0, uid: None, labels: no_labels() });
    static NO_FIELDS: Rc<[Scalar]> = Rc::new([]);
}

fn no_fields() -> Rc<[Scalar]> {
    NO_FIELDS.with(Rc::clone)
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.key(), self.version)
    }
}

fn next_id() -> ObjectId {
    NEXT_ID.with(|next| {
        let id = next.get();
        next.set(id + 1);
        id
    })
}
