//! One object at one version: its bytes, and the few facts that the cache needs of them.

use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::rc::Rc;

use super::rest::body::{Before, Body, Whole};
use super::rest::delta::delta_of;
use super::rest::text::{Lent, Text};
use crate::allocation::{allocation, own_text, shared};
use crate::json::edits::Edits;
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::json::scalar::Scalar;
use crate::json::scan::{Scanned, read_slots};
use crate::json::{Labels, no_labels};
use crate::key::{Key, key};
use crate::status::{Error, ErrorCode, Status};
use crate::version::Version;

/// Identifies one version of an object in this process. Never reused.
pub type ObjectId = u64;

thread_local! {
    static NEXT_ID: Cell<ObjectId> = const { Cell::new(1) };
}

/// Which account an object's bytes belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holder {
    /// None: the object is in transit, or only a reader holds it.
    #[default]
    Nobody,
    /// The store.
    Store,
    /// The event window.
    Window,
}

/// An object at a version, shared by store, window, watchers and views. It never changes, except the form of its text, which readers cannot
/// see.
///
/// ```
/// use watchcache::json::{FieldSet, Path, Scalar, scan_object};
/// use watchcache::object::Object;
///
/// // What `strip` names is never held; what is wanted is read in the same pass.
/// let mut fields = FieldSet::new(vec![Path::parse("metadata.managedFields").expect("a path")]);
/// let node = fields.slot(&Path::parse("spec.nodeName").expect("a path"));
/// let text = br#"{"metadata":{"namespace":"web","name":"a","resourceVersion":"7","managedFields":[]},"spec":{"nodeName":"n1"}}"#;
/// let pod = Object::new(scan_object(text, &fields).expect("a JSON document"))?;
/// assert_eq!((&**pod.key(), pod.version().as_u64()), ("web/a", Some(7)));
/// assert_eq!(pod.field(node, &fields), Scalar::Text("n1".into()));
/// assert!(!String::from_utf8_lossy(&pod.text()).contains("managedFields"));
/// # Ok::<_, watchcache::status::Error>(())
/// ```
pub struct Object {
    id: ObjectId,
    version: Version,
    // Shared with the previous version if nothing in it changed, which is the usual case.
    head: Rc<Head>,
    // By slot. Paths may be registered after the object arrived: their values are read at the first use.
    fields: RefCell<Rc<[Scalar]>>,
    // When the fields were read, on the clock of `FieldSet::now`. A slot may have got another path since.
    read: Cell<u32>,
    // By computed index. Set once, before the object is stored.
    index_values: OnceCell<IndexValues>,
    size: Cell<usize>,
    holder: Cell<Holder>,
    // The length of the delta chain that ends here: older versions that need this one to be read.
    depth: Cell<u8>,
    queued: Cell<bool>,
    // One flag for everything that JavaScript holds of it.
    pinned: Cell<bool>,
    // Whether JavaScript has decoded it.
    decoded: Cell<bool>,
    // How many fields will be read of it at their first use, where it came packed: they count before.
    unread: Cell<u16>,
    // The depth in documents up to which its text may be compared with a new one; `None` where it may not.
    comparable: Cell<Option<u8>>,
    body: RefCell<Body<Self>>,
}

/// The values of one object in each computed index.
pub type IndexValues = Box<[Box<[Rc<str>]>]>;

