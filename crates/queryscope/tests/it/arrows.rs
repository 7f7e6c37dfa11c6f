//! The dependency arrows of the architecture: who may not reach whom.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package, PackageId};

const RUNTIME: [&str; 3] = ["tokio", "mio", "async-std"];
const HTTP: [&str; 5] = ["axum", "hyper", "hyper-util", "tower-http", "ureq"];
const SQL: [&str; 5] = ["rusqlite", "libsqlite3-sys", "sqlx", "tokio-postgres", "postgres"];
const STORES: [&str; 2] = ["queryscope-store-sqlite", "queryscope-store-postgres"];
const OTHERS: [&str; 3] = ["queryscope-history", "queryscope-recordings", "queryscope-client"];
/// Engines, each of which takes minutes to build: only its adapter, and what measures that, names it.
const ENGINES: [&str; 1] = ["datafusion"];
const SERVICE: [&str; 2] = ["queryscope-collector", "queryscope-store"];

/// What each crate may not reach over normal dependencies, however far.
fn forbidden(name: &str) -> Option<Vec<&'static str>> {
    let sets: &[&[&str]] = match name {
        "queryscope-protocol"
        | "queryscope-history"
        | "queryscope-diagnosis"
        | "queryscope-histories"
        | "queryscope-issues" => &[&RUNTIME, &HTTP, &SQL, &SERVICE],
        // Of ours it reaches the protocol alone.
        "queryscope-insights" => &[&RUNTIME, &HTTP, &SQL, &SERVICE, &OTHERS],
        // Files that were built before; nothing of what serves them.
        "queryscope-dashboard" => &[&RUNTIME, &HTTP, &SQL, &SERVICE, &STORES],
        "queryscope-store" | "queryscope-columns" => &[&HTTP, &SQL, &SERVICE[..1], &STORES],
        // A bucket is asked over HTTP; nothing is served.
        "queryscope-recordings" => &[&HTTP[..1], &SQL, &SERVICE[..1], &STORES],
        // Receivers are asked over HTTP; nothing is served, and nothing is stored.
        "queryscope-delivery" => &[&HTTP[..1], &SQL, &SERVICE, &STORES],
        // For tests alone.
        "queryscope-bucket-server" => &[&SQL, &SERVICE, &STORES],
        "queryscope-store-sqlite" | "queryscope-store-postgres" => &[&HTTP, &SERVICE[..1]],
        "queryscope-collector" => &[&SQL, &STORES],
        // It blocks on threads of its own: an engine gets no runtime and no server with it.
        // A Python program loads no more than that.
        "queryscope-client" | "queryscope-python" => &[&RUNTIME, &HTTP[..4], &SERVICE, &STORES, &SQL],
        "queryscope-datafusion" | "queryscope-tpch" => &[&SERVICE, &STORES, &SQL],
        // They join the collector and the stores.
        "queryscope"
        | "queryscope-bench"
        | "queryscope-fuzzed"
        | "queryscope-postgres-server"
        | "queryscope-torture" => &[],
        _ => return None,
    };
    let runs_it = matches!(name, "queryscope-datafusion" | "queryscope-tpch");
    let engines: &[&str] = if runs_it { &[] } else { &ENGINES };
    Some(sets.iter().flat_map(|set| set.iter().copied()).chain(engines.iter().copied()).collect())
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .features(CargoOpt::SomeFeatures(vec![]))
        .other_options(["--locked".into()])
        .exec()
        .expect("the workspace's metadata")
}

/// Names of the normal dependencies a package declares and does not make optional, for packages of ours;
/// `None` for others, of which all that is resolved counts.
fn declared(package: &Package, metadata: &Metadata) -> Option<BTreeSet<String>> {
    let normal = |package: &Package| {
        let normal = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal && !dependency.optional);
        normal.map(|dependency| dependency.name.clone()).collect()
    };
    metadata.workspace_members.contains(&package.id).then(|| normal(package))
}

/// Every package that is reached from one, each with the package before it on a way there.
fn reached<'m>(metadata: &'m Metadata, from: &'m Package) -> BTreeMap<&'m str, &'m str> {
    let resolve = metadata.resolve.as_ref().expect("resolved");
    let mut before = BTreeMap::new();
    let mut seen: BTreeSet<&PackageId> = BTreeSet::from([&from.id]);
    let mut open = vec![from];
    while let Some(package) = open.pop() {
        let declared = declared(package, metadata);
        let node = resolve.nodes.iter().find(|node| node.id == package.id).expect("a node");
        for dependency in &node.deps {
            let next = &metadata[&dependency.pkg];
            let normal = dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
            let counts = declared.as_ref().is_none_or(|declared| declared.contains(next.name.as_str()));
            if normal && counts && seen.insert(&next.id) {
                before.insert(next.name.as_str(), package.name.as_str());
                open.push(next);
            }
        }
    }
    before
}

#[test]
fn no_crate_reaches_what_it_must_not_know() {
    let metadata = metadata();
    let mut broken = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        let Some(forbidden) = forbidden(name) else {
            broken.push(format!("{name} is new: say above what it may not reach"));
            continue;
        };
        let reached = reached(&metadata, package);
        for far in forbidden {
            if let Some(before) = reached.get(far) {
                broken.push(format!("{name} reaches {far}, by {before}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_binary_reaches_what_the_others_must_not() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let binary = packages.iter().find(|package| package.name.as_str() == "queryscope").expect("the binary");
    let reached = reached(&metadata, binary);
    for far in ["tokio", "axum", "hyper", "rusqlite", "libsqlite3-sys", "ureq", STORES[0], SERVICE[0]] {
        assert!(reached.contains_key(far), "{far}: the search for arrows would not find it");
    }
}

#[test]
fn a_plain_build_leaves_engines_python_and_what_is_fuzzed_out() {
    let metadata = metadata();
    let default: BTreeSet<_> =
        metadata.workspace_default_packages().iter().map(|each| each.name.to_string()).collect();
    let mut all: BTreeSet<_> =
        metadata.workspace_packages().iter().map(|each| each.name.to_string()).collect();
    for left_out in ["queryscope-datafusion", "queryscope-fuzzed", "queryscope-python", "queryscope-tpch"] {
        assert!(all.remove(left_out), "{left_out} is no member");
    }
    assert_eq!(default, all, "list the new crate in default-members");
}
