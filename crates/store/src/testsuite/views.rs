//! Views that are shared.

use super::subject::{Subject, Subjects};
use crate::views::{SharedView, VIEWS_OF_PROJECT_MAX, ViewStore};

fn views(s: &Subject) -> &dyn ViewStore {
    s.store.views()
}

fn view(project: &str, name: &str, search: &str) -> SharedView {
    SharedView {
        project: project.into(),
        name: name.into(),
        search: search.into(),
        by: Some("Ada".into()),
        unix_ns: 10,
    }
}

async fn share(s: &Subject, view: SharedView) {
    assert!(views(s).share_view(view).await.expect("a store"));
}

async fn list(s: &Subject, project: Option<&str>) -> Vec<SharedView> {
    views(s).shared_views(project).await.expect("a store")
}

pub(super) fn a_view_is_shared_under_a_name(subjects: &Subjects) {
    subjects.one(async |s| {
        let (day, failed) =
            (view("default", "By day", ""), view("default", "a/ä", "?view=runs&status=failed"));
        let of_other = SharedView { by: None, ..view("other", "By day", "?view=days") };
        for view in [&failed, &of_other, &day] {
            share(s, view.clone()).await;
        }
        s.reopen().await;
        assert_eq!(list(s, None).await, [day.clone(), of_other.clone(), failed.clone()]);
        assert_eq!(list(s, Some("other")).await, std::slice::from_ref(&of_other));
        assert_eq!(list(s, Some("\0")).await, []);
        let again = SharedView { unix_ns: 20, by: None, ..view("default", "By day", "?view=days") };
        share(s, again.clone()).await;
        assert_eq!(list(s, Some("default")).await, [again, failed.clone()]);
        assert_eq!(s.store.verify().await.expect("judged"), [""; 0]);
        let unshare = async |project, name| views(s).unshare_view(project, name).await.expect("a store");
        assert!(!unshare("none", "By day").await && !unshare("default", "\0").await);
        assert!(unshare("default", "By day").await);
        assert!(!unshare("default", "By day").await);
        assert_eq!(list(s, None).await, [of_other, failed]);
    });
}

pub(super) fn a_project_shares_so_many_views(subjects: &Subjects) {
    subjects.one(async |s| {
        for number in 0..VIEWS_OF_PROJECT_MAX {
            share(s, view("default", &format!("{number:03}"), "")).await;
        }
        assert!(!views(s).share_view(view("default", "more", "")).await.expect("a store"));
        share(s, view("default", "007", "?q=bond")).await;
        share(s, view("other", "more", "")).await;
        assert!(views(s).unshare_view("default", "000").await.expect("a store"));
        share(s, view("default", "more", "")).await;
        assert_eq!(list(s, Some("default")).await.len(), VIEWS_OF_PROJECT_MAX);
    });
}

pub(super) fn views_are_taken_over_once(subjects: &Subjects) {
    subjects.one(async |s| {
        share(s, view("default", "a", "?q=1")).await;
        let elsewhere = vec![view("default", "a", "?q=2"), view("default", "b", "")];
        assert_eq!(views(s).adopt_views(elsewhere.clone()).await.expect("a store"), 1);
        assert_eq!(views(s).adopt_views(elsewhere).await.expect("a store"), 0);
        assert_eq!(list(s, None).await, [view("default", "a", "?q=1"), view("default", "b", "")]);
    });
}
