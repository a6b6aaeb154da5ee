//! What a handler asks for, in text.

use std::rc::Rc;

use super::listener::{DEFAULT_BUFFER_SIZE, HandlerOptions, News};
use crate::json::fields::FieldSet;
use crate::selector::{Filter, FilterText, Interest};
use crate::status::Error;
use crate::time::Millis;

/// A handler as it is asked for. What is unset has a default here.
#[derive(Clone, Debug, Default)]
pub struct HandlerRequest {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// A label selector.
    pub label_selector: Option<String>,
    /// A field selector over any scalar path.
    pub field_selector: Option<String>,
    /// Of updates only those that change the value at one of these paths.
    pub changes_of: Option<Vec<String>>,
    /// Whether the caller judges updates itself, because functions of its users decide what is news. The paths are only read.
    pub judged: bool,
    /// Its own resync period in milliseconds; 0 is none, `None` the informer's.
    pub resync_period: Option<Millis>,
    /// Whether what waits of one object merges.
    pub coalesce: bool,
    /// Changes that may wait while it is not done with the last.
    pub buffer_size: Option<usize>,
}

impl HandlerRequest {
    /// Reads the selectors and paths, and registers the paths. Fails on one with a mistake.
    pub fn read(&self, fields: &mut FieldSet) -> Result<HandlerOptions, Error> {
        let (namespace, labels) = (self.namespace.as_deref(), self.label_selector.as_deref());
        let filter =
            Filter::new(FilterText { namespace, labels, fields: self.field_selector.as_deref(), ..FilterText::default() }, fields)?;
        let interest = self.changes_of.as_ref().map(|paths| Interest::read(paths, fields)).transpose()?;
        Ok(HandlerOptions {
            resync_period: self.resync_period,
            coalesce: self.coalesce,
            buffer_size: self.buffer_size.unwrap_or(DEFAULT_BUFFER_SIZE),
            // Without one a change passes the handler's queue by.
            filter: (!filter.is_everything()).then_some(filter),
            news: match interest {
                None => News::Every,
                Some(_) if self.judged => News::Judged,
                Some(interest) => News::Of(Rc::new(interest)),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::ErrorCode;

    fn read(request: &HandlerRequest) -> Result<HandlerOptions, Error> {
        request.read(&mut FieldSet::new(Vec::new()))
    }

    #[test]
    fn a_handler_that_asks_for_nothing_has_the_defaults_and_no_filter() {
        let options = read(&HandlerRequest::default()).unwrap();
        assert_eq!((options.buffer_size, options.resync_period, options.coalesce), (DEFAULT_BUFFER_SIZE, None, false));
        assert!(options.filter.is_none() && matches!(options.news, News::Every));
        let empty = Some(String::new());
        let asked = HandlerRequest { namespace: empty.clone(), label_selector: empty.clone(), field_selector: empty, ..Default::default() };
        assert!(read(&asked).unwrap().filter.is_none(), "empty texts select everything");
    }

    #[test]
    fn what_a_handler_asks_for_counts() {
        let asked = HandlerRequest { buffer_size: Some(0), resync_period: Some(5), coalesce: true, ..HandlerRequest::default() };
        let options = read(&asked).unwrap();
        assert_eq!((options.buffer_size, options.resync_period, options.coalesce), (0, Some(5), true));
        for part in 0..3 {
            let text = |at: usize, text: &str| (part == at).then(|| text.to_string());
            let asked = HandlerRequest {
                namespace: text(0, "a"),
                label_selector: text(1, "app=web"),
                field_selector: text(2, "spec.nodeName=n"),
                ..HandlerRequest::default()
            };
            assert!(read(&asked).unwrap().filter.is_some(), "{part}");
        }
        let asked = HandlerRequest { changes_of: Some(vec!["metadata.generation".into()]), ..HandlerRequest::default() };
        assert!(matches!(read(&asked).unwrap().news, News::Of(_)));
        assert!(matches!(read(&HandlerRequest { judged: true, ..asked }).unwrap().news, News::Judged));
        assert!(matches!(read(&HandlerRequest { judged: true, ..HandlerRequest::default() }).unwrap().news, News::Every));
        for paths in [vec![], vec!["spec..x".to_string()]] {
            let mistake = HandlerRequest { changes_of: Some(paths), ..HandlerRequest::default() };
            assert_eq!(read(&mistake).unwrap_err().code, ErrorCode::Invalid);
        }
        let mistake = HandlerRequest { label_selector: Some("!!".into()), ..HandlerRequest::default() };
        assert_eq!(read(&mistake).unwrap_err().code, ErrorCode::Invalid);
    }
}
