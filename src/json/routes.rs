//! The routes from a document's outermost object to values in it, gathered by a walk that stands in one object or array after the other.

/// How an object or array leads to a value in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// By a member: the position of its name.
    Member(usize),
    /// By an element: its index.
    Element(usize),
}

/// Routes, one behind the other, and the names of the objects that are open.
#[derive(Debug, Default)]
pub(super) struct Routes {
    steps: Vec<Step>,
    /// Where each route ends.
    ends: Vec<usize>,
    /// Where the names start and end that were passed in open objects.
    names: Vec<(usize, usize)>,
}

impl Routes {
    /// The walk passes a name of the innermost object.
    pub(super) fn name(&mut self, start: usize, end: usize) {
        self.names.push((start, end));
    }

    /// How many names open objects have so far.
    pub(super) fn names(&self) -> usize {
        self.names.len()
    }

    /// The walk leaves an object or array at this depth, whose names are those from `names` on. `routes` is how many there were before it.
    /// Whether each of the later ones leads by a name that no other member has. A name with an escape may equal any other.
    pub(super) fn leave(&mut self, document: &[u8], depth: usize, names: usize, routes: usize) -> bool {
        let text = |&(start, end): &(usize, usize)| &document[start..end];
        let passed = &self.names[names..];
        let is_alone = |start: usize| {
            let Some(wanted) = passed.iter().find(|name| name.0 == start).map(text) else { return false };
            passed.iter().all(|other| other.0 == start || text(other) != wanted)
        };
        let mut before = None;
        let are_alone = (routes..self.ends.len()).all(|route| match self.steps(route).get(depth) {
            Some(Step::Member(start)) if before != Some(*start) => {
                let may_lead = before.is_some() || passed.iter().all(|name| !text(name).contains(&b'\\'));
                before = Some(*start);
                may_lead && is_alone(*start)
            }
            _ => true,
        });
        self.names.truncate(names);
        are_alone
    }

    /// Adds a route.
    pub(super) fn push(&mut self, steps: impl Iterator<Item = Step>) {
        self.steps.extend(steps);
        self.ends.push(self.steps.len());
    }

    /// Forgets all but so many routes and names.
    pub(super) fn truncate(&mut self, routes: usize, names: usize) {
        self.ends.truncate(routes);
        self.steps.truncate(self.ends.last().copied().unwrap_or(0));
        self.names.truncate(names);
    }

    /// The steps of one route.
    pub(super) fn steps(&self, route: usize) -> &[Step] {
        let start = route.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.steps[start..self.ends[route]]
    }
}
