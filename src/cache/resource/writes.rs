//! Writes: they go to the upstream, and what is held changes only by the events that follow.
//!
//! An update is the apiserver's `GuaranteedUpdate`. The object held is the first guess, and a conflict is tried again with the upstream's newest.
//! A failure that may come from an old guess counts only when a new one fails too.

use std::cell::RefCell;
use std::rc::Rc;

use futures::future::{Either, LocalBoxFuture, select};

use super::upstream::Upstream;
use super::waits::Waits;
use crate::cache::cacher::Cacher;
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::json::scan::scan_object;
use crate::key::{key as checked_key, split};
use crate::object::Object;
use crate::runtime::SharedRuntime;
use crate::source::page;
use crate::source::{DeleteOptions, ListRequest, Narrow, ObjectName, Pager, Source, WriteRequest};
use crate::status::{Error, ErrorCode, Status};
use crate::time::Millis;
use crate::version::Version;

/// How long a request may take, and how long all tries of one call: what an apiserver gives a request.
const MAX_REQUEST_MS: Millis = 60_000;
/// How often a request that is told to come back later does so, as in client-go.
const MAX_RETRIES: u32 = 10;
/// How long it waits where it is not told: a page of another origin cannot read the header, which says a second as a rule.
const UNNAMED_WAIT_MS: Millis = 1_000;
/// The wait before the third try of an update that meets a conflict each time; it doubles from there.
const CONFLICT_WAIT_MS: Millis = 10;
/// The longest of these waits.
const MAX_CONFLICT_WAIT_MS: Millis = 250;
/// How long a deletion that left no version waits for the stream: what it deleted was not held, and most likely never will be.
const MAX_UNSEEN_WAIT_MS: Millis = 250;

/// The one path that may be missing from an update: servers then keep what they have, so that clients which do not know it cannot lose it.
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

/// Sends writes to the source of a cacher.
pub(super) struct Writes {
    /// What the resource is called in messages.
    name: Rc<str>,
    cacher: Rc<RefCell<Cacher>>,
    waits: Rc<Waits>,
    upstream: Rc<Upstream>,
    source: Rc<dyn Source>,
    runtime: SharedRuntime,
    page_size: u32,
}

impl Writes {
    /// To this source, whose stream the cacher holds.
    pub(super) fn new(
        name: Rc<str>,
        cacher: Rc<RefCell<Cacher>>,
        waits: Rc<Waits>,
        upstream: Rc<Upstream>,
        source: Rc<dyn Source>,
        runtime: SharedRuntime,
        page_size: u32,
    ) -> Self {
        Self { name, cacher, waits, upstream, source, runtime, page_size }
    }

    /// Adds an object (a JSON document), and waits until the stream has brought it. The answer is the object as the upstream keeps it.
    ///
    /// Never tried again when its answer is lost: it may have happened.
    pub(super) async fn create(&self, document: Vec<u8>) -> Result<Rc<Object>, Error> {
        let head = scan_object(&document, &whole()).map_err(|error| invalid(format!("the object cannot be read: {error}")))?;
        if head.version.is_some() {
            // The apiserver's own words; it says them with a 500.
            return Err(invalid("resourceVersion should not be set on objects to be created"));
        }
        let namespace = head.namespace.as_deref().unwrap_or("").to_owned();
        // A name that is missing may be made up by the upstream.
        checked_key(&namespace, head.name.as_deref().unwrap_or("x")).map_err(|error| invalid(error.message))?;
        let answer = self.write(WriteRequest::Create { namespace, document }).await?;
        self.written(&answer).await
    }

    /// Changes an object, and waits until the stream has brought the change. The answer is the object as the upstream keeps it.
    ///
    /// `change` is called with nothing borrowed, once or several times; it gives the whole changed object, or nothing to leave it alone.
    /// Whatever version it gives, the write replaces the version it was shown and no other.
    pub(super) async fn update<T>(
        &self,
        key: &str,
        mut change: impl FnMut(&Rc<Object>) -> Result<Option<Vec<u8>>, T>,
    ) -> Result<Rc<Object>, Failure<T>> {
        let name = named(key)?;
        let deadline = self.runtime.now() + MAX_REQUEST_MS;
        let guess = self.first_guess(key);
        let mut newest = guess.is_none();
        let mut object = match guess {
            Some(object) => object,
            None => self.newest(&name).await?,
        };
        let mut conflicts = 0;
        loop {
            self.waits.check_open()?;
            let failure = match change(&object) {
                Ok(None) if newest => return Ok(self.written(&object.text()).await?),
                Ok(None) => None,
                Err(thrown) => Some(Failure::Thrown(thrown)),
                Ok(Some(document)) => {
                    self.waits.check_open()?;
                    let document = stamped(document, object.version())?;
                    match self.write(WriteRequest::Update { object: name.clone(), document }).await {
                        Ok(answer) => return Ok(self.written(&answer).await?),
                        Err(error) => Some(Failure::Refused(error)),
                    }
                }
            };
            let conflict = matches!(&failure, Some(Failure::Refused(error)) if error.code == ErrorCode::Conflict);
            let stale = match &failure {
                Some(Failure::Refused(error)) => error.code == ErrorCode::Invalid && !newest,
                _ => !newest,
            };
            let late = self.runtime.now() >= deadline;
            match failure {
                Some(failure) if late || !(conflict || stale) => return Err(failure),
                _ => {}
            }
            if conflict && conflicts > 0 {
                let wait = (CONFLICT_WAIT_MS << (conflicts - 1).min(10)).min(MAX_CONFLICT_WAIT_MS);
                self.runtime.sleep(fastrand::u64(wait / 2..=wait)).await;
            }
            conflicts += u32::from(conflict);
            let found = self.newest(&name).await?;
            if found.version() == object.version() {
                // What it was tried on is the newest: it was no lack of news that failed it.
                return match failure {
                    Some(failure) => Err(failure),
                    None => Ok(self.written(&found.text()).await?),
                };
            }
            (object, newest) = (found, true);
        }
    }

