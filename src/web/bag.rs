//! An option bag: its members are read one by one, and the first that is wrong is told.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Function};
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

use crate::time::Millis;
use crate::web::error::{invalid_option, to_js};
use crate::web::values::{millis, property};

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
    /// A derived reader would be compiled once for each bag. This is compiled once for each kind of value.
    #[inline(never)]
    pub(super) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let read = serde_wasm_bindgen::from_value(property(&self.value, name)?);
        read.map_err(|error| self.fail(name, &error.to_string())).ok()
    }

    /// Puts a member that was given in the place of its default.
    pub(super) fn put<T: DeserializeOwned>(&self, name: &str, place: &mut T) {
        if let Some(given) = self.get(name) {
            *place = given;
        }
    }

    /// The same for a duration in milliseconds.
    pub(super) fn put_millis(&self, name: &str, place: &mut Millis) {
        if let Some(given) = self.get(name) {
            *place = millis(given);
        }
    }

    /// A member that must be there.
    #[inline(never)]
    pub(super) fn required<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        self.get(name).unwrap_or_else(|| {
            self.fail(name, "is missing");
            T::default()
        })
    }

    /// A function; `None` when it is undefined or null, or is none.
    pub(super) fn function(&self, name: &str) -> Option<Function> {
        let function = property(&self.value, name)?.dyn_into();
        function.map_err(|_| self.fail(name, "is no function")).ok()
    }

    /// A function that must be there.
    pub(super) fn required_function(&self, name: &str) -> Function {
        self.function(name).unwrap_or_else(|| {
            self.fail(name, "is missing");
            // Nobody calls it: the reading has failed. A default function would be `new Function`, which a policy may forbid.
            JsValue::UNDEFINED.unchecked_into()
        })
    }

    /// A bag in it, an empty one when it is undefined or null.
    pub(super) fn bag(&self, name: &str) -> Self {
        self.nested(property(&self.value, name).unwrap_or_default())
    }

    /// The bags in it.
    pub(super) fn list(&self, name: &str) -> Vec<Self> {
        let Some(list) = property(&self.value, name) else { return Vec::new() };
        let Some(list) = list.dyn_ref::<Array>() else {
            self.fail(name, "is no array");
            return Vec::new();
        };
        self.each(list)
    }

    /// The bags of an array.
    pub(super) fn each(&self, list: &Array) -> Vec<Self> {
        list.iter().map(|value| self.nested(value)).collect()
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
    #[inline(never)]
    fn fail(&self, name: &str, fault: &str) {
        self.fault.borrow_mut().get_or_insert_with(|| format!("{name}: {fault}"));
    }
}
