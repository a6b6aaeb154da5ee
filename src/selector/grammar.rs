//! The grammar of options that are text: selectors, paths and names of indexes.

use super::filter::{Filter, FilterText};
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::status::{Error, ErrorCode};

/// The path that an option names.
pub fn parse_path(option: &str, text: &str) -> Result<Path, Error> {
    Path::parse(text).map_err(|error| Error::new(ErrorCode::Invalid, format!("{option}: {error}")))
}

/// The index that every store has. The order of keys is that index already, so nothing is kept for it.
pub const NAMESPACE: &str = "namespace";

/// Whether an index may have this name. `option` is the one that lists it.
pub fn check_index_name(option: &str, name: &str) -> Result<(), Error> {
    let mistake = match name {
        "" => format!("{option} have names"),
        NAMESPACE => format!("{option} lists {NAMESPACE:?}, which always exists"),
        _ => return Ok(()),
    };
    Err(Error::new(ErrorCode::Invalid, mistake))
}

/// Whether a text can be read as this option's: as a selector where the option is named as one, else as a path. An index has a name to be
/// judged, and no text where it goes by a function.
pub fn check_grammar(option: &str, text: Option<&str>) -> Result<(), Error> {
    if let Some((list @ ("indexes" | "indexers"), name)) = option.split_once('.') {
        check_index_name(list, name)?;
    }
    let Some(text) = text else { return Ok(()) };
    // What fields of a view are called is the user's affair.
    if !option.ends_with("Selector") || option.starts_with("select.") {
        return parse_path(option, text).map(drop);
    }
    let given = |name: &str| (option == name).then_some(text);
    let filter = Filter::new(
        FilterText { labels: given("labelSelector"), fields: given("fieldSelector"), ..FilterText::default() },
        &mut FieldSet::new(Vec::new()),
    )?;
    filter.with_shard(given("shardSelector")).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_judged_by_the_name_of_its_option() {
        for (option, sound, mistake) in [
            ("labelSelector", "app in (a,b)", "app in"),
            ("fieldSelector", "spec.nodeName=n", "spec.nodeName"),
            ("shardSelector", "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')", ""),
            ("groupBy", "status.phase", "status["),
            ("orderBy[0].path", "metadata.name", ""),
            ("select.nodeSelector", "spec.nodeSelector", "spec["),
        ] {
            check_grammar(option, Some(sound)).unwrap_or_else(|error| panic!("{option}: {error:?}"));
            assert_eq!(check_grammar(option, Some(mistake)).unwrap_err().code, ErrorCode::Invalid, "{option}");
        }
        assert!(check_grammar("groupBy", Some("status[")).unwrap_err().message.starts_with("groupBy: "));
    }

    #[test]
    fn an_index_has_a_name_of_its_own() {
        let said = |option: &str, text| check_grammar(option, text).map_err(|error| error.message);
        assert_eq!(said("indexes.node", Some("spec.nodeName")), Ok(()));
        assert_eq!(said("indexes.node", None), Ok(()), "by a function");
        for text in [None, Some("spec.nodeName")] {
            assert_eq!(said("indexes.namespace", text), Err("indexes lists \"namespace\", which always exists".into()));
            assert_eq!(said("indexers.", text), Err("indexers have names".into()));
        }
        assert!(said("indexes.node", Some("a[[")).unwrap_err().starts_with("indexes.node: "));
        assert_eq!(said("indexes.a.namespace", None), Ok(()), "any other name may be an index's");
    }
}
