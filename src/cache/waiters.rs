//! Who waits for something, until it comes or they go away.

use futures::channel::oneshot;

use crate::status::Error;

/// Adds one who waits to the others, and drops of them who `is_gone`.
///
/// Those who came last are looked at each time, for they mostly go first; all of them only where the list would have to grow. So what is
/// kept stays within a multiple of who really waits, and a wait costs the same however many there are.
pub(super) fn add<T>(waiters: &mut Vec<T>, waiter: T, is_gone: impl Fn(&T) -> bool) {
    while waiters.last().is_some_and(&is_gone) {
        waiters.pop();
    }
    if waiters.len() == waiters.capacity() {
        waiters.retain(|waiter| !is_gone(waiter));
        // Room for as many again, that the next look at all of them is paid for.
        waiters.reserve(waiters.len().max(4));
    }
    waiters.push(waiter);
}

/// What a wait for a list ends with.
pub(super) type Listed = oneshot::Receiver<Result<(), Error>>;

/// Who waits for the first list, for the next one, and for how the connection stands.
#[derive(Default)]
pub(super) struct ListWaiters {
    first: Vec<oneshot::Sender<Result<(), Error>>>,
    next: Vec<oneshot::Sender<Result<(), Error>>>,
    held: Vec<oneshot::Sender<Result<(), Error>>>,
    confirmed: Vec<oneshot::Sender<Result<(), Error>>>,
    // Told by being dropped.
    opening: Vec<oneshot::Sender<()>>,
}

impl ListWaiters {
    /// Completes with the first list, or with why it does not come.
    pub(super) fn first(&mut self) -> Listed {
        Self::wait(&mut self.first)
    }

    /// Completes with the next list, or with why there will be none.
    pub(super) fn next(&mut self) -> Listed {
        Self::wait(&mut self.next)
    }

    /// Completes when any whole state is held, or with why there will be none.
    pub(super) fn held(&mut self) -> Listed {
        Self::wait(&mut self.held)
    }

    /// Completes when what is held is known to be a state of the server, or with why that will not be.
    pub(super) fn confirmed(&mut self) -> Listed {
        Self::wait(&mut self.confirmed)
    }

    fn wait(waiters: &mut Vec<oneshot::Sender<Result<(), Error>>>) -> Listed {
        let (sender, receiver) = oneshot::channel();
        add(waiters, sender, oneshot::Sender::is_canceled);
        receiver
    }

    /// Ends when it is known how the connection stands.
    pub(super) fn opening(&mut self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        add(&mut self.opening, sender, oneshot::Sender::is_canceled);
        receiver
    }

    /// A list is applied, or none will be.
    pub(super) fn end_list_waits(&mut self, result: &Result<(), Error>) {
        let all = self.first.drain(..).chain(self.next.drain(..)).chain(self.held.drain(..)).chain(self.confirmed.drain(..));
        for waiter in all {
            let _gone = waiter.send(result.clone());
        }
    }

    /// A state was restored.
    pub(super) fn restored(&mut self) {
        for waiter in self.held.drain(..) {
            let _gone = waiter.send(Ok(()));
        }
    }

    /// What is held is a state of the server, without a list.
    pub(super) fn synced(&mut self) {
        for waiter in self.first.drain(..).chain(self.confirmed.drain(..)) {
            let _gone = waiter.send(Ok(()));
        }
    }

    /// The server refuses the list for now. Who asked for a further one waits on.
    pub(super) fn refused(&mut self, error: &Error) {
        for waiter in self.first.drain(..) {
            let _gone = waiter.send(Err(error.clone()));
        }
    }

    /// It is known how the connection stands.
    pub(super) fn opened(&mut self) {
        self.opening.clear();
    }
}

/// A wait that is over already.
pub(super) fn over(result: Result<(), Error>) -> Listed {
    let (sender, receiver) = oneshot::channel();
    let _received = sender.send(result);
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn rdy_06_few_are_kept_of_many_who_went_away_and_none_is_lost_who_waits() {
        let mut waiters: Vec<(u32, bool)> = Vec::new();
        for number in 0..10_000 {
            // One in a hundred stays.
            add(&mut waiters, (number, number % 100 != 0), |waiter| waiter.1);
        }
        let waiting: Vec<u32> = waiters.iter().filter(|waiter| !waiter.1).map(|waiter| waiter.0).collect();
        assert_eq!(waiting, (0..100).map(|i| i * 100).collect::<Vec<_>>());
        assert!(waiters.len() <= 101, "{} are kept", waiters.len());
    }

    /// The worst order: those who go are always in front of those who stay.
    #[test]
    fn the_looks_at_others_are_few_however_many_wait() {
        let looks = Cell::new(0);
        let mut waiters: Vec<(usize, Cell<bool>)> = Vec::new();
        for number in 0..10_000 {
            if number >= 1_000 {
                let oldest = waiters.iter().find(|waiter| !waiter.1.get()).expect("somebody waits");
                oldest.1.set(true);
            }
            add(&mut waiters, (number, Cell::new(false)), |waiter| {
                looks.set(looks.get() + 1);
                waiter.1.get()
            });
        }
        assert!(waiters.len() <= 4_000, "{} are kept", waiters.len());
        assert!(looks.get() <= 60_000, "{} looks", looks.get());
    }
}
