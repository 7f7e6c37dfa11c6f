//! Notes on queries and shared views are moved, once.

use std::fs;

use super::Target;
use crate::check::people::{write, written};
use crate::common::Service;
use crate::common::database::Databases;

#[test]
fn what_people_wrote_arrives_once() {
    let root = tempfile::tempdir().expect("a folder");
    let data = root.path().join("data");
    let service = Service::start(&data);
    write(&service);
    let before = written(&service);
    service.stop();

    let databases = Databases::start();
    let target = Target::make(root.path(), &databases, "moved");
    let said = target.migrate(&data).success();
    assert!(said.ends_with("2 notes on queries and 1 shared views moved\n"), "{said}");
    let said = target.migrate(&data).success();
    assert!(!said.contains("notes on queries"), "{said}");
    target.check(&[]);
    let token = fs::read_to_string(data.join("token")).expect("a token");
    let service = target.serve(token.trim());
    assert_eq!(written(&service), before);
    service.stop();
}
