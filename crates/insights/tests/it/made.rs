//! Profiles that tests make of captured ones.

use queryscope_protocol::{Node, Object, Profile};
use serde_json::{Value, json};

fn with_property(node: &mut Node<'_>, name: &str, value: Value) {
    let text = node.properties.as_ref().expect("properties").as_json();
    let mut properties: Value = serde_json::from_str(text).expect("JSON");
    properties[name] = value;
    node.properties = Some(Object::of(&properties).expect("an object"));
}

fn first_scan<'p, 'a>(profile: &'p mut Profile<'a>) -> &'p mut Node<'a> {
    profile.plan.physical.iter_mut().find(|node| &*node.kind == "MultiScan").expect("a scan")
}

/// The same, whose first scan has a predicate.
pub(crate) fn filtered<'a>(profile: &Profile<'a>) -> Profile<'a> {
    let mut made = profile.clone();
    with_property(first_scan(&mut made), "predicate", "col(\"amount\") > 990.0".into());
    made
}

/// The same, whose first scan has no predicate and reads more columns.
pub(crate) fn unfiltered<'a>(profile: &Profile<'a>) -> Profile<'a> {
    let mut made = profile.clone();
    let scan = first_scan(&mut made);
    with_property(scan, "predicate", Value::Null);
    with_property(scan, "projected_file_columns", json!(["a", "b", "c", "d", "e", "f", "g", "h"]));
    made
}

/// The same, whose two joins changed places.
pub(crate) fn joins_swapped<'a>(profile: &Profile<'a>) -> Profile<'a> {
    let mut made = profile.clone();
    let nodes = &mut made.plan.physical;
    let joins: Vec<usize> = (0..nodes.len()).filter(|&place| &*nodes[place].kind == "EquiJoin").collect();
    let [upper, lower] = joins[..] else { panic!("{joins:?}") };
    let (one, other) = (nodes[upper].inputs[1], nodes[lower].inputs[1]);
    nodes[upper].inputs[1] = other;
    nodes[lower].inputs[1] = one;
    let properties = nodes[upper].properties.take();
    nodes[upper].properties = nodes[lower].properties.take();
    nodes[lower].properties = properties;
    made
}
