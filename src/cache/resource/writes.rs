//! Writes: they go to the upstream, and what is held changes only by the events that follow.
//!
//! An update is the apiserver's `GuaranteedUpdate`. The object held is the first guess, and a conflict is tried again with the upstream's newest.
//! A failure that may come from an old guess counts only when a new one fails too.

use std::rc::Rc;

use super::access::Access;
use super::requests::{MAX_REQUEST_MS, Requests, whole};
use crate::json::path::Path;
use crate::json::scan::scan_object;
use crate::json::stamp;
use crate::key::{is_name, key as checked_key, split};
use crate::object::Object;
use crate::source::{ObjectName, Patch, PatchType, WriteParameters, WriteRequest};
use crate::status::{Error, ErrorCode};
use crate::time::Millis;
use crate::version::Version;

/// The wait before the third try of an update that meets a conflict each time; it doubles from there.
const MIN_CONFLICT_WAIT_MS: Millis = 10;
/// The longest of these waits.
const MAX_CONFLICT_WAIT_MS: Millis = 250;

/// The one path that may be missing from an update. Servers then keep what they have, so no client loses what it does not know.
const KEPT_BY_SERVERS: &str = "metadata.managedFields";

/// Why an update failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure<T> {
    /// The upstream, or the way to it.
    Refused(Error),
    /// The function that makes the change.
    Thrown(T),
}

impl<T> From<Error> for Failure<T> {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl<T> Failure<T> {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused(error) if error.code == ErrorCode::Conflict)
    }

    /// Whether it may be that the change was tried on an object that is not the newest, or was not known to be.
    fn may_come_from_age(&self, newest: bool) -> bool {
        match self {
            Self::Refused(error) => error.code == ErrorCode::Conflict || error.code == ErrorCode::Invalid && !newest,
            Self::Thrown(_) => !newest,
        }
    }
}

/// What the upstream answered a write with.
#[derive(Clone, Debug)]
pub enum Written {
    /// The object as it is kept.
    Object(Rc<Object>),
    /// JSON of what is not held: the object that a dry run would have made, a subresource of another kind, or a Status.
    Document(Vec<u8>),
}

impl Written {
    /// The object, where it is one.
    pub fn object(self) -> Option<Rc<Object>> {
        match self {
            Self::Object(object) => Some(object),
            Self::Document(_) => None,
        }
    }
}

/// What became of one try of an update.
enum Tried<T> {
    /// The upstream took it, with this answer.
    Taken(Vec<u8>),
    /// There was nothing to change.
    Unchanged,
    Failed(Failure<T>),
}

/// Writes through to the upstream, and waits for the stream to bring it.
pub(super) struct Writes {
    pub(super) access: Rc<Access>,
    pub(super) requests: Requests,
}

impl Writes {
    /// By these requests to the upstream of a state.
    pub(super) fn new(access: Rc<Access>, requests: Requests) -> Self {
        Self { access, requests }
    }

    /// See `Resource::create`.
    pub(super) async fn create(&self, document: Vec<u8>, parameters: WriteParameters) -> Result<Written, Error> {
        check_subresource(parameters.subresource.as_deref())?;
        let head = scan_object(&document, &whole()).map_err(|error| invalid(format!("the object cannot be read: {error}")))?;
        let of = match &parameters.subresource {
            Some(subresource) => {
                let missing = || invalid(format!("metadata.name says whose {subresource} it is, and it is missing"));
                Some(head.name.as_deref().ok_or_else(missing)?.to_owned())
            }
            None => None,
        };
        if head.version.is_some() && of.is_none() {
            // The apiserver's own words; it says them with a 500.
            return Err(invalid("resourceVersion should not be set on objects to be created"));
        }
        let namespace = head.namespace.as_deref().unwrap_or("").to_owned();
        // A name that is missing may be made up by the upstream.
        checked_key(&namespace, head.name.as_deref().unwrap_or("x")).map_err(|error| invalid(error.message))?;
        // In a resource of one namespace the object need not say which.
        let own = || self.access.upstream.collection().and_then(|collection| collection.namespace).unwrap_or_default();
        let within = if namespace.is_empty() { own() } else { namespace.clone() };
        let asked = of.clone().map(|name| ObjectName { namespace: within, name });
        let request = WriteRequest::Create { namespace, of, document, parameters: parameters.clone() };
        let answer = self.requests.write(request).await?;
        self.answered(answer, asked.as_ref(), &parameters).await
    }

