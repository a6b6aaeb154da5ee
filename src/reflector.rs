//! stub
use std::cell::RefCell; use std::rc::Rc; use futures::channel::mpsc;
use crate::{source::Source, runtime::SharedRuntime, json::fields::FieldSet, cache::incoming::Incoming};
#[derive(Clone, Debug)] pub struct ReflectorConfig; pub struct Reflector; pub struct ReflectorHandle;
impl Reflector { pub fn new(_: Rc<dyn Source>, _: SharedRuntime, _: Rc<RefCell<FieldSet>>, _: ReflectorConfig, _: mpsc::Sender<Incoming>) -> (Self, ReflectorHandle) { (Self, ReflectorHandle) } pub async fn run(self) {} }
impl ReflectorHandle { pub fn pause(&self){} pub fn resume(&self){} pub fn refresh(&self){} pub fn close(&self){} }
