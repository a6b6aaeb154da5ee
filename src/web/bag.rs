//! An option bag: its members are read one by one, and the first that is wrong is told.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Reflect, Symbol};
use wasm_bindgen::JsValue;

use crate::web::error::{invalid_option, to_js};
use crate::web::values::property;

/// What was given. A nested bag shares its fault with the one that it stands in.
pub(super) struct Bag {
    what: &'static str,
    value: JsValue,
    fault: Rc<RefCell<Option<String>>>,
}

impl Bag {
    pub(super) fn new(what: &'static str, value: JsValue) -> Self {
        Self { what, value, fault: Rc::default() }
    }

    /// A member; `None` when it is undefined or null, or is not what it should be.
    ///
    /// A derived reader of each kind of bag would be compiled anew for each: this is compiled once for a kind of value.
    #[inline(never)]
    pub(super) fn get<T: Member>(&self, name: &str) -> Option<T> {
        let value = property(&self.value, name)?;
        let read = T::read(&value);
        if read.is_none() {
            self.wrong(name, &value, T::KIND);
        }
        read
    }

    /// A member that must be there.
    #[inline(never)]
    pub(super) fn required<T: Member + Default>(&self, name: &str) -> T {
        self.get(name).unwrap_or_else(|| {
            self.fail(name, "is missing");
            T::default()
        })
    }

    /// A bag in it, an empty one when it is undefined or null.
    pub(super) fn bag(&self, name: &str) -> Self {
        self.nested(property(&self.value, name).unwrap_or_default())
    }

    /// The bags in it.
    pub(super) fn list(&self, name: &str) -> Vec<Self> {
        let Some(list) = property(&self.value, name) else { return Vec::new() };
        if !Array::is_array(&list) {
            self.fail(name, "is no array");
        }
        Array::from(&list).iter().map(|value| self.nested(value)).collect()
    }

    /// Whether there is anything.
    pub(super) fn given(&self) -> bool {
        self.value.is_object()
    }

    /// Fails with `invalid` when a member was not what it should be.
    pub(super) fn check(&self) -> Result<(), JsValue> {
        match self.fault.take() {
            None => Ok(()),
            Some(fault) => Err(to_js(&invalid_option(self.what, &fault))),
        }
    }

    fn nested(&self, value: JsValue) -> Self {
        Self { what: self.what, value, fault: self.fault.clone() }
    }

    #[cold]
    fn wrong(&self, name: &str, value: &JsValue, expected: &str) {
        let kind = value.js_typeof().as_string().unwrap_or_default();
        self.fail(name, &format!("a value of type {kind} is not {expected}"));
    }

    #[cold]
    fn fail(&self, name: &str, fault: &str) {
        self.fault.borrow_mut().get_or_insert_with(|| format!("{name}: {fault}"));
    }
}

/// A kind of value that a bag may hold.
pub(super) trait Member: Sized {
    /// Its name in an error.
    const KIND: &str;

    /// `None` for a value of another kind.
    fn read(value: &JsValue) -> Option<Self>;
}

impl Member for String {
    const KIND: &str = "a text";

    fn read(value: &JsValue) -> Option<Self> {
        value.as_string()
    }
}

impl Member for Vec<String> {
    const KIND: &str = "a list of texts";

    fn read(value: &JsValue) -> Option<Self> {
        let iterable = value.is_object() && Reflect::has(value, &Symbol::iterator()).unwrap_or(false);
        iterable.then(|| Array::from(value).iter().map(|item| item.as_string()).collect()).flatten()
    }
}

impl Member for bool {
    const KIND: &str = "true or false";

    fn read(value: &JsValue) -> Option<Self> {
        value.as_bool()
    }
}

impl Member for f64 {
    const KIND: &str = "a number";

    fn read(value: &JsValue) -> Option<Self> {
        value.as_f64()
    }
}

/// A number without a fraction between two, which a double holds exactly.
fn whole(value: &JsValue, least: f64, most: f64) -> Option<f64> {
    value.as_f64().filter(|number| number.trunc() == *number && (least..=most).contains(number))
}

impl Member for u32 {
    const KIND: &str = "a whole number of 32 bits";

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn read(value: &JsValue) -> Option<Self> {
        whole(value, 0.0, Self::MAX.into()).map(|number| number as Self)
    }
}

impl Member for i64 {
    const KIND: &str = "a whole number";

    #[allow(clippy::cast_possible_truncation)]
    fn read(value: &JsValue) -> Option<Self> {
        const MOST: f64 = 9_007_199_254_740_991.0;
        whole(value, -MOST, MOST).map(|number| number as Self)
    }
}
