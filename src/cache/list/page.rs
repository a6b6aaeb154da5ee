//! One page of a state: which objects, in key order, and what asks for the next page.

use std::rc::Rc;

use super::options::Want;
use super::request::{List, Request};
use super::token::Token;
use crate::cache::cacher::Cacher;
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::selector::Filter;
use crate::selector::predicate::IndexMatch;
use crate::status::{Error, Status};
use crate::store::Snapshot;
use crate::version::Version;

/// What was taken of the candidates.
#[derive(Debug, Default)]
struct Taken {
    objects: Vec<Rc<Object>>,
    /// How many candidates were looked at.
    fetched: usize,
    /// Whether there are candidates that were not.
    more: bool,
}

/// The page asked for, all of it of one state.
pub(in crate::cache) fn read(cacher: &Cacher, request: &Request) -> Result<List, Error> {
    let (want, from, limit) = match &request.checked {
        Some(checked) => (Some(&checked.want), checked.from.as_deref(), checked.limit),
        None => (None, None, None),
    };
    let exact = match want {
        Some(Want::Exact(version)) => Some(version),
        _ => None,
    };
    let state = match exact {
        Some(version) => cacher.held().state_at(version)?,
        None => cacher.held().state(),
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
            let found = cacher.store().by_index(&index.index, &index.value)?.filter(|object| object.key().starts_with(&request.prefix));
            (take(found, request, limit, &fields), index.index.as_str())
        }
        (None, None) => (take(candidates(&state, request, from), request, limit, &fields), ""),
    };
    let last = taken.objects.last().filter(|_| taken.more);
    let continue_token = last.map(|last| next_page(last.key(), request, &version)).transpose()?;
    let rest = taken.fetched - taken.objects.len();
    // Of objects that a selector may drop nobody knows how many will come.
    let remaining = (taken.more && request.is_unselective()).then_some(rest as u64);
    cacher.metrics().list(by, taken.fetched, taken.objects.len());
    Ok(List { objects: taken.objects, version, continue_token, remaining, shard: shard_text(&request.filter) })
}

/// The token that goes on behind a key. A server's prefixes end before the slash, so what it writes begins with one; it reads both.
fn next_page(key: &str, request: &Request, version: &Version) -> Result<String, Error> {
    let encode = if request.private { Token::encode_private } else { Token::encode };
    let prefix = format!("/{}", request.prefix);
    encode(&format!("/{key}"), prefix.trim_end_matches('/'), version)
}

/// The objects in question, from the place where the page begins.
fn candidates<'s, 'a>(
    state: &'s Snapshot<'a>,
    request: &Request,
    from: Option<&str>,
) -> impl Iterator<Item = &'a Rc<Object>> + use<'s, 'a> {
    state.range(&request.prefix, from.unwrap_or(""))
}

/// Takes what passes, up to the limit. Without a selector all candidates are counted, because the answer says how many remain. With one,
/// those behind the limit are not tested. So the last page may turn out empty.
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
    let usable = predicate.indexes(&fields, &labels);
    usable
        .into_iter()
        .find(|index| cacher.store().has_index(&index.index) && (request.prefix.is_empty() || index.index != "f:metadata.namespace"))
}

