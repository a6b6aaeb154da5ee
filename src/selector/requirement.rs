//! One requirement of a label selector.

use std::fmt;

/// One requirement on one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
    // The value of `>` and `<` as a number.
    bound: i64,
}

/// How a requirement relates a label to its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `key=value`
    Equals,
    /// `key==value`: the same as `=`, but the selector prints as it was written.
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
    /// `key>1`: matches only labels that are integers.
    GreaterThan,
    /// `key<1`: matches only labels that are integers.
    LessThan,
}

impl Requirement {
    /// The values must be sorted and distinct. `bound` counts only for `>` and `<`.
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

    /// The values, sorted and distinct: none for `key` and `!key`, one for comparisons, one or more for `in` and `notin`.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether the requirement holds for the label's value, or for its absence.
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
