//! Features as bytes: any features come back as they were, and no bytes do harm.

use std::sync::Arc;

use proptest::prelude::*;
use queryscope_diagnosis::{NodeFeatures, PackedError, Plan, PlanNode, Quantity, RunFeatures, Status};
use queryscope_insights::Fingerprint;
use queryscope_protocol::{QueryId, Role};
use uuid::Uuid;

fn quantity() -> impl Strategy<Value = Quantity> {
    prop_oneof![
        Just(Quantity::NONE),
        (0..3_000_u64).prop_map(Quantity::new),
        (any::<u64>(), 0..64_u32).prop_map(|(value, shift)| Quantity::new(value >> shift)),
    ]
}

prop_compose! {
    fn node()(
        busy_ns in quantity(), rows_in in quantity(), rows_out in quantity(), rows_scanned in quantity(),
        bytes_read in quantity(), waiting_ns in quantity(), spilled_bytes in quantity(),
        partitions in quantity(), imbalance_permille in quantity(),
    ) -> NodeFeatures {
        NodeFeatures {
            busy_ns, rows_in, rows_out, rows_scanned, bytes_read, waiting_ns, spilled_bytes, partitions,
            imbalance_permille,
        }
    }
}

fn name() -> impl Strategy<Value = Option<Arc<str>>> {
    prop::option::of(".{0,20}".prop_map(Arc::from))
}

fn number() -> impl Strategy<Value = Option<u64>> {
    prop::option::of((any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift))
}

prop_compose! {
    fn plan()(
        nodes in prop::collection::vec(
            (any::<u64>(), ".{0,9}", 0..Role::ALL.len(), any::<u64>(), name(), prop::option::of(any::<u32>())),
            0..9,
        ),
        links in prop::collection::vec(any::<usize>(), 9),
        fingerprint in any::<[u8; 6]>(),
    ) -> Arc<Plan> {
        let nodes = nodes.into_iter().enumerate().map(|(place, (id, kind, role, shape, text, columns))| {
            let text = text.map(|text| text.to_string());
            PlanNode {
                id, kind, role: Role::ALL[role],
                inputs: if place == 0 { Vec::new() } else { vec![links[place] % place] },
                own_shape: shape, shape: !shape, table: text.clone(), predicate: None, columns,
                how: text.clone(), user_code: text,
            }
        });
        Arc::new(Plan { fingerprint: Fingerprint::from_bytes(fingerprint), nodes: nodes.collect() })
    }
}

prop_compose! {
    fn run()(plan in plan())(
        nodes in prop::collection::vec(node(), plan.nodes.len()),
        with_nodes in any::<bool>(),
        numbers in prop::collection::vec(number(), 11),
        names in prop::collection::vec(name(), 5),
        id in any::<u128>(), started in any::<i64>(), wall_ns in any::<u64>(), status in 0..3_u8,
        plan in Just(plan),
    ) -> RunFeatures {
        RunFeatures {
            status: [Status::Finished, Status::Failed, Status::Cancelled][usize::from(status)],
            cpu_ns: numbers[0], planning_ns: numbers[1], waiting_ns: numbers[2], uncounted_ns: numbers[3],
            threads_used_permille: numbers[4], threads_available: numbers[5], rows_read: numbers[6],
            rows_out: numbers[7], bytes_read: numbers[8], spilled_bytes: numbers[9],
            peak_memory_bytes: numbers[10],
            engine_version: names[0].clone(), program_version: names[1].clone(), host: names[2].clone(),
            environment: names[3].clone(), logical: names[4].clone(),
            nodes: if with_nodes { nodes.into() } else { Box::default() },
            plan,
            ..RunFeatures::new(QueryId::new(Uuid::from_u128(id)), started, wall_ns)
        }
    }
}

proptest! {
    #[test]
    fn features_come_back(run in run()) {
        let packed = run.pack();
        prop_assert_eq!(RunFeatures::plan_of(&packed), Ok(run.plan.fingerprint));
        prop_assert_eq!(RunFeatures::unpack(&packed, &run.plan), Ok(run));
    }

    #[test]
    fn plans_come_back(plan in plan()) {
        prop_assert_eq!(Plan::unpack(&plan.pack()), Ok(Plan::clone(&plan)));
    }

    #[test]
    fn what_is_cut_or_longer_is_refused(run in run(), at in any::<prop::sample::Index>()) {
        let packed = run.pack();
        let cut = &packed[..at.index(packed.len())];
        prop_assert!(RunFeatures::unpack(cut, &run.plan).is_err());
        let longer = [&packed[..], &[0]].concat();
        prop_assert!(RunFeatures::unpack(&longer, &run.plan).is_err());
    }

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), plan in plan()) {
        let mut versioned = vec![1];
        versioned.extend(&bytes);
        for bytes in [bytes, versioned] {
            drop(RunFeatures::unpack(&bytes, &plan));
            drop(Plan::unpack(&bytes));
        }
    }
}

#[test]
fn another_version_or_plan_is_told() {
    let run = RunFeatures::new(QueryId::new(Uuid::nil()), 0, 1);
    let mut packed = run.pack();
    let other = Arc::new(Plan { fingerprint: Fingerprint::from_bytes([1; 6]), nodes: Box::default() });
    assert_eq!(RunFeatures::unpack(&packed, &other), Err(PackedError::Plan(run.plan.fingerprint)));
    packed[0] = 2;
    assert_eq!(RunFeatures::unpack(&packed, &run.plan), Err(PackedError::Version(2)));
}