/// The shard of a request as it stands in the answer.
pub(in crate::cache) fn shard_text(filter: &Filter) -> Option<String> {
    filter.shard().map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::cache::list::ListOptions;
    use crate::json::path::Path;
    use crate::message::Message;
    use crate::metrics::FAMILIES;
    use crate::metrics::Now;
    use crate::source::Collection;
    use crate::store::WindowBounds;
    use crate::store::{IndexBy, IndexSpec, Indexes};
    use crate::testing::with_spec;
    use crate::time::{Instant, WallTime};

    /// A cacher at version 100 with these objects and with indexes over these paths.
    fn cacher(objects: Vec<Rc<Object>>, paths: &[&str]) -> Cacher {
        let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
        let spec = |path: &&str| IndexSpec { name: (*path).into(), by: IndexBy::Path(Path::parse(path).unwrap()) };
        let indexes = Indexes::new(&paths.iter().map(spec).collect::<Vec<_>>(), &fields).unwrap();
        let mut cacher = Cacher::new(fields, WindowBounds::default(), indexes, Instant::START);
        cacher.apply(Message::Replace { objects, version: Version::from(100) }, Instant::START, WallTime::UNIX_EPOCH);
        cacher
    }

    fn pod(key: &str, label: &str, node: &str) -> Rc<Object> {
        with_spec(key, 5, &[("label", label)], &serde_json::json!({"nodeName": node}))
    }

    fn three() -> Vec<Rc<Object>> {
        vec![pod("ns/bar", "value1", "node1"), pod("ns/baz", "value2", "node2"), pod("ns/foo", "value1", "node2")]
    }

    fn ask(cacher: &Cacher, namespace: &str, labels: &str, fields: &str) -> Request {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
        let options = ListOptions {
            namespace: some(namespace),
            label_selector: some(labels),
            field_selector: some(fields),
            resource_version: Some("0".into()),
            ..ListOptions::default()
        };
        Request::new(options, Some(&Collection::default()), false, "/pods/", &mut cacher.fields().borrow_mut()).unwrap()
    }

    /// The index that was used, how many candidates it left, and the names that were found.
    fn found(cacher: &Cacher, request: &Request) -> (String, usize, String) {
        let index = if request.is_recursive() { index_for(cacher, request, false) } else { None };
        let before = fetched(cacher, index.as_ref().map_or("", |index| &index.index));
        let list = read(cacher, request).unwrap();
        let names: Vec<&str> = list.objects.iter().map(|object| object.name()).collect();
        let (name, value) = index.map(|index| (index.index, index.value)).unwrap_or_default();
        let used = if name.is_empty() { String::new() } else { format!("{name}={value}") };
        (used, fetched(cacher, &name) - before, names.join(" "))
    }

    fn counted(cacher: &Cacher, family: &str, index: Option<&str>) -> usize {
        let mut sum = 0.0;
        cacher.metrics().each(&Now::default(), &mut |at, suffix, labels, value| {
            let same = index.is_none_or(|index| labels.contains(&("index", index)));
            if FAMILIES[at].name == family && suffix.is_empty() && same {
                sum += value;
            }
        });
        sum as usize
    }

    fn fetched(cacher: &Cacher, index: &str) -> usize {
        counted(cacher, "apiserver_storage_list_fetched_objects_total", Some(index))
    }

    #[test]
    fn frs_02_an_index_is_a_prefilter_and_the_rest_is_tested() {
        let cacher = cacher(three(), &["metadata.labels.label"]);
        let request = ask(&cacher, "", "label=value1", "spec.nodeName=node2");
        assert_eq!(found(&cacher, &request), ("l:label=value1".into(), 2, "foo".into()));
    }

    #[test]
    fn frs_04_a_label_without_an_index_takes_them_all() {
        let cacher = cacher(three(), &["metadata.labels.label"]);
        let request = ask(&cacher, "", "not-exist=whatever", "");
        assert_eq!(found(&cacher, &request), (String::new(), 3, String::new()));
    }

    #[test]
    fn dlg_13_an_index_is_used_for_fields_that_are_pinned_and_for_those_alone() {
        let cacher = cacher(three(), &["spec.nodeName"]);
        let by = |namespace: &str, fields: &str| found(&cacher, &ask(&cacher, namespace, "", fields));
        for namespace in ["", "ns"] {
            assert_eq!(by(namespace, "spec.nodeName=node2"), ("f:spec.nodeName=node2".into(), 2, "baz foo".into()));
            assert_eq!(by(namespace, "spec.nodeName!=node2").0, "");
        }
        assert_eq!(by("", "spec.nodeName=node2,metadata.name=foo"), ("f:spec.nodeName=node2".into(), 2, "foo".into()));
        assert_eq!(by("ns", ""), (String::new(), 3, "bar baz foo".into()));
        assert_eq!(by("other", "spec.nodeName=node2"), ("f:spec.nodeName=node2".into(), 0, String::new()));
        assert_eq!(by("", "metadata.name=foo"), (String::new(), 3, "foo".into()));
        // About one key there is nothing to narrow.
        assert_eq!(by("ns", "metadata.name=foo,spec.nodeName=node2"), (String::new(), 1, "foo".into()));
        // What an index holds is the present, from the beginning.
        let (exact, token) = (Some("Exact".to_string()), Token::encode("ns/bar", "", &Version::from(100)).ok());
        let plain = ListOptions { field_selector: Some("spec.nodeName=node2".into()), ..ListOptions::default() };
        for (options, candidates) in [
            (ListOptions { resource_version: Some("100".into()), resource_version_match: exact, ..plain.clone() }, 3),
            (ListOptions { continue_token: token, ..plain }, 2),
        ] {
            let request = Request::new(options, Some(&Collection::default()), false, "/pods/", &mut cacher.fields().borrow_mut()).unwrap();
            let before = fetched(&cacher, "");
            assert_eq!(read(&cacher, &request).unwrap().objects.len(), 2);
            assert_eq!(fetched(&cacher, "") - before, candidates);
        }
    }

    #[test]
    fn sel_06_a_namespace_that_is_asked_for_is_a_range_of_keys_and_one_that_is_selected_an_index() {
        let cacher = cacher(vec![pod("a/x", "v", "n"), pod("b/y", "v", "n"), pod("b/z", "v", "n")], &[]);
        let by = |namespace: &str, fields: &str| found(&cacher, &ask(&cacher, namespace, "", fields));
        assert_eq!(by("", ""), (String::new(), 3, "x y z".into()));
        assert_eq!(by("b", ""), (String::new(), 2, "y z".into()));
        assert_eq!(by("", "metadata.namespace=b"), ("f:metadata.namespace=b".into(), 2, "y z".into()));
        assert_eq!(by("", "metadata.namespace!=b"), (String::new(), 3, "x".into()));
        assert_eq!(by("a", "metadata.namespace=b"), (String::new(), 1, String::new()), "two that differ select nothing");
    }

    #[test]
    fn lst_33_what_a_list_by_index_counts() {
        let cacher = cacher(vec![with_spec("ns/pod-1", 100, &[], &serde_json::json!({"nodeName": "n"}))], &["spec.nodeName"]);
        let list = read(&cacher, &ask(&cacher, "", "", "spec.nodeName=n")).unwrap();
        assert_eq!(format!("{:?}", list.objects), "[ns/pod-1@100]");
        assert_eq!(fetched(&cacher, "f:spec.nodeName"), 1);
        assert_eq!(counted(&cacher, "apiserver_storage_list_returned_objects_total", None), 1);
        assert_eq!(counted(&cacher, "apiserver_storage_list_evaluated_objects_total", None), 0);
    }

    /// A shard selector always counts as a selector here: there is no gate that turns it off.
    #[test]
    fn con_04_what_remains_is_told_where_no_selector_may_drop_it() {
        let objects = ["pod-1", "pod-2", "pod-3", "pod-4", "pod-5"].map(|name| pod(&format!("test/{name}"), "x", "n"));
        let cacher = cacher(objects.into(), &[]);
        let paged = |labels: Option<&str>, shard: Option<&str>| {
            let options = ListOptions {
                namespace: Some("test".into()),
                label_selector: labels.map(Into::into),
                shard_selector: shard.map(Into::into),
                limit: 2,
                ..ListOptions::default()
            };
            let request = Request::new(options, Some(&Collection::default()), false, "/pods/", &mut cacher.fields().borrow_mut()).unwrap();
            read(&cacher, &request).unwrap()
        };
        let everything = paged(None, None);
        assert_eq!(everything.remaining, Some(3));
        let token = Token::decode(&everything.continue_token.unwrap(), "test/").unwrap();
        assert_eq!(token, Token { version: Some(Version::from(100)), start: "test/pod-2\0".into() });
        let labelled = paged(Some("label=x"), None);
        assert_eq!((labelled.remaining, labelled.continue_token.is_some()), (None, true));
        let whole = "shardRange(object.metadata.uid,'0x0000000000000000','0x10000000000000000')";
        let sharded = paged(None, Some(whole));
        assert_eq!((sharded.remaining, sharded.objects.len(), sharded.continue_token.is_some()), (None, 2, true));
        assert_eq!(sharded.shard.as_deref(), Some("shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')"));
    }

    #[test]
    fn lst_a_state_without_a_version_is_an_error() {
        let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
        let cacher = Cacher::new(fields, WindowBounds::default(), Indexes::default(), Instant::START);
        assert_eq!(read(&cacher, &ask(&cacher, "", "", "")).unwrap_err().message, "illegal resource version from storage: 0");
    }

    #[test]
    fn con_05_a_token_is_the_one_that_a_server_gives_out() {
        use base64::Engine;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        // As kube-apiserver 1.36 wrote them for a list of one namespace, of all, and of a resource that is in none.
        let cacher = cacher(three(), &[]);
        for (namespace, key, start) in [("ns", "ns/x1", "/x1"), ("", "ns/x1", "/ns/x1"), ("", "node-1", "/node-1")] {
            let request = ask(&cacher, namespace, "", "");
            let text = next_page(key, &request, &Version::from(202)).unwrap();
            assert_eq!(text, URL_SAFE_NO_PAD.encode(format!(r#"{{"v":"meta.k8s.io/v1","rv":202,"start":"{start}\u0000"}}"#)));
            assert_eq!(Token::decode(&text, &request.prefix).unwrap().start, format!("{key}\0"));
        }
    }
}
