//! The objects that a request is about: scope, shard, labels and fields.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::selector::predicate::Matcher;
use crate::selector::{FieldSelector, LabelSelector, Predicate, SelectorError, ShardSelector};
use crate::status::{Cause, Details, Error, Status};

/// A compiled request: namespace, name, shard, labels, fields. The default selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    namespace: Option<Rc<str>>,
    name: Option<Rc<str>>,
    shard: Option<ShardSelector>,
    matcher: Matcher,
}

/// What a request is about, as text. What is not given selects everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterText<'a> {
    /// Only this namespace.
    pub namespace: Option<&'a str>,
    /// Only objects of this name.
    pub name: Option<&'a str>,
    /// A label selector.
    pub labels: Option<&'a str>,
    /// A field selector.
    pub fields: Option<&'a str>,
}

impl Filter {
    /// Parses the selectors and registers the paths that they read. Fails with 400 if a selector cannot be parsed, with the parser's
    /// message and position. Also fails with 400 if a selector excludes the given name.
    pub fn new(asked: FilterText<'_>, fields: &mut FieldSet) -> Result<Self, Error> {
        let FilterText { namespace, name, .. } = asked;
        let predicate = parse_selectors(asked.labels, asked.fields)?;
        let other = |name: &&str| predicate.single_name().is_some_and(|demanded| demanded != *name);
        if name.filter(|text| !text.is_empty()).filter(other).is_some() {
            return Err(Status::bad_request("fieldSelector metadata.name doesn't match requested name").into());
        }
        let matcher = Matcher::new(predicate, fields).map_err(|error| invalid_selector("fieldSelector", &error))?;
        let some = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(Rc::from);
        Ok(Self { namespace: some(namespace), name: some(name), shard: None, matcher })
    }

    /// Narrows the filter to a shard, if one is given. Fails with 400 for a selector with a mistake, and for the empty text.
    pub fn with_shard(mut self, shard_selector: Option<&str>) -> Result<Self, Error> {
        self.shard = match shard_selector {
            Some(text) => Some(ShardSelector::parse(text).map_err(|error| invalid_shard(&error))?),
            None => None,
        };
        Ok(self)
    }

    /// The shard, if there is one.
    pub fn shard(&self) -> Option<&ShardSelector> {
        self.shard.as_ref()
    }

    /// The slots that must have a certain value.
    pub fn demands(&self) -> impl Iterator<Item = (u32, &str)> {
        self.matcher.demands().filter_map(|(slot, value)| Some((u32::try_from(slot).ok()?, value)))
    }

    /// The selectors for labels and fields.
    pub fn predicate(&self) -> &Predicate {
        self.matcher.predicate()
    }

    /// Whether every object passes.
    pub fn is_everything(&self) -> bool {
        self.namespace.is_none() && self.name.is_none() && self.shard.is_none() && self.matcher.predicate().is_empty()
    }

    /// The only namespace that can match, from the request or else from a term on `metadata.namespace`. Empty if there is none.
    pub fn scope_namespace(&self) -> &str {
        self.namespace.as_deref().or_else(|| self.matcher.predicate().single_namespace()).unwrap_or("")
    }

    /// The only name that can match, from the request or else from a term on `metadata.name`. Empty if there is none.
    pub fn scope_name(&self) -> &str {
        self.name.as_deref().or_else(|| self.matcher.predicate().single_name()).unwrap_or("")
    }

    /// Whether the object is in the shard. Always true without one.
    pub fn in_shard(&self, object: &Object) -> bool {
        self.shard.as_ref().is_none_or(|shard| shard.matches(object))
    }

    /// Whether the object passes. Fields are read last, and only if the request has a selector for them.
    pub fn passes(&self, object: &Object, fields: &FieldSet) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| namespace == object.namespace())
            && self.name.as_deref().is_none_or(|name| name == object.name())
            && self.in_shard(object)
            && self.matcher.matches(object, fields)
    }
}

/// Parses a pair of selectors. A missing one selects everything.
pub fn parse_selectors(labels: Option<&str>, fields: Option<&str>) -> Result<Predicate, Error> {
    Ok(Predicate {
        label: LabelSelector::parse(labels.unwrap_or("")).map_err(|error| invalid_selector("labelSelector", &error))?,
        field: FieldSelector::parse(fields.unwrap_or("")).map_err(|error| invalid_selector("fieldSelector", &error))?,
    })
}

/// A 400 that names the wrong selector and the byte at which parsing stopped.
pub fn invalid_selector(field: &str, error: &SelectorError) -> Error {
    let mut status = Status::bad_request(error.message.clone());
    let cause = Cause { reason: "FieldValueInvalid".into(), message: format!("position {}", error.offset), field: field.into() };
    status.details = Some(Details { causes: vec![cause], ..Details::default() });
    status.into()
}

