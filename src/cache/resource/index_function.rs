//! Who computes the values of objects in the computed indexes: a function of the user.

use std::cell::RefCell;
use std::rc::Rc;

use crate::object::{IndexValues, Object};

type Function = Rc<dyn Fn(&Rc<Object>) -> IndexValues>;

/// The function, once it is there. A resource without computed indexes has none.
#[derive(Default)]
pub(super) struct IndexFunction(RefCell<Option<Function>>);

impl IndexFunction {
    /// Sets the function. Called with nothing borrowed, once for each object that arrives or that a write left, before anybody sees it.
    pub(super) fn set(&self, function: impl Fn(&Rc<Object>) -> IndexValues + 'static) {
        *self.0.borrow_mut() = Some(Rc::new(function));
    }

    /// Whether there is one.
    pub(super) fn is_set(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Has the function give an object's values, unless it has given them.
    pub(super) fn compute(&self, object: &Rc<Object>) {
        let function = self.0.borrow().clone();
        if let Some(function) = function
            && !object.has_index_values()
        {
            object.set_index_values(function(object));
        }
    }
}
