//! In whose name a server is asked: where it refuses one, in that of the next who may ask.

use crate::status::{Error, ErrorCode};

/// Asks with these credentials, and where the server refuses them with those of others, one after another. All of that is one try. `others` hears
/// what was refused, and gives `None` where nobody else may ask: then the last refusal stands.
pub async fn asked_in_turn<C, T>(
    mut credentials: C,
    ask: impl AsyncFn(&C) -> Result<T, Error>,
    others: impl AsyncFn(C) -> Result<Option<C>, Error>,
) -> Result<T, Error> {
    loop {
        let refusal = match ask(&credentials).await {
            Err(error) if error.code == ErrorCode::Unauthorized => error,
            answered => return answered,
        };
        credentials = others(credentials).await?.ok_or(refusal)?;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use crate::status::Status;

    /// What comes of a server that answers each of these names so, and who was asked for.
    fn asked(names: &[&'static str], answer: impl Fn(&str) -> Result<(), Error>) -> (Result<(), Error>, String) {
        let (asked, rest) = (RefCell::new(Vec::new()), RefCell::new(names[1..].iter().copied()));
        let ask = async |name: &&'static str| {
            asked.borrow_mut().push(*name);
            answer(name)
        };
        let others = async |refused: &'static str| {
            assert_eq!(asked.borrow().last(), Some(&refused));
            Ok(rest.borrow_mut().next())
        };
        let told = VirtualTime::new(1).run_until(asked_in_turn(names[0], ask, others));
        (told, asked.take().join(" "))
    }

    #[test]
    fn whoever_is_refused_is_followed_by_the_next_and_the_last_refusal_stands() {
        let refuse = |name: &str| Err::<(), Error>(Status::new(401, "Unauthorized", name).into());
        let knows = |known: &'static str| move |name: &str| if name == known { Ok(()) } else { refuse(name) };
        assert_eq!(asked(&["a", "b", "c"], knows("a")), (Ok(()), "a".into()));
        assert_eq!(asked(&["a", "b", "c"], knows("c")), (Ok(()), "a b c".into()));
        assert_eq!(asked(&["a", "b"], knows("c")), (refuse("b"), "a b".into()));
        // Any other answer is one, and says nothing against who asked.
        let lost = |_: &str| Err(Error::network("lost"));
        assert_eq!(asked(&["a", "b"], lost), (lost(""), "a".into()));
    }
}