    /// See `Resource::update`.
    pub(super) async fn update<T>(
        &self,
        key: &str,
        parameters: &WriteParameters,
        mut change: impl FnMut(&Rc<Object>) -> Result<Option<Vec<u8>>, T>,
    ) -> Result<Written, Failure<T>> {
        let name = named(key)?;
        let deadline = self.access.runtime.now() + MAX_REQUEST_MS;
        let subresource = parameters.subresource.as_deref();
        check_subresource(subresource)?;
        if let Some(part) = self.requests.part().filter(|_| subresource.is_none()) {
            let remedy = "patch it, or update it through the resource without `as`";
            return Err(invalid(format!("an update writes whole objects, and this resource has a part of each ({part}): {remedy}")).into());
        }
        let guess = self.first_guess(key).filter(|_| is_of_object(parameters));
        let mut newest = guess.is_none();
        let mut object = match guess {
            Some(object) => object,
            None => self.requests.newest(&name, subresource).await?,
        };
        let mut conflicts = 0;
        loop {
            let failure = match self.try_once(&name, &object, parameters, &mut change).await? {
                Tried::Taken(answer) => return Ok(self.answered(answer, Some(&name), parameters).await?),
                Tried::Unchanged if newest => return Ok(self.unchanged(&object, parameters).await?),
                Tried::Unchanged => None,
                Tried::Failed(failure) => Some(failure),
            };
            let conflict = failure.as_ref().is_some_and(Failure::is_conflict);
            let late = self.access.runtime.now() >= deadline;
            match failure {
                Some(failure) if late || !failure.may_come_from_age(newest) => return Err(failure),
                _ => {}
            }
            if conflict && conflicts > 0 {
                let wait = (MIN_CONFLICT_WAIT_MS << (conflicts - 1).min(10)).min(MAX_CONFLICT_WAIT_MS);
                self.access.runtime.sleep(fastrand::u64(wait / 2..=wait)).await;
            }
            conflicts += u32::from(conflict);
            let found = self.requests.newest(&name, subresource).await?;
            if found.version() == object.version() {
                // The change was tried on the newest already, so that did not fail it.
                return match failure {
                    Some(failure) => Err(failure),
                    None => Ok(self.unchanged(&found, parameters).await?),
                };
            }
            (object, newest) = (found, true);
        }
    }

    /// Has this version of an object changed, and asks the upstream to take that. Fails where no other version would do better.
    async fn try_once<T>(
        &self,
        name: &ObjectName,
        object: &Rc<Object>,
        parameters: &WriteParameters,
        change: &mut impl FnMut(&Rc<Object>) -> Result<Option<Vec<u8>>, T>,
    ) -> Result<Tried<T>, Error> {
        self.access.waits.check_open()?;
        let document = match change(object) {
            Ok(Some(document)) => document,
            Ok(None) => return Ok(Tried::Unchanged),
            Err(thrown) => return Ok(Tried::Failed(Failure::Thrown(thrown))),
        };
        // The function may have closed the cache.
        self.access.waits.check_open()?;
        let document = stamped(&document, object.version())?;
        let request = WriteRequest::Update { object: name.clone(), document, parameters: parameters.clone() };
        Ok(match self.requests.write(request).await {
            Ok(answer) => Tried::Taken(answer),
            Err(error) => Tried::Failed(Failure::Refused(error)),
        })
    }

    /// See `Resource::patch`.
    pub(super) async fn patch(&self, key: &str, patch: Patch, parameters: WriteParameters) -> Result<Written, Error> {
        let object = named(key)?;
        check_subresource(parameters.subresource.as_deref())?;
        check_patch(&patch, &parameters)?;
        let request = WriteRequest::Patch { object: object.clone(), patch, parameters: parameters.clone() };
        let answer = self.requests.write(request).await?;
        self.answered(answer, Some(&object), &parameters).await
    }

