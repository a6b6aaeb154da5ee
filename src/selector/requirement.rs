//! One requirement of a label selector.

use std::fmt;

/// One requirement on one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
    // The right side of `>` and `<`, read once.
    bound: i64,
}

/// How a requirement relates a label to its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `key=value`
    Equals,
    /// `key==value`: means the same as `=`, kept apart so that a selector prints as it was written.
    DoubleEquals,
    /// `key!=value`: also matches objects without the label.
    NotEquals,
    /// `key in (a,b)`
    In,
    /// `key notin (a,b)`: also matches objects without the label.
    NotIn,
    /// `key`
    Exists,
    /// `!key`
    DoesNotExist,
    /// `key>1`: matches labels that are integers only.
    GreaterThan,
    /// `key<1`: matches labels that are integers only.
    LessThan,
}

impl Requirement {
    /// The values are sorted and distinct; `bound` is read only for `>` and `<`.
    pub(super) fn new(key: String, operator: Operator, values: Vec<String>, bound: i64) -> Self {
        Requirement { key, operator, values, bound }
    }

    /// The label's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The operator.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values, sorted and distinct: none for `key` and `!key`, one for the comparisons, one or more for `in` and
    /// `notin`.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether the label's value, or its absence, meets the requirement.
    pub fn matches(&self, value: Option<&str>) -> bool {
        match self.operator {
            Operator::Equals | Operator::DoubleEquals | Operator::In => value.is_some_and(|value| self.has(value)),
            Operator::NotEquals | Operator::NotIn => value.is_none_or(|value| !self.has(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => number(value).is_some_and(|number| number > self.bound),
            Operator::LessThan => number(value).is_some_and(|number| number < self.bound),
        }
    }

    fn has(&self, value: &str) -> bool {
        self.values.binary_search_by(|own| own.as_str().cmp(value)).is_ok()
    }
}

fn number(value: Option<&str>) -> Option<i64> {
    value?.parse().ok()
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, between, after) = match self.operator {
            Operator::Equals => ("", "=", ""),
            Operator::DoubleEquals => ("", "==", ""),
            Operator::NotEquals => ("", "!=", ""),
            Operator::In => ("", " in (", ")"),
            Operator::NotIn => ("", " notin (", ")"),
            Operator::Exists => ("", "", ""),
            Operator::DoesNotExist => ("!", "", ""),
            Operator::GreaterThan => ("", ">", ""),
            Operator::LessThan => ("", "<", ""),
        };
        write!(f, "{before}{}{between}{}{after}", self.key, self.values.join(","))
    }
}
