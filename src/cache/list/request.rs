//! A list request, read: which keys it is about, and how old the answer may be.

use std::rc::Rc;

use super::options::{Checked, ListOptions, Want};
use super::token::Token;
use crate::json::fields::FieldSet;
use crate::key::prepare;
use crate::object::Object;
use crate::selector::{Filter, FilterText};
use crate::source::Collection;
use crate::status::Error;
use crate::version::Version;

/// The answer to a list.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The objects of this page, in key order.
    pub objects: Vec<Rc<Object>>,
    /// The version at which they are all of them.
    pub version: Version,
    /// What asks for the next page; `None`: this is the last one.
    pub continue_token: Option<String>,
    /// How many objects the further pages hold, where that is known.
    pub remaining: Option<u64>,
    /// The shard that was asked for, as canonical text.
    pub shard: Option<String>,
}

/// A list request, read.
#[derive(Debug)]
pub(in crate::cache) struct Request {
    pub(in crate::cache) options: ListOptions,
    pub(in crate::cache) filter: Filter,
    /// The namespace it is about; empty for all.
    pub(in crate::cache) namespace: String,
    /// What all keys of it begin with: nothing, or the namespace and "/". Tokens are relative to it.
    pub(in crate::cache) prefix: String,
    /// The one key it is about, where it is no more than that.
    pub(in crate::cache) key: Option<String>,
    /// `None`: it goes on with a token that only the source can read.
    pub(in crate::cache) checked: Option<Checked>,
    /// Whether the source has tokens of its own, among which ours must be known.
    pub(in crate::cache) private: bool,
}

impl Request {
    /// Reads the options of a list of the collection, whose paths begin with `root`. `clustered`: its objects are in no namespace.
    pub(in crate::cache) fn new(
        options: ListOptions,
        collection: Option<&Collection>,
        clustered: bool,
        root: &str,
        fields: &mut FieldSet,
    ) -> Result<Self, Error> {
        let own = collection.and_then(|collection| collection.namespace.clone());
        let namespace = options.namespace.clone().filter(|text| !text.is_empty()).or(own).unwrap_or_default();
        let asked = FilterText {
            namespace: Some(&namespace),
            name: None,
            labels: options.label_selector.as_deref(),
            fields: options.field_selector.as_deref(),
        };
        let filter = Filter::new(asked, fields)?.with_shard(options.shard_selector.as_deref())?;
        options.validate()?;
        let path = prepare(root, &format!("{root}{namespace}"), true)?;
        let prefix = path[root.len()..].to_string();
        // A request about one name in one namespace, or where there are none, is about one key; pages of it there are none.
        let single = (clustered || !namespace.is_empty()) && options.token().is_none();
        let name = filter.predicate().single_name().filter(|_| single);
        let key = name.map(|name| prepare(root, &format!("{root}{prefix}{name}"), false)).transpose()?;
        let key = key.map(|key| key[root.len()..].to_string());
        let foreign = collection.is_none() && options.token().is_some_and(|token| Token::decode(token, "").is_err());
        let checked = if foreign { None } else { Some(options.read(&prefix, key.is_none())?) };
        let private = collection.is_none();
        Ok(Self { options, filter, namespace, prefix, key, checked, private })
    }

    /// Whether it may be about more than one key.
    pub(in crate::cache) fn is_recursive(&self) -> bool {
        self.key.is_none()
    }

    /// Whether no selector is given, so that every object under the prefix is meant.
    pub(in crate::cache) fn is_unselective(&self) -> bool {
        self.filter.predicate().is_empty() && self.filter.shard().is_none()
    }

    /// Whether it wants everything as new as the upstream is now, and no page of it.
    pub(in crate::cache) fn is_whole_and_newest(&self) -> bool {
        self.is_recursive() && self.checked.as_ref().is_some_and(|checked| checked.want == Want::Newest && checked.limit.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;

    #[test]
    fn sel_02_a_list_that_selects_one_name_is_about_one_key() {
        let request = |namespace: &str, fields: &str, token: Option<&str>, clustered: bool| {
            let options = ListOptions {
                namespace: Some(namespace.into()),
                field_selector: Some(fields.into()),
                resource_version: token.is_none().then(|| "0".into()),
                continue_token: token.map(Into::into),
                ..ListOptions::default()
            };
            Request::new(options, Some(&Collection::default()), clustered, "/pods/", &mut FieldSet::new(Vec::new())).unwrap()
        };
        let key = |namespace: &str, fields: &str| request(namespace, fields, None, false).key;
        assert_eq!(key("ns", "metadata.name=foo").as_deref(), Some("ns/foo"));
        assert_eq!(key("ns", "spec.nodeName=n,metadata.name==foo").as_deref(), Some("ns/foo"));
        for (namespace, fields) in [("ns", "metadata.name!=foo"), ("ns", "metadata.namespace=ns"), ("ns", ""), ("", "metadata.name=foo")] {
            assert_eq!(key(namespace, fields), None, "{namespace:?} {fields:?}");
        }
        assert_eq!(request("", "metadata.name=foo", None, true).key.as_deref(), Some("foo"), "of objects in no namespace");
        let token = Token::encode("ns/a", "ns/", &Version::from(7)).unwrap();
        assert_eq!(request("ns", "metadata.name=foo", Some(&token), false).key, None, "a page of a longer list stays one");
    }

    #[test]
    fn opt_03_opt_07_what_the_validation_of_a_list_forbids() {
        let with = |version: Option<&str>, kind: &str, token: Option<&str>| ListOptions {
            resource_version: version.map(Into::into),
            resource_version_match: Some(kind.into()),
            continue_token: token.map(Into::into),
            ..ListOptions::default()
        };
        let read =
            |options: ListOptions| Request::new(options, Some(&Collection::default()), false, "/pods/", &mut FieldSet::new(Vec::new()));
        let refused = |options: ListOptions, faults: &[&str]| {
            let error = read(options).unwrap_err();
            assert_eq!(error.code, ErrorCode::Invalid);
            let status = error.status.unwrap();
            assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
            let details = status.details.unwrap();
            assert_eq!((details.kind.as_deref(), details.group.as_deref()), (Some("ListOptions"), Some("meta.k8s.io")));
            let causes: Vec<String> = details.causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
            assert_eq!(causes, faults);
            assert!(status.message.starts_with("ListOptions.meta.k8s.io \"\" is invalid: "), "{}", status.message);
        };
        let unset = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided";
        let continued = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided";
        let zero = "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        let other = "resourceVersionMatch: Unsupported value: \"foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"";
        refused(with(None, "NotOlderThan", None), &[unset]);
        refused(with(Some("1"), "NotOlderThan", Some("123")), &[continued]);
        refused(with(Some("0"), "Exact", None), &[zero]);
        refused(with(Some("0"), "foo", None), &[other]);
        refused(with(None, "foo", Some("123")), &[unset, continued, other]);
        assert!(read(with(Some("0"), "NotOlderThan", None)).is_ok());
        assert!(read(with(Some("100"), "Exact", None)).is_ok());
    }
}