fn invalid_shard(error: &SelectorError) -> Error {
    invalid_selector("shardSelector", &SelectorError { message: format!("invalid shard selector: {}", error.message), ..error.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use crate::testing::with_spec;

    #[test]
    fn the_request_and_the_selector_both_limit_the_namespace() {
        let mut fields = FieldSet::new(Vec::new());
        let mut filter =
            |namespace, selector| Filter::new(FilterText { namespace, fields: selector, ..FilterText::default() }, &mut fields).unwrap();
        assert_eq!(filter(Some("a"), None).scope_namespace(), "a");
        assert_eq!(filter(None, Some("metadata.namespace=b")).scope_namespace(), "b");
        let nothing = filter(Some("a"), Some("metadata.namespace=b"));
        let fields = FieldSet::new(Vec::new());
        assert!(!nothing.passes(&with_spec("a/x", 1, &[], &serde_json::json!({})), &fields));
        assert!(!nothing.passes(&with_spec("b/x", 1, &[], &serde_json::json!({})), &fields));
    }

    #[test]
    fn name_and_field_must_both_hold() {
        let mut fields = FieldSet::new(Vec::new());
        let filter =
            Filter::new(FilterText { name: Some("x"), fields: Some("spec.nodeName=n1"), ..FilterText::default() }, &mut fields).unwrap();
        let on = |key: &str, node: &str| with_spec(key, 1, &[], &serde_json::json!({"nodeName": node}));
        assert!(filter.passes(&on("a/x", "n1"), &fields));
        assert!(!filter.passes(&on("a/x", "n2"), &fields));
        assert!(!filter.passes(&on("a/y", "n1"), &fields));
    }

    #[test]
    fn sel_12_a_mistake_is_400_and_says_which_selector_and_where() {
        let mut fields = FieldSet::new(Vec::new());
        let error = Filter::new(FilterText { labels: Some("app in web"), ..FilterText::default() }, &mut fields).unwrap_err();
        assert_eq!(error.code, ErrorCode::Invalid);
        let cause = &error.status.unwrap().details.unwrap().causes[0];
        assert_eq!((cause.field.as_str(), cause.message.as_str()), ("labelSelector", "position 7"));
    }

    /// Two shards that split all hashes of a field in half.
    fn halves(field: &str) -> [String; 2] {
        [("0x0000000000000000", "0x8000000000000000"), ("0x8000000000000000", "0x10000000000000000")]
            .map(|(start, end)| format!("shardRange(object.metadata.{field}, '{start}', '{end}')"))
    }

    /// Whether `a/x` with this uid and label passes a filter of namespace `a`, the label `app=web`, and this shard.
    fn passes(namespace: &str, shard: Option<&str>, uid: Option<&str>, app: &str) -> bool {
        let mut fields = FieldSet::new(Vec::new());
        let filter = Filter::new(FilterText { namespace: Some(namespace), labels: Some("app=web"), ..FilterText::default() }, &mut fields)
            .unwrap()
            .with_shard(shard)
            .unwrap();
        let uid = uid.map(|uid| format!(r#","uid":"{uid}""#)).unwrap_or_default();
        let text = format!(r#"{{"metadata":{{"namespace":"a","name":"x","resourceVersion":"1","labels":{{"app":"{app}"}}{uid}}}}}"#);
        filter.passes(&crate::testing::document(&text, &fields), &fields)
    }

    /// The hash of `uid-0` starts with 8, so it is in the upper half.
    #[test]
    fn shd_01_scope_shard_and_labels_must_all_hold() {
        let [lower, upper] = halves("uid");
        assert!(passes("a", Some(&upper), Some("uid-0"), "web"));
        assert!(!passes("a", Some(&upper), Some("uid-0"), "db"), "in the shard, but not its labels");
        assert!(!passes("a", Some(&lower), Some("uid-0"), "web"), "out of the shard");
        assert!(!passes("b", Some(&upper), Some("uid-0"), "web"), "another namespace");
        assert!(passes("a", None, Some("uid-0"), "web"), "no shard is all of them");
        assert!(passes("a", Some(&format!("{lower} || {upper}")), Some("uid-0"), "web"));
        // The apiserver drops an object without metadata; the store cannot hold one. An object without a uid hashes as "".
        assert!(passes("a", Some(&upper), None, "web") && !passes("a", Some(&lower), None, "web"));
    }

    /// The hash of `a` starts with af.
    #[test]
    fn shd_02_a_namespace_is_in_one_shard_whole() {
        let [lower, upper] = halves("namespace");
        for uid in [Some("uid-0"), Some("uid-1"), None] {
            assert!(passes("a", Some(&upper), uid, "web"));
            assert!(!passes("a", Some(&lower), uid, "web"));
        }
    }

    /// A shard alone reads only the uid.
    #[test]
    fn sel_04_a_shard_alone_reads_no_fields() {
        let [lower, upper] = halves("uid");
        let fields = FieldSet::new(Vec::new());
        let alone = |shard: &str| Filter::default().with_shard(Some(shard)).unwrap();
        let object = crate::testing::document(r#"{"metadata":{"name":"x","resourceVersion":"1","uid":"uid-0"}}"#, &fields);
        assert!(alone(&upper).passes(&object, &fields) && !alone(&lower).passes(&object, &fields));
        assert!(alone(&upper).predicate().is_empty() && !alone(&upper).is_everything());
        assert!(Filter::default().with_shard(None).unwrap().is_everything());
    }

    #[test]
    fn a_mistake_in_a_shard_selector_is_400_with_its_place() {
        for (text, message) in [
            ("", "invalid shard selector: empty shard selector is not allowed; omit the parameter for unfiltered lists"),
            ("true", "invalid shard selector: expected shardRange at position 0; only shardRange(field, start, end) and || are allowed"),
        ] {
            let error = Filter::default().with_shard(Some(text)).unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (ErrorCode::Invalid, message));
            assert_eq!(error.status.unwrap().details.unwrap().causes[0].field, "shardSelector");
        }
    }
}
