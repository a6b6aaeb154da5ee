//! Several namespaces as one source: a branch for each, which is listed and watched by itself.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt, future, stream};

use super::composed;
use super::listed::Listed;
use super::request::{ListRequest, Narrow, WatchRequest};
use super::source::{Branches, Collection, FrameStream, OpenBranch, PageStream, Source};
use super::write::{ObjectName, WriteRequest};
use crate::runtime::SharedRuntime;
use crate::status::{Error, ErrorCode, Status};
use crate::version::Version;

/// So many are listed at once: a browser opens six connections to a server of HTTP/1.1, and others want some, too.
const MAX_LISTS_AT_ONCE: usize = 4;

/// Several namespaces as one source.
///
/// Nobody lists and watches it whole: there is no version of several. Whoever keeps its objects follows each of its [`Branches`], and numbers what they
/// tell by himself. Reads past the cache, and writes, go to the branches that they are about.
pub struct Joined {
    branches: Rc<Branches>,
    common: Rc<dyn Source>,
    runtime: SharedRuntime,
}

impl Joined {
    /// Of these namespaces. Fails where one cannot be a namespace.
    pub fn new(namespaces: &[String], runtime: SharedRuntime, open: OpenBranch) -> Result<Self, Error> {
        let common = open("");
        let branches = Rc::new(Branches::new(open));
        branches.set(namespaces)?;
        Ok(Self { branches, common, runtime })
    }

    fn named(&self, namespace: &str) -> Result<Rc<dyn Source>, Error> {
        self.branches.source(namespace).ok_or_else(|| {
            let all = self.branches.namespaces();
            let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
            Error::new(ErrorCode::Invalid, format!("namespace {namespace:?} is none of this resource, which has: {all}"))
        })
    }
}

/// Everything of these sources, as one list. Its version says nothing.
async fn list_all(sources: Vec<(Rc<str>, Rc<dyn Source>)>, narrow: Option<Narrow>, runtime: SharedRuntime) -> Result<Vec<u8>, Error> {
    let (mut items, mut kind) = (Vec::new(), None);
    let (narrow, runtime) = (&narrow, &runtime);
    let lists = stream::iter(sources).map(|(namespace, source)| async move {
        let listed = Listed::of(&*source, narrow.clone(), &**runtime).await;
        listed.map_err(|error| of_namespace(&namespace, error))
    });
    let mut lists = lists.buffered(MAX_LISTS_AT_ONCE);
    while let Some(listed) = lists.next().await {
        let listed = listed?;
        items.extend(listed.items);
        kind = listed.kind.or(kind);
    }
    Ok(composed::list(kind.as_deref(), "1", items.into_iter().map(|item| item.bytes)))
}

/// Says whose error it is.
fn of_namespace(namespace: &str, error: Error) -> Error {
    Error { message: format!("namespace {namespace}: {}", error.message), ..error }
}

impl Source for Joined {
    fn branches(&self) -> Option<Rc<Branches>> {
        Some(self.branches.clone())
    }

    fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        let past = request.resource_version_match.as_deref() == Some("Exact") || request.continue_token.is_some();
        if past {
            let asked = request.resource_version.as_deref().and_then(|text| Version::parse(text).ok()).unwrap_or_default();
            return future::ready(Err(Status::too_old(asked, "the event window").into())).boxed_local();
        }
        if request.limit.is_some() {
            let message = "a limit needs one version for all pages, and several namespaces have none: leave it out, or list one namespace";
            return future::ready(Err(Error::new(ErrorCode::Invalid, message))).boxed_local();
        }
        let only = request.narrow.as_ref().and_then(|narrow| narrow.namespace.clone()).filter(|namespace| !namespace.is_empty());
        let sources =
            self.branches.all().into_iter().filter(|(namespace, _)| only.as_deref().is_none_or(|only| **namespace == *only)).collect();
        let runtime = self.runtime.clone();
        async move { Ok(stream::once(future::ready(list_all(sources, request.narrow, runtime).await)).boxed_local()) }.boxed_local()
    }

    fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        let message = "several namespaces have no version to watch from: each branch is watched by itself";
        future::ready(Err(Error::new(ErrorCode::Internal, message))).boxed_local()
    }

    fn gets(&self) -> bool {
        self.common.gets()
    }

    fn selects(&self) -> bool {
        self.common.selects()
    }

    fn get(&self, object: ObjectName, subresource: Option<String>) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        match self.named(&object.namespace) {
            Ok(source) => source.get(object, subresource),
            Err(error) => future::ready(Err(error)).boxed_local(),
        }
    }

    fn write(&self, request: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let namespace = match &request {
            WriteRequest::Create { namespace, .. } => namespace.as_str(),
            WriteRequest::Update { object, .. } | WriteRequest::Patch { object, .. } | WriteRequest::Delete { object, .. } => {
                &object.namespace
            }
            WriteRequest::DeleteCollection { narrow, .. } => narrow.namespace.as_deref().unwrap_or_default(),
        };
        if namespace.is_empty() {
            let message = "this resource has several namespaces: say which one";
            return future::ready(Err(Error::new(ErrorCode::Invalid, message))).boxed_local();
        }
        match self.named(namespace) {
            Ok(source) => source.write(request),
            Err(error) => future::ready(Err(error)).boxed_local(),
        }
    }

    fn server(&self) -> Option<String> {
        self.common.server()
    }

    fn collection(&self) -> Option<Collection> {
        self.common.collection().map(|common| Collection { namespace: None, ..common })
    }

    fn names_kinds(&self) -> bool {
        self.common.names_kinds()
    }

    fn part(&self) -> Option<&'static str> {
        self.common.part()
    }

    fn columns(&self) -> Option<Rc<str>> {
        self.branches.all().iter().find_map(|(_, source)| source.columns())
    }

    fn is_rendered(&self) -> bool {
        self.common.is_rendered()
    }

    fn polls(&self) -> bool {
        self.common.polls()
    }

    fn transport(&self) -> Option<&'static str> {
        self.branches.all().iter().find_map(|(_, source)| source.transport())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::runtime::Timer;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::source::listed::PAGE;

    /// Has one object, named after its namespace, and says who was asked.
    struct One(String, Rc<RefCell<Vec<String>>>, Rc<VirtualTime>);

    impl Source for One {
        fn list(&self, request: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
            let Self(namespace, asked, time) = self;
            if namespace == "forbidden" {
                return future::ready(Err(Error::new(ErrorCode::Forbidden, "no"))).boxed_local();
            }
            assert_eq!(request.limit, Some(PAGE));
            let item = format!(r#"{{"metadata":{{"name":"{namespace}","namespace":"{namespace}","resourceVersion":"3"}}}}"#);
            let page = format!(r#"{{"kind":"XList","metadata":{{"resourceVersion":"9"}},"items":[{item}]}}"#);
            asked.borrow_mut().push(format!("{namespace} at {}", time.elapsed()));
            let answered = time.sleep(1_000).map(|()| Ok(stream::once(future::ready(Ok(page.into_bytes()))).boxed_local()));
            answered.boxed_local()
        }

        fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
            unreachable!()
        }

        fn write(&self, _: WriteRequest) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
            self.1.borrow_mut().push(self.0.clone());
            future::ready(Ok(Vec::new())).boxed_local()
        }
    }

    fn joined(namespaces: &[&str]) -> (Rc<VirtualTime>, Joined, Rc<RefCell<Vec<String>>>) {
        let (time, asked) = (VirtualTime::new(1), Rc::new(RefCell::new(Vec::new())));
        let (told, clock) = (asked.clone(), time.clone());
        let open = Box::new(move |namespace: &str| Rc::new(One(namespace.into(), told.clone(), clock.clone())) as Rc<dyn Source>);
        let namespaces: Vec<String> = namespaces.iter().map(ToString::to_string).collect();
        let joined = Joined::new(&namespaces, time.clone(), open).unwrap();
        (time, joined, asked)
    }

    fn list(time: &VirtualTime, joined: &Joined, request: ListRequest) -> Result<String, Error> {
        time.run_until(async {
            let chunks: Vec<_> = joined.list(request).await?.collect().await;
            let bytes = chunks.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
            Ok(String::from_utf8(bytes).unwrap())
        })
    }

    #[test]
    fn a_list_has_what_all_of_them_have_or_says_whose_is_missing() {
        let (time, both, _) = joined(&["b", "a", "b"]);
        let text = list(&time, &both, ListRequest::default()).unwrap();
        assert!(text.starts_with(r#"{"kind":"XList","#) && text.matches(r#""name":"#).count() == 2, "{text}");
        let narrow = |namespace: &str| Some(Narrow { namespace: Some(namespace.into()), ..Narrow::default() });
        let of = |namespace: &str| list(&time, &both, ListRequest { narrow: narrow(namespace), ..ListRequest::default() }).unwrap();
        assert!(of("a").contains(r#""name":"a""#) && !of("a").contains(r#""name":"b""#));
        assert!(of("elsewhere").ends_with(r#""items":[]}"#));
        let (time, some, _) = joined(&["a", "forbidden"]);
        let error = list(&time, &some, ListRequest::default()).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::Forbidden, "namespace forbidden: no"));
    }

    #[test]
    fn some_are_listed_at_once_and_not_all() {
        let (time, joined, asked) = joined(&["a", "b", "c", "d", "e", "f"]);
        list(&time, &joined, ListRequest::default()).unwrap();
        assert_eq!(asked.borrow().join(", "), "a at 0, b at 0, c at 0, d at 0, e at 1000, f at 1000");
    }

    #[test]
    fn what_needs_one_version_is_refused() {
        let (time, joined, _) = joined(&["a", "b"]);
        let code = |request: ListRequest| list(&time, &joined, request).unwrap_err().code;
        assert_eq!(code(ListRequest { limit: Some(2), ..ListRequest::default() }), ErrorCode::Invalid);
        assert_eq!(code(ListRequest { continue_token: Some("x".into()), ..ListRequest::default() }), ErrorCode::Expired);
        let exact =
            ListRequest { resource_version: Some("7".into()), resource_version_match: Some("Exact".into()), ..ListRequest::default() };
        assert_eq!(code(exact), ErrorCode::Expired);
    }

    #[test]
    fn a_write_goes_to_the_namespace_that_it_is_about() {
        let (time, joined, asked) = joined(&["a", "b"]);
        let delete = |namespace: &str| {
            let object = ObjectName { namespace: namespace.into(), name: "x".into() };
            let request = WriteRequest::Delete { object, options: crate::source::DeleteOptions::default() };
            time.run_until(joined.write(request)).map_err(|error| error.code)
        };
        assert!(delete("b").is_ok());
        assert_eq!((delete("c"), delete("")), (Err(ErrorCode::Invalid), Err(ErrorCode::Invalid)));
        assert_eq!(*asked.borrow(), ["b"]);
    }

    #[test]
    fn namespaces_come_and_go_and_those_that_stay_keep_their_source() {
        let (_, joined, _) = joined(&["a", "b"]);
        let b = joined.branches.source("b").unwrap();
        joined.branches.set(&["b".into(), "c".into()]).unwrap();
        assert_eq!(joined.branches.namespaces().join(" "), "b c");
        assert!(Rc::ptr_eq(&b, &joined.branches.source("b").unwrap()));
        for wrong in ["", "a/b", ".."] {
            assert_eq!(joined.branches.set(&["a".into(), wrong.into()]).unwrap_err().code, ErrorCode::Invalid, "{wrong:?}");
        }
        assert_eq!(joined.branches.namespaces().join(" "), "b c", "what was refused has changed nothing");
    }
}