    /// See `Resource::get_subresource`.
    pub(super) async fn get_subresource(&self, key: &str, subresource: &str) -> Result<Vec<u8>, Error> {
        check_subresource(Some(subresource))?;
        let found = self.requests.newest(&named(key)?, Some(subresource)).await?;
        Ok(found.text().to_vec())
    }

    /// The object held, unless something that would be lost upstream was stripped from it.
    fn first_guess(&self, key: &str) -> Option<Rc<Object>> {
        let cacher = self.access.cacher.borrow();
        let kept = Path::parse(KEPT_BY_SERVERS).ok();
        let is_whole = cacher.fields().borrow().strip().iter().all(|path| Some(path) == kept.as_ref());
        cacher.store().get(key).filter(|_| is_whole).cloned()
    }

    /// What a write was answered with, once the stream has brought what it did to the object that `asked` names.
    async fn answered(&self, answer: Vec<u8>, asked: Option<&ObjectName>, parameters: &WriteParameters) -> Result<Written, Error> {
        if parameters.dry_run {
            // Nothing was kept: of a creation it has no version at all.
            return Ok(Written::Document(answer));
        }
        if is_of_object(parameters) {
            return self.written(&answer).await.map(Written::Object);
        }
        match self.as_kept(&answer) {
            // It has the version that the object has since.
            Ok(part) => self.access.waits.until_streamed(&part).await,
            Err(_) => self.until_newest(asked).await,
        }
        Ok(Written::Document(answer))
    }

    /// Waits until the stream has come as far as the object has. An answer like that to an eviction says no version.
    async fn until_newest(&self, asked: Option<&ObjectName>) {
        let Some(asked) = asked else { return };
        match self.requests.newest(asked, None).await {
            Ok(object) => self.access.waits.until_streamed(&object).await,
            Err(error) if error.code == ErrorCode::NotFound => {
                let Ok(key) = checked_key(&asked.namespace, &asked.name) else { return };
                let held = self.access.cacher.borrow().store().get(&key).cloned();
                if let Some(uid) = held.as_ref().and_then(|held| held.uid()) {
                    self.access.waits.until_gone(&key, uid).await;
                }
            }
            // The write has happened: a failure would say otherwise.
            Err(_) => {}
        }
    }

    /// What an update gives that had nothing to change.
    async fn unchanged(&self, found: &Rc<Object>, parameters: &WriteParameters) -> Result<Written, Error> {
        if is_of_object(parameters) {
            return self.written(&found.text()).await.map(Written::Object);
        }
        Ok(Written::Document(found.text().to_vec()))
    }

    /// The object of an answer, once the stream has brought it, and then the very one that is held.
    ///
    /// When the stream does not come that far in time it is the upstream's answer: the write has happened, and a failure would say
    /// otherwise.
    async fn written(&self, answer: &[u8]) -> Result<Rc<Object>, Error> {
        let object = self.as_kept(answer).map_err(|error| {
            let message = format!("the write was taken, but its answer cannot be read: {}", error.message);
            Error { message, ..error }
        })?;
        self.show(&object);
        self.access.waits.until_streamed(&object).await;
        let held = self.access.cacher.borrow().store().get(object.key()).cloned();
        Ok(held.filter(|held| held.version() == object.version()).unwrap_or(object))
    }

    /// See `Resource::mutated`.
    pub(super) fn mutated(&self, document: &[u8]) -> Result<(), Error> {
        self.show(&self.as_kept(document)?);
        Ok(())
    }

    /// Shows what a write left to the informers whose readers want it at once.
    fn show(&self, object: &Rc<Object>) {
        if !self.access.cacher.borrow().informers().show_writes() {
            return;
        }
        self.access.index_function.compute(object);
        let now = self.access.runtime.now();
        self.access.cacher.borrow_mut().informers_mut().mutated(object, now);
    }

