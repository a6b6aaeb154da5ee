//! Whether two documents say the same of one object at one version.

use std::fmt::Write;

use crate::json::value::Value;
use crate::sort::sort_by;

/// The first place where they differ, in the order of member names; `None`: they say the same. The order of members does not count. Nor
/// does a type that only one of them names, because the items of a list leave that to the list.
pub(super) fn first_mismatch(ours: &[u8], theirs: &[u8]) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let (Ok(ours), Ok(theirs)) = (Value::parse(ours), Value::parse(theirs)) else { return Some("the whole document".into()) };
    let mut place = String::new();
    differs(&ours, &theirs, &mut place).then_some(place)
}

/// Whether they do. `place` grows to where.
fn differs(ours: &Value, theirs: &Value, place: &mut String) -> bool {
    let length = place.len();
    match (ours, theirs) {
        (Value::Map(ours), Value::Map(theirs)) => {
            let (ours, theirs) = (by_name(ours), by_name(theirs));
            let mut names: Vec<&str> = ours.iter().chain(&theirs).map(|(name, _)| name.as_str()).collect();
            sort_by(&mut names, |a, b| a.cmp(b));
            names.dedup();
            names.into_iter().any(|name| {
                if length > 0 {
                    place.push('.');
                }
                place.push_str(name);
                let differs = match (member(&ours, name), member(&theirs, name)) {
                    (Some(ours), Some(theirs)) => differs(ours, theirs, place),
                    _ => length > 0 || !matches!(name, "kind" | "apiVersion"),
                };
                if !differs {
                    place.truncate(length);
                }
                differs
            })
        }
        (Value::List(ours), Value::List(theirs)) if ours.len() == theirs.len() => {
            ours.iter().zip(theirs).enumerate().any(|(index, (ours, theirs))| {
                let _infallible = write!(place, "[{index}]");
                let differs = differs(ours, theirs, place);
                if !differs {
                    place.truncate(length);
                }
                differs
            })
        }
        _ => ours != theirs,
    }
}

/// The members in the order of their names. Of equal names the last one counts.
fn by_name(members: &[(String, Value)]) -> Vec<&(String, Value)> {
    let mut members: Vec<_> = members.iter().rev().collect();
    sort_by(&mut members, |a, b| a.0.cmp(&b.0));
    members.dedup_by(|member, kept| member.0 == kept.0);
    members
}

fn member<'a>(by_name: &[&'a (String, Value)], name: &str) -> Option<&'a Value> {
    by_name.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok().map(|place| &by_name[place].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_members_does_not_count_and_everything_else_does() {
        let ours =
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"1","y":"2"}},"spec":{"ports":[{"a":1,"b":null}]}}"#;
        let at = |theirs: &str| first_mismatch(ours.as_bytes(), theirs.as_bytes());
        assert_eq!(at(ours), None);
        assert_eq!(at(r#"{"spec":{"ports":[{"b":null,"a":1}]}, "metadata":{"labels":{"y":"2","x":"1"},"name":"a"}}"#), None);
        let same = |spec: &str| at(&format!(r#"{{"metadata":{{"name":"a","labels":{{"x":"1","y":"2"}}}},"spec":{spec}}}"#));
        for (spec, place) in [
            (r#"{"ports":[{"a":2,"b":null}]}"#, "spec.ports[0].a"),
            (r#"{"ports":[{"a":"1","b":null}]}"#, "spec.ports[0].a"),
            (r#"{"ports":[{"a":1}]}"#, "spec.ports[0].b"),
            (r#"{"ports":[{"a":1,"b":null},{}]}"#, "spec.ports"),
            (r#"{"ports":[{"a":1,"b":null}],"kind":"x"}"#, "spec.kind"),
            ("[]", "spec"),
            (r#"{"ports":[{"a":7,"a":1,"b":null}]}"#, ""),
        ] {
            assert_eq!(same(spec).unwrap_or_default(), place, "{spec}");
        }
        assert_eq!(at(r#"{"kind":"Service"}"#).as_deref(), Some("kind"), "named on both sides, it has to be the same");
        assert_eq!(at("{").as_deref(), Some("the whole document"));
    }
}