    /// Deletes an object, and waits until the stream has told of it. What ends gracefully, or waits for finalizers, is still there then,
    /// with its `deletionTimestamp`.
    pub(super) async fn delete(&self, key: &str, options: DeleteOptions) -> Result<(), Error> {
        let object = named(key)?;
        let held = self.cacher.borrow().store().get(key).cloned();
        let answer = self.write(WriteRequest::Delete { object, options }).await?;
        let deleted = match Status::parse(&answer) {
            Some(status) => status.details.and_then(|details| details.uid),
            None => match self.as_kept(&answer) {
                Ok(last) => {
                    self.waits.settle(last.version()).await;
                    return Ok(());
                }
                Err(_) => None, // sources may answer with nothing
            },
        };
        // No version to wait for: what is held has to go. If that is another object, or none, the upstream's version says how far to wait.
        match held.as_ref().and_then(|held| held.uid()) {
            Some(uid) if deleted.as_deref().is_none_or(|deleted| deleted == uid) => self.waits.until_gone(key, uid).await,
            _ => {
                if let Ok(current) = self.upstream.current_version().await {
                    let _late = self.waits.until_fresh(&current, MAX_UNSEEN_WAIT_MS).await;
                }
            }
        }
        Ok(())
    }

    /// The object held, unless something that would be lost upstream was stripped from it.
    fn first_guess(&self, key: &str) -> Option<Rc<Object>> {
        let cacher = self.cacher.borrow();
        let kept = Path::parse(KEPT_BY_SERVERS).ok();
        let is_whole = cacher.fields().borrow().strip().iter().all(|path| Some(path) == kept.as_ref());
        cacher.store().get(key).filter(|_| is_whole).cloned()
    }

    /// The object as it stands upstream, whole.
    async fn newest(&self, name: &ObjectName) -> Result<Rc<Object>, Error> {
        if !self.source.gets() {
            return self.newest_of_list(name).await;
        }
        let answer = self.send(|| self.source.get(name.clone())).await?;
        let scanned = scan_object(&answer, &whole()).map_err(|error| Error::decode(error.to_string()))?;
        let object = Object::new(scanned)?;
        if object.name() == name.name {
            return Ok(object);
        }
        Err(Error::protocol(format!("{:?} was asked for, and {:?} was answered", name.name, object.name())))
    }

    /// The same, of a source that only lists.
    async fn newest_of_list(&self, name: &ObjectName) -> Result<Rc<Object>, Error> {
        let limit = Some(self.page_size).filter(|size| *size > 0);
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let narrow = Narrow { namespace: some(&name.namespace), name: some(&name.name), ..Narrow::default() };
        let mut pager = Pager::new(ListRequest { limit, narrow: Some(narrow), ..ListRequest::default() });
        let (fields, mut found) = (RefCell::new(whole()), None);
        while let Some(request) = pager.request() {
            let body = self.source.list(request).await?;
            let head = page::read(body, &fields, &*self.runtime, &mut |item| {
                let namespace = item.namespace.as_deref().unwrap_or("");
                if item.name.as_deref() == Some(&name.name) && (name.namespace.is_empty() || namespace == name.namespace) {
                    found = Some(Object::new(item));
                }
            })
            .await?;
            if let Some(found) = found {
                return found;
            }
            pager.follow(&head)?;
        }
        Err(Status::not_found(&self.name, &name.name).into())
    }

    async fn write(&self, request: WriteRequest) -> Result<Vec<u8>, Error> {
        self.send(|| self.source.write(request.clone())).await.map_err(|mut error| {
            if matches!(error.code, ErrorCode::Network | ErrorCode::Timeout) && error.status.is_none() {
                error.message.push_str("; whether the write has happened is not known");
            }
            error
        })
    }