    /// Reads an object as it would be kept.
    pub(super) fn as_kept(&self, document: &[u8]) -> Result<Rc<Object>, Error> {
        let fields = self.access.cacher.borrow().fields().clone();
        let scanned = scan_object(document, &fields.borrow()).map_err(|error| Error::decode(error.to_string()))?;
        Object::new(scanned)
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Invalid, message)
}

/// A subresource is one segment of an address: what a dot or two would name is another one.
fn check_subresource(subresource: Option<&str>) -> Result<(), Error> {
    match subresource {
        Some(name) if !is_name(name) => Err(invalid(format!("{name:?} is the name of no subresource"))),
        _ => Ok(()),
    }
}

/// Whether what is written, and answered, is the object itself: its status has the whole object around it.
fn is_of_object(parameters: &WriteParameters) -> bool {
    matches!(parameters.subresource.as_deref(), None | Some("status"))
}

/// Refuses what no server would take, with the remedy.
fn check_patch(patch: &Patch, parameters: &WriteParameters) -> Result<(), Error> {
    let apply = patch.kind == PatchType::Apply;
    match (patch.document.first(), patch.kind == PatchType::Json) {
        (Some(b'['), true) | (Some(b'{'), false) => {}
        (_, true) => {
            let example = r#"[{ op: "replace", path: "/spec/replicas", value: 3 }]"#;
            return Err(invalid(format!("a patch of type \"json\" is an array of operations, such as {example}")));
        }
        (Some(b'['), false) => return Err(invalid("operations are a patch of type \"json\": a patch of another type is an object")),
        (_, false) => return Err(invalid("a patch is an object, and of type \"json\" an array of operations")),
    }
    if apply && parameters.field_manager.as_deref().unwrap_or("").is_empty() {
        return Err(invalid("a patch of type \"apply\" needs a fieldManager: who applies, and owns the fields from then on"));
    }
    if patch.force && !apply {
        return Err(invalid("force is for patches of type \"apply\": no other type knows who owns a field"));
    }
    Ok(())
}

/// The object that a key names.
pub(super) fn named(key: &str) -> Result<ObjectName, Error> {
    let (namespace, name) = split(key);
    checked_key(namespace, name).map_err(|error| invalid(error.message))?;
    Ok(ObjectName { namespace: namespace.into(), name: name.into() })
}

/// The document with this version as its own: the upstream then replaces that version and no other.
fn stamped(document: &[u8], version: &Version) -> Result<Vec<u8>, Error> {
    let cannot = |reason: &str| invalid(format!("the changed object cannot be written: {reason}"));
    scan_object(document, &whole()).map_err(|error| cannot(&error.to_string()))?;
    stamp(document, &version.to_string()).ok_or_else(|| cannot("it has no metadata"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(document: &str) -> Result<String, String> {
        let stamped = stamped(document.as_bytes(), &Version::from(7));
        stamped.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn a_changed_object_replaces_the_version_that_was_shown_whatever_it_says() {
        let stamped = |document: &str| stamp(document).unwrap();
        assert_eq!(stamped(r#"{"metadata":{"resourceVersion":"3","name":"a"}}"#), r#"{"metadata":{"resourceVersion":"7","name":"a"}}"#);
    }

    #[test]
    fn what_is_no_object_is_not_sent() {
        assert_eq!(stamp(r#"{"spec":{}}"#), Err("the changed object cannot be written: it has no metadata".into()));
        assert_eq!(stamp(r#"{"metadata":"x"}"#), Err("the changed object cannot be written: it has no metadata".into()));
        for broken in ["", "[]", "{\"metadata\":{}", "null"] {
            assert!(stamp(broken).unwrap_err().starts_with("the changed object cannot be written: "), "{broken}");
        }
    }

    #[test]
    fn keys_name_objects() {
        assert_eq!(named("ns/a").unwrap(), ObjectName { namespace: "ns".into(), name: "a".into() });
        assert_eq!(named("a").unwrap(), ObjectName { namespace: String::new(), name: "a".into() });
        for key in ["", "ns/", "a/b/c", "..", "a%2fb"] {
            assert_eq!(named(key).unwrap_err().code, ErrorCode::Invalid, "{key:?}");
        }
    }
}
