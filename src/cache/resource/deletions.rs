//! Deletions, of one object and of many: what is asked of the upstream, and how far the stream has to come until they show.

use std::rc::Rc;

use futures::{StreamExt, future, stream};
use rustc_hash::FxHashMap;

use super::waits::Ending;
use super::writes::{Writes, named};
use crate::key::Key;
use crate::object::Object;
use crate::source::page;
use crate::source::{DeleteOptions, ListRequest, Narrow, Pager, WriteRequest};
use crate::status::{Error, Status};
use crate::time::Millis;

/// How long a deletion that left no version waits for the stream: what it deleted was not held, and most likely never will be.
const MAX_UNSEEN_WAIT_MS: Millis = 250;

/// Which objects are deleted together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deleting {
    /// The one namespace, and the selectors. The upstream heeds them all.
    pub narrow: Narrow,
    /// How each is deleted.
    pub options: DeleteOptions,
}

impl Writes {
    /// See `Resource::delete_collection`.
    pub(super) async fn delete_collection(&self, deleting: Deleting) -> Result<(), Error> {
        let dry_run = deleting.options.dry_run;
        let everywhere = deleting.narrow.namespace.as_deref().is_none_or(str::is_empty);
        let request = WriteRequest::DeleteCollection { narrow: deleting.narrow.clone(), options: deleting.options };
        let answer = self.requests.write(request).await.map_err(|error| with_remedy(error, everywhere))?;
        if dry_run {
            return Ok(());
        }
        // A source may answer with a Status or with nothing: then the stream is not waited for. Nor is it where nobody says what is left.
        if let Some(deleted) = self.listed(answer).await
            && let Ok(left) = self.left(deleting.narrow).await
        {
            let ends: Vec<Ending> = deleted.into_iter().map(|object| Ending::of(object, &left)).collect();
            self.access.waits.until_ended(&ends).await;
        }
        Ok(())
    }

    /// The objects of a list that answers a deletion of many: as they were.
    async fn listed(&self, answer: Vec<u8>) -> Option<Vec<Rc<Object>>> {
        let (mut objects, mut sound) = (Vec::new(), true);
        let body = stream::once(future::ready(Ok(answer))).boxed_local();
        let fields = self.access.cacher.borrow().fields().clone();
        let each = &mut |item| match Object::new(item) {
            Ok(object) => objects.push(object),
            Err(_) => sound = false,
        };
        let read = page::read(body, &fields, &*self.access.runtime, each).await;
        (read.is_ok() && sound).then_some(objects)
    }

    /// What is left of a part upstream. What ends gracefully, or waits for finalizers, is, at the version at which it was marked.
    async fn left(&self, narrow: Narrow) -> Result<FxHashMap<Key, Rc<Object>>, Error> {
        let mut left = FxHashMap::default();
        let mut pager = Pager::new(ListRequest { narrow: Some(narrow), ..ListRequest::default() });
        while let Some(request) = pager.request() {
            let head = self.access.upstream.page(request, &mut |object| drop(left.insert(object.key().clone(), object))).await?;
            pager.follow(&head)?;
        }
        Ok(left)
    }

    /// See `Resource::delete`.
    pub(super) async fn delete(&self, key: &str, options: DeleteOptions) -> Result<(), Error> {
        let object = named(key)?;
        let held = self.access.cacher.borrow().store().get(key).cloned();
        let dry_run = options.dry_run;
        let answer = self.requests.write(WriteRequest::Delete { object, options }).await?;
        if dry_run {
            return Ok(());
        }
        let deleted = match Status::parse(&answer) {
            Some(status) => status.details.and_then(|details| details.uid),
            None => match self.as_kept(&answer) {
                Ok(last) => {
                    self.access.waits.until_deleted(&last).await;
                    return Ok(());
                }
                Err(_) => None, // sources may answer with nothing
            },
        };
        // No version to wait for: what is held has to go. If that is another object, or none, the upstream's version says how far to wait.
        match held.as_ref().and_then(|held| held.uid()) {
            Some(uid) if deleted.as_deref().is_none_or(|deleted| deleted == uid) => self.access.waits.until_gone(key, uid).await,
            _ => {
                if let Ok(current) = self.access.upstream.current_version().await {
                    let _late = self.access.waits.until_fresh(&current, MAX_UNSEEN_WAIT_MS).await;
                }
            }
        }
        Ok(())
    }
}

/// A server that does not allow to delete everywhere at once says no more than that.
fn with_remedy(mut error: Error, everywhere: bool) -> Error {
    if everywhere && error.status.as_ref().is_some_and(|status| status.code == 405) {
        error.message.push_str("; servers delete the objects of one namespace at a time: name it, as in { namespace: \"default\" }");
    }
    error
}
