//! What goes wrong with the upstream: faults of single requests, and misbehaviour at random.

use std::collections::BTreeMap;
use std::rc::Rc;
use watchcache::status::{Error, Status};
use watchcache::time::Millis;

use super::Upstream;

/// How an object's document is spoiled on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoil {
    NoVersion,
    BadVersion,
    /// A name that cannot be a key; its uid stays.
    BadName,
    /// No name at all; its uid stays.
    NoName,
    /// A byte that JSON forbids; the brackets still match.
    Broken,
}

impl Spoil {
    pub const ALL: [Self; 5] = [Self::NoVersion, Self::BadVersion, Self::BadName, Self::NoName, Self::Broken];
}

/// The objects whose documents are spoiled, by key.
#[derive(Default)]
pub struct Spoiled(pub BTreeMap<String, Spoil>);

impl Spoiled {
    /// The document as it goes out.
    pub fn document(&self, key: &str, document: &Rc<str>) -> Rc<str> {
        let Some(spoil) = self.0.get(key) else { return document.clone() };
        let name = key.rsplit('/').next().unwrap();
        let name = format!("\"name\":\"{name}\"");
        let replaced = match spoil {
            Spoil::NoVersion => document.replace("\"resourceVersion\":\"", "\"resourceVersion\":\"\",\"was\":\""),
            Spoil::BadVersion => document.replace("\"resourceVersion\":\"", "\"resourceVersion\":\"v"),
            Spoil::BadName => document.replace(&name, &name.replace("\":\"", "\":\"a/")),
            Spoil::NoName => document.replace(&name, "\"title\":\"none\""),
            Spoil::Broken => document.replace("\"spec\":", "\"x\":\"\u{1}\",\"spec\":"),
        };
        assert_ne!(*replaced, **document, "{spoil:?} spoils {document}");
        replaced.into()
    }
}

/// What the next list request meets.
#[derive(Clone, Debug)]
pub enum ListFault {
    /// Nothing: the request is answered as it should be.
    None,
    Refuse(Error),
    /// No answer, ever.
    Hang,
    /// This body instead of the page.
    Body(Vec<u8>),
    /// The body breaks off after so many bytes.
    Cut(usize),
    /// The body stands still after so many bytes.
    Stall(usize),
    /// The body comes byte by byte, each so many milliseconds after the one before.
    Trickle(Millis),
}

/// What the next watch request meets.
#[derive(Clone, Debug)]
pub enum WatchFault {
    /// Nothing: the request is answered as it should be.
    None,
    Refuse(Error),
    Hang,
    /// Opens, and is closed at once.
    Close,
    /// Opens, sends so many frames, and is closed.
    Cut(usize),
    /// Sends these frames and stays open.
    Say(Vec<String>),
    /// Sends these frames and is closed.
    SayAndClose(Vec<String>),
    /// Sends these frames, one after each pause of so long, and stays open.
    Drip(Vec<String>, Millis),
}

impl Upstream {
    /// One random fault, or one random piece of everyday life.
    pub fn misbehave(&self) {
        let choice = self.random.borrow_mut().u32(..20);
        let at = self.random.borrow_mut().usize(..900);
        let seconds = self.random.borrow_mut().u32(1..5);
        match choice {
            0..=2 => self.drop_streams(),
            3 => self.freeze_streams(),
            4 => self.expire(),
            5 => self.behind.set(u64::from(seconds) * 2),
            6 | 7 => self.catch_up(),
            8 => self.repeat(seconds as usize),
            9 => self.bookmark(),
            10 => self.pass(u64::from(seconds)),
            11 => self.send_raw("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"broken"),
            12 => self.send_raw("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"stray\",\"resourceVersion\":\"1\"}}}"),
            13 => self.send_error(&Status::internal("etcdserver: leader changed")),
            14 => self.send_error(&Status::too_old(1, 2)),
            // Credentials that are refused twice have run out. Those that are refused once were only old.
            15 if at.is_multiple_of(3) => {
                let refusal = || WatchFault::Refuse(Status::new(401, "Unauthorized", "Unauthorized").into());
                self.watch_faults.borrow_mut().extend((0..1 + at % 2).map(|_| refusal()));
            }
            15 => self.watch_faults.borrow_mut().push_back(WatchFault::Refuse(Status::too_many_requests("slow down", seconds).into())),
            16 => self.watch_faults.borrow_mut().push_back(WatchFault::Refuse(Error::network("connection refused"))),
            17 => self.watch_faults.borrow_mut().push_back(match at % 3 {
                0 => WatchFault::Close,
                1 => WatchFault::Hang,
                _ => WatchFault::Cut(seconds as usize),
            }),
            18 => self.list_faults.borrow_mut().push_back(if at.is_multiple_of(2) { ListFault::Cut(at) } else { ListFault::Stall(at) }),
            _ => {
                let mut faults = self.list_faults.borrow_mut();
                match seconds {
                    1 => faults.push_back(ListFault::Refuse(Status::new(503, "ServiceUnavailable", "").into())),
                    2 => faults.push_back(ListFault::Body(b"<html>Bad Gateway</html>".to_vec())),
                    3 => faults.push_back(ListFault::Hang),
                    _ => {
                        let refusal = || ListFault::Refuse(Status::new(401, "Unauthorized", "Unauthorized").into());
                        faults.extend((0..1 + at % 3).map(|_| refusal()));
                    }
                }
            }
        }
    }

    /// Ends all faults. Open streams that are frozen stay frozen, and everything new is sound and quick.
    pub fn behave(&self) {
        self.list_faults.borrow_mut().clear();
        self.watch_faults.borrow_mut().clear();
        self.latency.set(0);
        self.catch_up();
    }
}
