//! stub
use std::rc::Rc; use crate::object::Object; use crate::json::fields::FieldSet;
#[derive(Default)] pub struct Views;
impl Views { pub fn change(&mut self, _: Option<&Rc<Object>>, _: Option<&Rc<Object>>, _: &FieldSet) {} pub fn take_changed(&mut self)->Vec<u32>{vec![]} pub fn has_changes(&self)->bool{false} pub fn len(&self)->usize{0} }
