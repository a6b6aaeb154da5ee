//! Which objects a request is about: scope, labels and fields.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::selector::predicate::Matcher;
use crate::selector::{FieldSelector, LabelSelector, Predicate, SelectorError};
use crate::status::{Cause, Details, Error, Status};

/// A compiled request: namespace, name, labels, fields. The default one selects everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    namespace: Option<Rc<str>>,
    name: Option<Rc<str>>,
    matcher: Matcher,
}

impl Filter {
    /// Parses the selectors and registers the paths they read. 400 with the parser's message and place for a selector with a mistake.
    pub fn new(
        namespace: Option<&str>,
        name: Option<&str>,
        label_selector: Option<&str>,
        field_selector: Option<&str>,
        fields: &mut FieldSet,
    ) -> Result<Self, Error> {
        let predicate = parse_selectors(label_selector, field_selector)?;
        let matcher = Matcher::new(predicate, fields).map_err(|error| invalid_selector("fieldSelector", &error))?;
        let some = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(Rc::from);
        Ok(Self { namespace: some(namespace), name: some(name), matcher })
    }

    /// Whether every object passes.
    pub fn is_everything(&self) -> bool {
        self.namespace.is_none() && self.name.is_none() && self.matcher.predicate().is_empty()
    }

    /// The one namespace that can match: of the request, else of an equality term on `metadata.namespace`; else empty.
    pub fn scope_namespace(&self) -> &str {
        self.namespace.as_deref().or_else(|| self.matcher.predicate().single_namespace()).unwrap_or("")
    }

    /// The one name that can match: of the request, else of an equality term on `metadata.name`; else empty.
    pub fn scope_name(&self) -> &str {
        self.name.as_deref().or_else(|| self.matcher.predicate().single_name()).unwrap_or("")
    }

    /// Whether the object is one of those asked for.
    pub fn passes(&self, object: &Object, fields: &FieldSet) -> bool {
        self.namespace.as_deref().is_none_or(|namespace| namespace == object.namespace())
            && self.name.as_deref().is_none_or(|name| name == object.name())
            && self.matcher.matches(object, fields)
    }
}

/// Parses a pair of selectors; absent ones select everything.
pub fn parse_selectors(labels: Option<&str>, fields: Option<&str>) -> Result<Predicate, Error> {
    Ok(Predicate {
        label: LabelSelector::parse(labels.unwrap_or("")).map_err(|error| invalid_selector("labelSelector", &error))?,
        field: FieldSelector::parse(fields.unwrap_or("")).map_err(|error| invalid_selector("fieldSelector", &error))?,
    })
}

/// 400 with the selector that is wrong, and the byte at which its reader stopped.
pub fn invalid_selector(field: &str, error: &SelectorError) -> Error {
    let mut status = Status::bad_request(error.message.clone());
    let cause = Cause { reason: "FieldValueInvalid".into(), message: format!("position {}", error.offset), field: field.into() };
    status.details = Some(Details { causes: vec![cause], ..Details::default() });
    status.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;
    use crate::testing::with_spec;

    #[test]
    fn fil_06_the_request_and_the_selector_both_limit_the_namespace() {
        let mut fields = FieldSet::new(Vec::new());
        let mut filter = |namespace, selector| Filter::new(namespace, None, None, selector, &mut fields).unwrap();
        assert_eq!(filter(Some("a"), None).scope_namespace(), "a");
        assert_eq!(filter(None, Some("metadata.namespace=b")).scope_namespace(), "b");
        let nothing = filter(Some("a"), Some("metadata.namespace=b"));
        let fields = FieldSet::new(Vec::new());
        assert!(!nothing.passes(&with_spec("a/x", 1, &[], &serde_json::json!({})), &fields));
        assert!(!nothing.passes(&with_spec("b/x", 1, &[], &serde_json::json!({})), &fields));
    }

    #[test]
    fn fil_05_name_and_field_must_both_hold() {
        let mut fields = FieldSet::new(Vec::new());
        let filter = Filter::new(None, Some("x"), None, Some("spec.nodeName=n1"), &mut fields).unwrap();
        let on = |key: &str, node: &str| with_spec(key, 1, &[], &serde_json::json!({"nodeName": node}));
        assert!(filter.passes(&on("a/x", "n1"), &fields));
        assert!(!filter.passes(&on("a/x", "n2"), &fields));
        assert!(!filter.passes(&on("a/y", "n1"), &fields));
    }

    #[test]
    fn a_mistake_is_400_and_says_which_selector_and_where() {
        let mut fields = FieldSet::new(Vec::new());
        let error = Filter::new(None, None, Some("app in web"), None, &mut fields).unwrap_err();
        assert_eq!(error.code, ErrorCode::Invalid);
        let cause = &error.status.unwrap().details.unwrap().causes[0];
        assert_eq!((cause.field.as_str(), cause.message.as_str()), ("labelSelector", "position 7"));
    }
}
