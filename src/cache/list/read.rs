//! One page of a state: which objects, in key order, and what asks for the next page.

use std::rc::Rc;

use crate::cache::cacher::Cacher;
use crate::cache::list::options::Want;
use crate::cache::list::token::Token;
use crate::cache::list::{List, Request};
use crate::cache::resource::Resource;
use crate::cache::state::State;
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::selector::predicate::IndexMatch;
use crate::status::{Error, Status};
use crate::watch::filter::Filter;

/// What was taken of the candidates.
#[derive(Debug, Default)]
struct Taken {
    objects: Vec<Rc<Object>>,
    /// How many candidates were looked at.
    fetched: usize,
    /// Whether there are candidates that were not.
    more: bool,
}

impl Resource {
    /// The page asked for. No await: all of it is of one state.
    pub(super) fn page_of(&self, request: &Request) -> Result<List, Error> {
        read(&self.cacher.borrow(), request)
    }
}

fn read(cacher: &Cacher, request: &Request) -> Result<List, Error> {
    let (want, from, limit) = match &request.checked {
        Some(checked) => (Some(&checked.want), checked.from.as_deref(), checked.limit),
        None => (None, None, None),
    };
    let exact = match want {
        Some(Want::Exact(version)) => Some(version),
        _ => None,
    };
    let state = match exact {
        Some(version) => cacher.state_at(version)?,
        None => cacher.state(),
    };
    let version = exact.unwrap_or_else(|| state.version()).clone();
    if version.is_zero() {
        return Err(Status::internal("illegal resource version from storage: 0").into());
    }
    let index = request.is_recursive().then(|| index_for(cacher, request, exact.is_some() || from.is_some())).flatten();
    let fields = cacher.fields().borrow();
    let (taken, by) = match (&request.key, &index) {
        (Some(key), _) => (take(state.get(key).into_iter(), request, limit, &fields), ""),
        (None, Some(index)) => {
            let found = cacher.by_index(&index.index, &index.value)?.filter(|object| object.key().starts_with(&request.prefix));
            (take(found, request, limit, &fields), index.index.as_str())
        }
        (None, None) => (take(candidates(&state, request, from), request, limit, &fields), ""),
    };
    let last = taken.objects.last().filter(|_| taken.more);
    let continue_token = last.map(|last| Token::encode(last.key(), &request.prefix, &version)).transpose()?;
    let rest = taken.fetched - taken.objects.len();
    // Of objects that a selector may drop nobody knows how many will come.
    let remaining = (taken.more && request.is_unselective()).then_some(rest as u64);
    // Nothing is decoded to be matched here: fields were read when the object arrived.
    cacher.metrics().list(by, taken.fetched, 0, taken.objects.len());
    Ok(List { objects: taken.objects, version, continue_token, remaining, shard: shard_text(&request.filter) })
}

/// The objects in question, from the place where the page begins.
fn candidates<'s, 'a>(state: &'s State<'a>, request: &Request, from: Option<&str>) -> impl Iterator<Item = &'a Rc<Object>> + use<'s, 'a> {
    state.range(&request.prefix, from.unwrap_or(""))
}

/// Takes what passes, up to the limit. Without a selector all candidates are counted, since what remains is told; with one, those behind the
/// limit are left alone, whether they would pass or not, so that the last page may turn out empty.
fn take<'a>(candidates: impl Iterator<Item = &'a Rc<Object>>, request: &Request, limit: Option<usize>, fields: &FieldSet) -> Taken {
    let mut taken = Taken::default();
    let full = |taken: &Taken| limit.is_some_and(|limit| taken.objects.len() >= limit);
    let unselective = request.is_unselective();
    for object in candidates {
        if full(&taken) {
            taken.more = true;
            if !unselective {
                break;
            }
            taken.fetched += 1;
            continue;
        }
        taken.fetched += 1;
        if unselective || request.filter.passes(object, fields) {
            taken.objects.push(object.clone());
        }
    }
    taken
}

/// The index that narrows the search, where one may be used: the present only, and from the beginning. The namespace of the request is a
/// range of keys already, and needs none.
fn index_for(cacher: &Cacher, request: &Request, pinned: bool) -> Option<IndexMatch> {
    if pinned {
        return None;
    }
    let predicate = request.filter.predicate();
    let fields: Vec<&str> = predicate.field.terms().iter().map(|term| term.path.as_str()).collect();
    let labels: Vec<&str> = predicate.label.requirements().iter().map(|requirement| requirement.key()).collect();
    let usable = predicate.indexes(None, &fields, &labels).into_iter();
    usable.into_iter().find(|index| cacher.has_index(&index.index) && (request.prefix.is_empty() || index.index != "f:metadata.namespace"))
}

/// The shard of a request as it stands in the answer.
pub(super) fn shard_text(filter: &Filter) -> Option<String> {
    filter.shard().map(ToString::to_string)
}