impl Object {
    /// Makes an object of a scanned document. Fails if it has no name or no version, or if the version is not a number.
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
        let comparable = if scanned.is_odd { None } else { u8::try_from(scanned.depth).ok() };
        let object = Self {
            comparable: Cell::new(comparable),
            read: Cell::new(scanned.read),
            ..Self::of(Rc::new(head), version, fields, scanned.bytes)
        };
        Ok(object.measured())
    }

    /// One that was packed elsewhere, and is taken as it is. So many fields will be read of it at their first use: their bytes count from now on.
    pub(super) fn at_rest(facts: &Facts<'_>, body: Body<Self>, fields: usize) -> Result<Rc<Self>, Error> {
        let Facts { namespace, name, version, uid, labels, comparable } = *facts;
        let (key, uid) = (key(namespace, name)?, uid.map(Into::into));
        let head = Head { namespace_len: namespace.len(), key, uid, labels: labels.clone() };
        let object = Self {
            comparable: Cell::new(comparable),
            body: RefCell::new(body),
            unread: Cell::new(u16::try_from(fields).unwrap_or(u16::MAX)),
            ..Self::of(Rc::new(head), version.clone(), no_fields(), Box::default())
        };
        Ok(object.measured())
    }

    /// What is known of it without its text.
    pub(crate) fn facts(&self) -> Facts<'_> {
        let (namespace, name, version, comparable) = (self.namespace(), self.name(), &self.version, self.comparable.get());
        Facts { namespace, name, version, uid: self.uid(), labels: &self.head.labels, comparable }
    }

    /// How its text is held.
    pub(super) fn body(&self) -> Ref<'_, Body<Self>> {
        self.body.borrow()
    }

    /// The version that an update makes of this one, whose text is `held`.
    pub fn updated(&self, held: &[u8], update: Edits, depth: usize) -> Result<Rc<Self>, Error> {
        let version = match &update.version {
            Some(text) => Version::parse(text).map_err(|error| Error::protocol(error.to_string()))?,
            None => self.version.clone(),
        };
        let head = match update.labels {
            Some(labels) if labels != self.head.labels => Rc::new(Head { labels, ..(*self.head).clone() }),
            _ => self.head.clone(),
        };
        let delta = delta_of(&update.edits, held, &update.bytes);
        let values = self.fields.borrow();
        let fields = if update.fields.iter().all(|(slot, value)| values.get(*slot) == Some(value)) {
            values.clone()
        } else {
            let mut fields = values.to_vec();
            update.fields.into_iter().for_each(|(slot, value)| fields[slot] = value);
            fields.into()
        };
        // The rest of the text was held, and is not nested too deep where that may be compared.
        let sure = u8::try_from(depth + usize::from(!update.is_deepest)).ok();
        let comparable = if update.is_odd { None } else { sure.min(self.comparable.get()) };
        let mut object =
            Self { comparable: Cell::new(comparable), read: self.read.clone(), ..Self::of(head, version, fields, update.bytes) };
        object.body.get_mut().set_before(Before::of(self.id, delta, update.patch));
        Ok(object.measured())
    }

    /// Whether its text may be compared with that of an update, in which the object stands inside `depth` objects and arrays.
    pub fn is_comparable(&self, depth: usize, fields: &FieldSet) -> bool {
        let read = self.read.get();
        self.comparable.get().is_some_and(|checked| usize::from(checked) >= depth)
            && self.fields.borrow().len() == fields.len()
            && (0..fields.len()).all(|slot| fields.is_current(slot, read))
    }

    /// The document of a bookmark: a version, and optionally the annotation that ends the initial events.
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
        Self::of(head, version, no_fields(), text.into_bytes().into_boxed_slice()).measured()
    }

    fn of(head: Rc<Head>, version: Version, fields: Rc<[Scalar]>, bytes: Box<[u8]>) -> Self {
        Self {
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
            decoded: Cell::new(false),
            unread: Cell::new(0),
            comparable: Cell::default(),
            body: RefCell::new(Body::Raw { text: Text::new(bytes), before: None }),
        }
    }

    fn measured(self) -> Rc<Self> {
        self.size.set(self.measure());
        Rc::new(self)
    }

    /// Unique for each version of each object.
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

    /// The stored document: what arrived, without the stripped paths. Call it once and keep the result: an object at rest is unpacked at
    /// each call.
    pub fn text(&self) -> Text {
        self.body.borrow().text()
    }

    /// As [`text`](Self::text), for a caller that reads it once, such as a decoder. It is not cached for the next reader.
    pub fn lend(&self) -> Lent {
        self.body.borrow().lend()
    }

    /// The value in a slot. If its path was registered after the object arrived, all slots are read again from the text. The name is known
    /// without the text.
    pub fn field(&self, slot: usize, fields: &FieldSet) -> Scalar {
        let mut values = self.fields.borrow_mut();
        if slot >= values.len() || !fields.is_current(slot, self.read.get()) {
            let known = if fields.is_name(slot) { self.name() } else { "" };
            if !known.is_empty() {
                return Scalar::Text(known.into());
            }
            *values = read_slots(&self.lend(), fields).into();
            self.read.set(fields.now());
            // Whether one of the new names occurs twice in one object is not known.
            self.comparable.set(None);
        }
        values.get(slot).cloned().unwrap_or(Scalar::Missing)
    }

    /// The values in the computed index at this position. Empty before they were set.
    pub fn index_values(&self, position: usize) -> &[Rc<str>] {
        self.index_values.get().and_then(|values| values.get(position)).map_or(&[], |values| values)
    }

    /// Sets the values in the computed indexes. Later calls are ignored, because an index must find its entries again under the first
    /// values.
    pub fn set_index_values(&self, values: IndexValues) {
        let _given_before = self.index_values.set(values);
    }

    /// Whether the values in the computed indexes were set.
    pub fn has_index_values(&self) -> bool {
        self.index_values.get().is_some()
    }

    /// The value at any path. Only the path is decoded.
    pub fn read(&self, path: &Path) -> Scalar {
        let text = self.text();
        path.find(&text).map_or(Scalar::Missing, |span| Scalar::from_raw(&text[span]))
    }

    /// The same content at another version. Watchers receive it if an object is deleted or leaves their selector.
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
        // Fields are read again, because the version may be one of them.
        Ok(Self::of(self.head.clone(), version.clone(), no_fields(), bytes.into_boxed_slice()).measured())
    }

    /// Shares with the previous version what is equal in both.
    pub fn share_with(&mut self, previous: &Self) {
        if *self.head == *previous.head {
            self.head = previous.head.clone();
        }
        let (fields, held) = (self.fields.get_mut(), previous.fields.borrow());
        if **fields == **held {
            *fields = held.clone();
        }
    }

    /// Whether labels and registered fields surely equal those of another version of this object. It compares only pointers, which
    /// [`share_with`](Object::share_with) made equal. Fields that neither version has read do not count.
    pub fn shares_facts(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.head, &other.head)
            && Rc::ptr_eq(&*self.fields.borrow(), &*other.fields.borrow())
            && self.read.get() == other.read.get()
    }

    /// Bytes that this object holds in its current form: text, facts and the allocator's overhead. What many objects share (labels, equal
    /// field values) does not count. What versions share counts with the newest. The size changes only with the holder or the form, so that
    /// sums stay right: what was added is what is later subtracted.
    pub fn size(&self) -> usize {
        self.size.get()
    }

    fn measure(&self) -> usize {
        let fields = self.fields.borrow();
        // The newest version, which the store holds, counts what it shares with older ones in the window.
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
            + if fields.is_empty() { usize::from(self.unread.get()) * FIELD_BYTES } else { 0 }
            + self.index_values.get().map_or(0, values)
            + self.body.borrow().cost()
    }

    /// Moves its bytes to another account and measures them again.
    pub fn set_holder(&self, holder: Holder) {
        self.holder.set(holder);
        if holder != Holder::Nobody {
            self.size.set(self.measure());
        }
    }

    /// The account its bytes belong to.
    pub fn holder(&self) -> Holder {
        self.holder.get()
    }

    /// The length of the text in bytes, and whether it is held unpacked.
    pub fn form(&self) -> (usize, bool) {
        let body = self.body.borrow();
        (body.len(), body.is_raw())
    }

    /// Changes how the text is held. Returns what `change` returns, and the size in bytes before and after.
    pub(crate) fn reform<R>(&self, change: impl FnOnce(&mut Body<Self>) -> R) -> (R, usize, usize) {
        // A form that `change` returns may be the last to hold other objects. So it is dropped after the borrow has ended.
        let changed = change(&mut self.body.borrow_mut());
        let size = self.measure();
        (changed, self.size.replace(size), size)
    }

    /// Marks it as queued for packing. Returns whether it was marked before.
    pub(crate) fn mark_queued(&self) -> bool {
        self.queued.replace(true)
    }

    /// Says whether JavaScript may read it. The caller holds exactly one reference for that.
    pub fn pinned(&self, pinned: bool) {
        self.pinned.set(pinned);
        if !pinned {
            self.decoded.set(false);
        }
    }

    /// Whether JavaScript may read it.
    pub fn is_pinned(&self) -> bool {
        self.pinned.get()
    }

    /// JavaScript, which may read it, decodes it.
    pub(super) fn mark_decoded(&self) {
        self.decoded.set(true);
    }

    /// Whether JavaScript has decoded it, and has not given it back since.
    pub fn is_decoded(&self) -> bool {
        self.decoded.get()
    }

    /// What makes this version of another, see [`patch`](crate::json::patch()). `None` if that was not found when it came, or was forgotten since.
    pub fn patch_of(&self, before: ObjectId) -> Option<Box<[u8]>> {
        self.body.borrow().patch_of(before)
    }

    /// The newer version that its delta is based on, and which it keeps alive.
    pub(crate) fn delta_base(&self) -> Option<ObjectId> {
        match &*self.body.borrow() {
            Body::Delta { next, .. } => Some(next.id()),
            _ => None,
        }
    }

    /// The length of the delta chain that ends here.
    pub fn depth(&self) -> u8 {
        self.depth.get()
    }

    /// Raises the length of the delta chain that ends here.
    pub fn raise_depth(&self, depth: u8) {
        self.depth.set(depth.max(self.depth.get()));
    }
}

impl Whole for Object {
    fn text(&self) -> Text {
        Self::text(self)
    }
}

/// What a field takes, about: its value, and the allocation of a text.
const FIELD_BYTES: usize = size_of::<Scalar>() + 64;

/// What is known of an object without its text.
pub(crate) struct Facts<'a> {
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: &'a str,
    /// `metadata.name`.
    pub(crate) name: &'a str,
    /// `metadata.resourceVersion`.
    pub(crate) version: &'a Version,
    /// `metadata.uid`.
    pub(crate) uid: Option<&'a str>,
    /// `metadata.labels`.
    pub(crate) labels: &'a Labels,
    /// See [`Object::is_comparable`].
    pub(crate) comparable: Option<u8>,
}

/// The object's identity and labels.
#[derive(Clone, PartialEq, Eq)]
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
