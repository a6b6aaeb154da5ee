//! An option bag: its members are read one by one, and the first that is wrong is told.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::web::error::{invalid_option, to_js};
use crate::web::values::property;

/// What a member may be.
///
/// The facade checks what users give, and tells them what is wrong with it (`src/js/options.ts`). What is refused here it should not have let
/// pass: so a name of the kind is enough, and a general reader with errors of its own would be 8 kB for nobody.
pub(super) trait Kind: Sized {
    /// As in "is no …".
    const NAME: &'static str;

    fn read(value: &JsValue) -> Option<Self>;
}

impl Kind for String {
    const NAME: &'static str = "text";

    fn read(value: &JsValue) -> Option<Self> {
        value.as_string()
    }
}

impl Kind for bool {
    const NAME: &'static str = "boolean";

    fn read(value: &JsValue) -> Option<Self> {
        value.as_bool()
    }
}

impl Kind for f64 {
    const NAME: &'static str = "number";

    fn read(value: &JsValue) -> Option<Self> {
        value.as_f64()
    }
}

impl Kind for u32 {
    const NAME: &'static str = "whole number below 2 to the 32";

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn read(value: &JsValue) -> Option<Self> {
        // Another number than the one that was given means that it does not fit.
        value.as_f64().filter(|number| f64::from(*number as Self) == *number).map(|number| number as Self)
    }
}

impl Kind for Vec<String> {
    const NAME: &'static str = "array of texts";

    fn read(value: &JsValue) -> Option<Self> {
        Array::is_array(value).then(|| Array::from(value).iter().map(|text| text.as_string()).collect()).flatten()
    }
}

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
    pub(super) fn get<T: Kind>(&self, name: &str) -> Option<T> {
        let read = T::read(&property(&self.value, name)?);
        if read.is_none() {
            self.fail(name, &format!("is no {}", T::NAME));
        }
        read
    }

    /// A member that must be there.
    #[inline(never)]
    pub(super) fn required<T: Kind + Default>(&self, name: &str) -> T {
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
    fn fail(&self, name: &str, fault: &str) {
        self.fault.borrow_mut().get_or_insert_with(|| format!("{name}: {fault}"));
    }
}