    /// Sends a request, again where that cannot do anything twice: once with new credentials, and while the server says that it took
    /// nothing and when to come back.
    async fn send(&self, request: impl Fn() -> LocalBoxFuture<'static, Result<Vec<u8>, Error>>) -> Result<Vec<u8>, Error> {
        let deadline = self.runtime.now() + MAX_REQUEST_MS;
        let (mut asked_again, mut retries) = (false, 0);
        loop {
            self.waits.check_open()?;
            let error = match select(request(), self.runtime.sleep(MAX_REQUEST_MS)).await {
                Either::Left((Ok(answer), _)) => return Ok(answer),
                Either::Left((Err(error), _)) => error,
                Either::Right(_) => return Err(Error::new(ErrorCode::Timeout, format!("no answer came within {MAX_REQUEST_MS} ms"))),
            };
            match error.code {
                ErrorCode::Unauthorized if !asked_again => asked_again = true,
                ErrorCode::TooManyRequests => {
                    let wait = error.retry_after_seconds.map_or(UNNAMED_WAIT_MS, |seconds| Millis::from(seconds) * 1000);
                    if retries == MAX_RETRIES || self.runtime.now() + wait > deadline {
                        return Err(error);
                    }
                    retries += 1;
                    self.runtime.sleep(wait).await;
                }
                _ => return Err(error),
            }
        }
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
        self.cacher.borrow_mut().informers_mut().mutated(&object, self.runtime.now());
        self.waits.settle(object.version()).await;
        let held = self.cacher.borrow().store().get(object.key()).cloned();
        Ok(held.filter(|held| held.version() == object.version()).unwrap_or(object))
    }

    /// An object as a write that went another way left it: informers that read their writes show it.
    pub(super) fn mutated(&self, document: &[u8]) -> Result<(), Error> {
        let object = self.as_kept(document)?;
        self.cacher.borrow_mut().informers_mut().mutated(&object, self.runtime.now());
        Ok(())
    }

    /// Reads an object as it would be kept.
    fn as_kept(&self, document: &[u8]) -> Result<Rc<Object>, Error> {
        let fields = self.cacher.borrow().fields().clone();
        let scanned = scan_object(document, &fields.borrow()).map_err(|error| Error::decode(error.to_string()))?;
        Object::new(scanned)
    }
}

/// Everything of an object, nothing stripped.
fn whole() -> FieldSet {
    FieldSet::new(Vec::new())
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::Invalid, message)
}

/// The object that a key names.
fn named(key: &str) -> Result<ObjectName, Error> {
    let (namespace, name) = split(key);
    checked_key(namespace, name).map_err(|error| invalid(error.message))?;
    Ok(ObjectName { namespace: namespace.into(), name: name.into() })
}

/// The document with this version as its own: the upstream then replaces that version and no other.
fn stamped(document: Vec<u8>, version: &Version) -> Result<Vec<u8>, Error> {
    let cannot = |reason: &str| invalid(format!("the changed object cannot be written: {reason}"));
    scan_object(&document, &whole()).map_err(|error| cannot(&error.to_string()))?;
    let find = |path: &str| Path::parse(path).ok().and_then(|path| path.find(&document));
    let (span, text) = if let Some(span) = find("metadata.resourceVersion") {
        (span, format!("\"{version}\""))
    } else {
        let metadata = find("metadata").filter(|span| document[span.start] == b'{').ok_or_else(|| cannot("it has no metadata"))?;
        let empty = document[metadata.start + 1..metadata.end - 1].iter().all(u8::is_ascii_whitespace);
        let inside = metadata.start + 1;
        (inside..inside, format!("\"resourceVersion\":\"{version}\"{}", if empty { "" } else { "," }))
    };
    Ok([&document[..span.start], text.as_bytes(), &document[span.end..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(document: &str) -> Result<String, String> {
        let stamped = stamped(document.into(), &Version::from(7));
        stamped.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn a_changed_object_replaces_the_version_that_was_shown_whatever_it_says() {
        let stamped = |document: &str| stamp(document).unwrap();
        assert_eq!(stamped(r#"{"metadata":{"resourceVersion":"3","name":"a"}}"#), r#"{"metadata":{"resourceVersion":"7","name":"a"}}"#);
        assert_eq!(stamped(r#"{"metadata":{"name":"a"}}"#), r#"{"metadata":{"resourceVersion":"7","name":"a"}}"#);
        assert_eq!(stamped(r#"{"metadata":{"resourceVersion":null}}"#), r#"{"metadata":{"resourceVersion":"7"}}"#);
        assert_eq!(stamped(r#"{"metadata":{ }}"#), r#"{"metadata":{"resourceVersion":"7" }}"#);
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
