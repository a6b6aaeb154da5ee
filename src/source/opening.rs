//! When the watch of a user's source counts as open.

use futures::future::{self, Either, LocalBoxFuture, select};
use futures::{StreamExt, stream};

use super::source::FrameStream;
use crate::status::Error;

/// Tells an open watch from a refused one, where a refusal comes in place of the first frame. A watch that brings nothing before `soon` resolves
/// counts as open.
pub async fn opened(mut frames: FrameStream, soon: LocalBoxFuture<'static, ()>) -> Result<FrameStream, Error> {
    let first = match select(frames.next(), soon).await {
        Either::Left((first, _)) => first,
        Either::Right(_) => return Ok(frames),
    };
    match first.transpose()? {
        Some(frame) => Ok(stream::once(future::ready(Ok(frame))).chain(frames).boxed_local()),
        None => Ok(stream::empty().boxed_local()),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use futures::FutureExt;

    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::status::ErrorCode;

    type Frame = Result<Vec<u8>, Error>;

    fn block_on<F: Future>(future: F) -> F::Output {
        VirtualTime::new(1).run_until(future)
    }

    /// What comes, as text.
    fn told(frames: FrameStream) -> Vec<String> {
        let text = |frame: Frame| frame.map_or_else(|error| error.message, |frame| String::from_utf8(frame).unwrap());
        block_on(frames.map(text).collect())
    }

    #[test]
    fn a_watch_is_open_when_a_frame_has_come_or_none_came_soon() {
        let soon = || future::ready(()).boxed_local();
        let never = || future::pending().boxed_local();
        let open = |first: Vec<Frame>, until| block_on(opened(stream::iter(first).boxed_local(), until)).map(told);
        let refusal = Error::new(ErrorCode::Forbidden, "no");
        assert_eq!(open(vec![Err(refusal.clone()), Ok(b"a".to_vec())], never()), Err(refusal), "the first thing is a refusal");
        assert_eq!(open(vec![Ok(b"a".to_vec()), Ok(b"b".to_vec())], never()), Ok(vec!["a".into(), "b".into()]));
        assert_eq!(open(vec![], never()), Ok(vec![]));
        // What was asked for meanwhile is not lost.
        let asked = Rc::new(Cell::new(0));
        let counted = asked.clone();
        let silent = future::poll_fn(move |context| {
            counted.set(counted.get() + 1);
            context.waker().wake_by_ref();
            if counted.get() < 3 { std::task::Poll::Pending } else { std::task::Poll::Ready(Ok(b"late".to_vec())) }
        });
        let frames = block_on(opened(silent.into_stream().boxed_local(), soon())).unwrap();
        assert_eq!(asked.get(), 1, "it was asked before it was taken for open");
        assert_eq!(told(frames), ["late"]);
    }
}
