use serde_json::json;

use super::*;

/// What a sample would hold.
fn changed(readings: &Readings) -> serde_json::Value {
    let nodes = readings.changed();
    nodes.into_iter().map(|(id, counters)| (id.to_string(), json!(counters))).collect()
}

/// Reads anew, as a sample does.
fn read(readings: &mut Readings, read: impl FnOnce(&mut Readings)) {
    readings.reset();
    read(readings);
}

#[test]
fn only_nodes_that_changed_with_what_is_not_zero() {
    let mut readings = Readings::default();
    read(&mut readings, |readings| {
        readings.node(1).add("rows", 5).add("spills", 0);
        readings.node(2).add("rows", 0);
    });
    assert_eq!(changed(&readings), json!({"1": {"rows": 5}}));
    readings.note_sent();
    read(&mut readings, |readings| {
        readings.node(1).add("rows", 5).add("spills", 0);
        readings.node(2).add("rows", 0).done(true);
    });
    assert_eq!(changed(&readings), json!({"2": {"done": true}}));
    assert_eq!(json!(readings.of_node(1)), json!({"rows": 5, "spills": 0}), "a profile has zeros, too");
    assert_eq!(readings.of_node(3), None);
}

#[test]
fn readings_of_one_name_are_summed_or_the_largest_in_any_order() {
    let mut readings = Readings::default();
    for order in [[1, 2, 3], [3, 1, 2], [2, 2, 1]] {
        read(&mut readings, |readings| {
            for part in order {
                readings.node(7).add("rows", part).max("peak", part);
                readings.node(part).add("polls", 1);
            }
        });
        let [first, second, third] = order;
        let peak = first.max(second).max(third);
        assert_eq!(json!(readings.of_node(7)), json!({"rows": first + second + third, "peak": peak}));
    }
    assert_eq!(json!(readings.of_node(2)), json!({"polls": 2}));
    assert_eq!(json!(readings.of_node(3)), json!({"polls": 0}), "gone, and so nothing");
}

#[test]
fn custom_counters_have_their_unit() {
    let mut readings = Readings::default();
    let cached = |value: Option<u64>| {
        move |readings: &mut Readings| {
            readings.node(1).custom("cached", "bytes", value.map(Into::into));
        }
    };
    read(&mut readings, cached(None));
    assert_eq!(changed(&readings), json!({}), "nothing is known yet");
    read(&mut readings, cached(Some(4)));
    assert_eq!(
        changed(&readings),
        json!({"1": {"custom": [{"key": "cached", "unit": "bytes", "value": 4}]}})
    );
    readings.note_sent();
    assert!(!readings.has_changed());
}

#[test]
fn names_of_the_format_are_no_counters() {
    let mut readings = Readings::default();
    readings.node(1).add("done", 1).max("custom", 1).add("rows", u64::MAX).add("rows", 1);
    assert_eq!(json!(readings.of_node(1)), json!({"rows": u64::MAX}));
}
