//! Label selectors: `app=web,tier in (a,b),!canary,rank>3`.

use std::fmt;
use std::rc::Rc;

use crate::sort::sort_by;

use super::error::SelectorError;
use super::parse;
use super::requirement::{Operator, Requirement};

/// A parsed label selector: the AND of its requirements. Clones share them.
///
/// ```
/// use watchcache::selector::LabelSelector;
///
/// let selector = LabelSelector::parse("tier in (web, api), !canary")?;
/// assert!(selector.matches(&[("tier".into(), "web".into())]));
/// assert!(!selector.matches(&[("canary".into(), "".into()), ("tier".into(), "web".into())]));
/// assert_eq!(selector.to_string(), "!canary,tier in (api,web)");
/// assert!(LabelSelector::parse("tier in (web").is_err());
/// # Ok::<_, watchcache::selector::SelectorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Rc<[Requirement]>,
}

impl LabelSelector {
    /// The selector without requirements, which matches every object.
    pub fn everything() -> Self {
        LabelSelector { requirements: Rc::new([]) }
    }

    /// Reads a selector as the Kubernetes API does. An empty or blank text selects everything.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut requirements = parse::requirements(text)?;
        // Sorted by key, so that equal selectors print alike.
        sort_by(&mut requirements, |a, b| a.key().cmp(b.key()));
        Ok(LabelSelector { requirements: requirements.into() })
    }

    /// Whether there is no requirement.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether an object with these labels is selected. The labels must be sorted by key in byte order, each key once.
    pub fn matches(&self, labels: &[(Rc<str>, Rc<str>)]) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(lookup(labels, requirement.key())))
    }

    /// The requirements, sorted by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// The one value that the selector demands of a label, if there is one: by `=`, `==`, or `in` with a single value. Only the first
    /// requirement on a label counts.
    pub fn exact(&self, key: &str) -> Option<&str> {
        let first = self.requirements.iter().find(|requirement| requirement.key() == key)?;
        match (first.operator(), first.values()) {
            (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => Some(value),
            _ => None,
        }
    }
}

fn lookup<'a>(labels: &'a [(Rc<str>, Rc<str>)], key: &str) -> Option<&'a str> {
    let index = labels.binary_search_by(|(own, _)| (**own).cmp(key)).ok()?;
    Some(&labels[index].1)
}

impl Default for LabelSelector {
    fn default() -> Self {
        LabelSelector::everything()
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Vec<(Rc<str>, Rc<str>)> {
        let mut labels: Vec<(Rc<str>, Rc<str>)> = pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        labels.sort();
        labels
    }

    fn matches(selector: &str, pairs: &[(&str, &str)]) -> bool {
        LabelSelector::parse(selector).unwrap().matches(&labels(pairs))
    }

    #[test]
    fn st_33_absent_labels() {
        assert!(matches("a!=b", &[]));
        assert!(matches("a notin (b,c)", &[]));
        assert!(!matches("a=b", &[]));
        assert!(!matches("a in (b,c)", &[]));
        assert!(!matches("a>1", &[]));
        assert!(!matches("a<1", &[]));
        assert!(!matches("a", &[]));
        assert!(matches("!a", &[]));
        assert!(matches("", &[]));
        assert!(matches("", &[("x", "y")]));
    }

    #[test]
    fn present_labels() {
        let own = [("app", "web"), ("rank", "5"), ("empty", ""), ("tier", "a")];
        for selector in [
            "app=web",
            "app==web",
            "app!=db",
            "app in (db,web)",
            "app notin (db)",
            "app",
            "!canary",
            "rank>4",
            "rank<6",
            "empty=",
            "empty in ()",
            "empty in (,x)",
            "app=web,tier in (a,b),!canary,rank>3",
            "rank>04",
            "rank!=6",
        ] {
            assert!(matches(selector, &own), "{selector}");
        }
        for selector in [
            "app=db",
            "app!=web",
            "app in (db)",
            "app notin (web,db)",
            "!app",
            "canary",
            "rank>5",
            "rank<5",
            "app>1",
            "app<1",
            "empty>1",
            "empty!=",
            "app=web,tier=b",
            "rank>99999999",
            "tier in ()",
        ] {
            assert!(!matches(selector, &own), "{selector}");
        }
    }

    #[test]
    fn integers_beyond_64_bits_never_compare() {
        assert!(!matches("rank>1", &[("rank", "9223372036854775808")]));
        assert!(matches("rank>1", &[("rank", "9223372036854775807")]));
        assert!(!matches("rank<1", &[("rank", "1.5")]));
    }

    #[test]
    fn one_exact_value() {
        let selector = LabelSelector::parse("a=1,b==2,c in (3),d in (4,5),e!=6,f,g notin (7),h=,i>1,j!=1,j=2").unwrap();
        for (key, value) in [
            ("a", Some("1")),
            ("b", Some("2")),
            ("c", Some("3")),
            ("d", None),
            ("e", None),
            ("f", None),
            ("g", None),
            ("h", Some("")),
            ("i", None),
            // Only the first requirement on a key counts.
            ("j", None),
            ("missing", None),
        ] {
            assert_eq!(selector.exact(key), value, "{key}");
        }
    }

    #[test]
    fn prints_in_one_form() {
        for (text, canonical) in [
            ("x=a,y=b,z=c", "x=a,y=b,z=c"),
            ("", ""),
            ("  ", ""),
            ("x!=a,y=b", "x!=a,y=b"),
            ("x= ,z= ", "x=,z="),
            ("!x", "!x"),
            ("x>1,z<5", "x>1,z<5"),
            ("z=c, a=b", "a=b,z=c"),
            ("x in (c,a,b,a)", "x in (a,b,c)"),
            ("x notin ( b , a )", "x notin (a,b)"),
            ("x in ()", "x in ()"),
            ("x in (,)", "x in ()"),
            ("x in (a,,b)", "x in (,a,b)"),
            ("x==a", "x==a"),
            ("! x", "!x"),
            ("in in (in,notin)", "in in (in,notin)"),
            ("notin=in", "notin=in"),
            ("x=notin", "x=notin"),
            ("x\tin\n(a)", "x in (a)"),
            ("a.b/c", "a.b/c"),
        ] {
            let selector = LabelSelector::parse(text).unwrap();
            assert_eq!(selector.to_string(), canonical, "{text:?}");
            assert_eq!(LabelSelector::parse(canonical).unwrap(), selector, "{canonical:?}");
        }
    }
}
