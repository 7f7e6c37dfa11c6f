//! Counters as an adapter reads them, and what of them changed.

use std::collections::HashMap;

use queryscope_protocol::{Counters, Custom};
use serde_json::Number;

/// Takes the counters of one query's nodes.
///
/// It remembers what was read before, so that a sample in the order of the one before it allocates nothing.
#[derive(Debug, Default)]
pub struct Readings {
    nodes: Vec<NodeReadings>,
    places: HashMap<u64, usize>,
    /// Where the next node is expected.
    next: usize,
}

/// Takes the counters of one node.
#[derive(Debug)]
pub struct NodeReadings {
    id: u64,
    counters: Vec<Counter>,
    /// Where the next counter is expected.
    next: usize,
    custom: Vec<CustomCounter>,
    /// Where the next of these is expected.
    next_custom: usize,
    done: Option<bool>,
    done_sent: Option<bool>,
}

#[derive(Debug)]
struct Counter {
    name: Box<str>,
    value: u64,
    sent: u64,
}

#[derive(Debug)]
struct CustomCounter {
    key: Box<str>,
    unit: Box<str>,
    value: Option<Number>,
    sent: Option<Number>,
}

impl Readings {
    /// The counters of a physical node.
    pub fn node(&mut self, id: u64) -> &mut NodeReadings {
        if self.nodes.get(self.next).is_none_or(|node| node.id != id) {
            self.next = *self.places.entry(id).or_insert_with(|| {
                self.nodes.push(NodeReadings::new(id));
                self.nodes.len() - 1
            });
        }
        let node = &mut self.nodes[self.next];
        self.next += 1;
        node
    }

    /// Forgets the values, and keeps what was sent of them.
    pub(crate) fn reset(&mut self) {
        self.next = 0;
        for node in &mut self.nodes {
            node.reset();
        }
    }

    /// Whether anything differs from what was sent.
    pub(crate) fn has_changed(&self) -> bool {
        self.nodes.iter().any(NodeReadings::is_changed)
    }

    /// The nodes that differ from what was sent, with all their counters that are not zero.
    pub(crate) fn changed(&self) -> Vec<(u64, Counters<'_>)> {
        let changed = self.nodes.iter().filter(|node| node.is_changed());
        changed.map(|node| (node.id, node.counters(Zeros::LeftOut))).collect()
    }

    /// Notes that what changed has been sent.
    pub(crate) fn note_sent(&mut self) {
        for node in &mut self.nodes {
            node.note_sent();
        }
    }

    /// Every counter of a node.
    pub(crate) fn of_node(&self, id: u64) -> Option<Counters<'_>> {
        self.places.get(&id).map(|place| self.nodes[*place].counters(Zeros::Kept))
    }
}

impl NodeReadings {
    /// Adds to a counter: readings of one name, such as those of several partitions, are summed within a sample.
    ///
    /// The names `done` and `custom` belong to the format; counters so called are passed over.
    pub fn add(&mut self, name: &str, value: u64) -> &mut Self {
        if !matches!(name, "done" | "custom") {
            let counter = self.counter(name);
            counter.value = counter.value.saturating_add(value);
        }
        self
    }

    /// Sets a counter to the larger of what it was in this sample and the value: for peaks.
    pub fn max(&mut self, name: &str, value: u64) -> &mut Self {
        if !matches!(name, "done" | "custom") {
            let counter = self.counter(name);
            counter.value = counter.value.max(value);
        }
        self
    }

    /// Sets a counter with a unit of its own; `None` where the node does not know its value yet.
    pub fn custom(&mut self, key: &str, unit: &str, value: Option<Number>) -> &mut Self {
        let make = || CustomCounter { key: key.into(), unit: unit.into(), value: None, sent: None };
        let is = |custom: &CustomCounter| *custom.key == *key;
        expected(&mut self.custom, &mut self.next_custom, is, make).value = value;
        self
    }

    /// Says whether the node has ended.
    pub fn done(&mut self, done: bool) -> &mut Self {
        self.done = Some(done);
        self
    }
}

/// What becomes of counters that are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Zeros {
    Kept,
    LeftOut,
}

impl NodeReadings {
    fn new(id: u64) -> Self {
        Self {
            id,
            counters: Vec::new(),
            next: 0,
            custom: Vec::new(),
            next_custom: 0,
            done: None,
            done_sent: None,
        }
    }

    fn counter(&mut self, name: &str) -> &mut Counter {
        let make = || Counter { name: name.into(), value: 0, sent: 0 };
        expected(&mut self.counters, &mut self.next, |counter| *counter.name == *name, make)
    }

    fn reset(&mut self) {
        (self.next, self.next_custom) = (0, 0);
        self.done = None;
        for counter in &mut self.counters {
            counter.value = 0;
        }
        for custom in &mut self.custom {
            custom.value = None;
        }
    }

    fn is_changed(&self) -> bool {
        self.done != self.done_sent
            || self.counters.iter().any(|counter| counter.value != counter.sent)
            || self.custom.iter().any(|custom| custom.value != custom.sent)
    }

    fn note_sent(&mut self) {
        self.done_sent = self.done;
        for counter in &mut self.counters {
            counter.sent = counter.value;
        }
        for custom in &mut self.custom {
            custom.sent.clone_from(&custom.value);
        }
    }

    fn counters(&self, zeros: Zeros) -> Counters<'_> {
        let kept = self.counters.iter().filter(|counter| zeros == Zeros::Kept || counter.value != 0);
        Counters {
            done: self.done,
            custom: self
                .custom
                .iter()
                .map(|custom| Custom {
                    key: (*custom.key).into(),
                    unit: (*custom.unit).into(),
                    value: custom.value.clone(),
                })
                .collect(),
            metrics: kept.map(|counter| (&*counter.name, counter.value)).collect(),
        }
    }
}

/// The entry that is expected at `next`, or wherever else it stands; one that is made where there is none.
fn expected<'e, T>(
    entries: &'e mut Vec<T>,
    next: &mut usize,
    is: impl Fn(&T) -> bool,
    make: impl FnOnce() -> T,
) -> &'e mut T {
    let at = match entries.get(*next) {
        Some(entry) if is(entry) => *next,
        _ => entries.iter().position(is).unwrap_or_else(|| {
            entries.push(make());
            entries.len() - 1
        }),
    };
    *next = at + 1;
    &mut entries[at]
}

#[cfg(test)]
mod tests;
