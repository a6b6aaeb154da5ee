//! The grammar of options that are text: selectors and paths.

use super::filter::{Filter, FilterText};
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::status::{Error, ErrorCode};

/// The path that an option names.
pub fn parse_path(option: &str, text: &str) -> Result<Path, Error> {
    Path::parse(text).map_err(|error| Error::new(ErrorCode::Invalid, format!("{option}: {error}")))
}

/// Whether a text can be read as this option's: as a selector where the option is named as one, else as a path.
pub fn check_grammar(option: &str, text: &str) -> Result<(), Error> {
    if !option.ends_with("Selector") {
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
        ] {
            check_grammar(option, sound).unwrap_or_else(|error| panic!("{option}: {error:?}"));
            assert_eq!(check_grammar(option, mistake).unwrap_err().code, ErrorCode::Invalid, "{option}");
        }
        assert!(check_grammar("groupBy", "status[").unwrap_err().message.starts_with("groupBy: "));
    }
}
