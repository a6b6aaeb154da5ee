//! Which objects a request is about: scope, labels and fields.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::object::Object;
use crate::selector::{FieldSelector, LabelSelector, SelectorError};
use crate::status::{Cause, Details, Error, Status};

/// Where the value of a field term comes from.
#[derive(Clone, Debug)]
enum FieldRead {
    Name,
    Namespace,
    Slot(usize),
}

/// A compiled request: namespace, name, labels, fields.
#[derive(Clone, Debug)]
pub struct Filter {
    namespace: Option<Rc<str>>,
    name: Option<Rc<str>>,
    labels: LabelSelector,
    fields: FieldSelector,
    reads: Vec<FieldRead>,
}

impl Filter {
    /// Parses the selectors and registers the paths they read. 400 with the parser's message and place for a selector with a mistake.
    pub fn new(
        namespace: Option<&str>,
        name: Option<&str>,
        label_selector: Option<&str>,
        field_selector: Option<&str>,
        set: &mut FieldSet,
    ) -> Result<Self, Error> {
        let labels = LabelSelector::parse(label_selector.unwrap_or("")).map_err(|error| bad("labelSelector", &error))?;
        let fields = FieldSelector::parse(field_selector.unwrap_or("")).map_err(|error| bad("fieldSelector", &error))?;
        let reads = field_reads(&fields, set)?;
        let some = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(Rc::from);
        Ok(Self { namespace: some(namespace), name: some(name), labels, fields, reads })
    }

    /// Everything passes.
    pub fn everything() -> Self {
        Self {
            namespace: None,
            name: None,
            labels: LabelSelector::everything(),
            fields: FieldSelector::everything(),
            reads: Vec::new(),
        }
    }

    /// Whether every object passes.
    pub fn is_everything(&self) -> bool {
        self.namespace.is_none() && self.name.is_none() && self.labels.is_everything() && self.fields.is_everything()
    }

    /// The one namespace that can match: of the request, else of an equality term on `metadata.namespace`.
    pub fn scope_namespace(&self) -> &str {
        self.namespace.as_deref().or_else(|| self.fields.exact("metadata.namespace")).unwrap_or("")
    }

    /// The one name that can match: of the request, else of an equality term on `metadata.name`.
    pub fn scope_name(&self) -> &str {
        self.name.as_deref().or_else(|| self.fields.exact("metadata.name")).unwrap_or("")
    }

    /// Whether the object is one of those asked for.
    pub fn passes(&self, object: &Object, set: &FieldSet) -> bool {
        if self.namespace.as_deref().is_some_and(|namespace| namespace != object.namespace())
            || self.name.as_deref().is_some_and(|name| name != object.name())
            || !self.labels.matches(object.labels())
        {
            return false;
        }
        self.fields.is_everything()
            || self.fields.matches_by_index(|index, _| match self.reads[index] {
                FieldRead::Name => object.name().into(),
                FieldRead::Namespace => object.namespace().into(),
                FieldRead::Slot(slot) => Rc::<str>::from(object.field(slot, set).text()),
            })
    }
}

fn field_reads(fields: &FieldSelector, set: &mut FieldSet) -> Result<Vec<FieldRead>, Error> {
    fields
        .terms()
        .iter()
        .map(|term| match term.path.as_str() {
            "metadata.name" => Ok(FieldRead::Name),
            "metadata.namespace" => Ok(FieldRead::Namespace),
            path => match Path::parse(path) {
                Ok(path) => Ok(FieldRead::Slot(set.slot(&path))),
                Err(error) => Err(invalid("fieldSelector", format!("{path:?} is not a known field selector: {error}"), 0)),
            },
        })
        .collect()
}

fn bad(field: &str, error: &SelectorError) -> Error {
    invalid(field, error.message.clone(), error.offset)
}

/// 400 with the field that is wrong and the byte at which its reader stopped.
pub fn invalid(field: &str, message: String, offset: usize) -> Error {
    let mut status = Status::bad_request(message);
    status.details = Some(Details {
        causes: vec![Cause {
            reason: "FieldValueInvalid".into(),
            message: format!("position {offset}"),
            field: field.into(),
        }],
        ..Details::default()
    });
    status.into()
}
