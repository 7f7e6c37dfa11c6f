//! Users, sessions, what tokens are for, and the log of access.

use super::subject::{Subject, Subjects};
use crate::access::{
    AccessAction, AccessEntry, AccessStore, LastAdmin, Role, SESSIONS_OF_USER_MAX, Scope, Session, User,
    UserOutcome,
};
use crate::token::TokenRecord;

fn user(name: &str, role: Role, project: Option<&str>) -> User {
    User {
        name: name.into(),
        role,
        project: project.map(Into::into),
        password: format!("$argon2id$of-{name}"),
        created_unix_ms: 1_700_000_000_123,
    }
}

fn session(user: &str, byte: u8, used_unix_ms: i64) -> Session {
    Session { hash: [byte; 32], user: user.into(), created_unix_ms: 5, used_unix_ms }
}

fn access(s: &Subject) -> &dyn AccessStore {
    s.store.access()
}

async fn add(s: &Subject, user: User) {
    assert!(access(s).add_user(user).await.expect("a store"));
}

async fn change(s: &Subject, name: &str, role: Role, project: Option<&str>) -> UserOutcome {
    let project = project.map(Into::into);
    access(s).change_role(name, role, project, LastAdmin::Stays).await.expect("a store")
}

async fn remove(s: &Subject, name: &str) -> UserOutcome {
    access(s).remove_user(name, LastAdmin::Stays).await.expect("a store")
}

async fn begin(s: &Subject, session: Session) {
    assert!(access(s).begin_session(session).await.expect("a store"));
}

async fn is_there(s: &Subject, byte: u8) -> bool {
    access(s).session([byte; 32], 0).await.expect("a store").is_some()
}

pub(super) fn users_have_a_name_each(subjects: &Subjects) {
    subjects.one(async |s| {
        assert_eq!(access(s).users().await.expect("a store"), []);
        let all = [
            user("Ada", Role::Viewer, Some("etl")),
            user("ada", Role::Admin, None),
            user("zoë", Role::Editor, None),
        ];
        for one in all.iter().rev() {
            add(s, one.clone()).await;
        }
        assert!(!access(s).add_user(user("ada", Role::Viewer, None)).await.expect("a store"));
        begin(s, session("Ada", 1, 10)).await;
        assert_eq!(change(s, "Ada", Role::Editor, None).await, UserOutcome::Made);
        for nobody in ["ADA", "Ada\0", ""] {
            assert_eq!(change(s, nobody, Role::Editor, None).await, UserOutcome::NoUser, "{nobody:?}");
            assert_eq!(remove(s, nobody).await, UserOutcome::NoUser, "{nobody:?}");
            assert_eq!(access(s).user(nobody).await.expect("a store"), None, "{nobody:?}");
            assert!(!access(s).change_password(nobody, "x".into()).await.expect("a store"), "{nobody:?}");
        }
        let (_, changed) = access(s).session([1; 32], 0).await.expect("a store").expect("it goes on");
        assert_eq!((changed.role, changed.project), (Role::Editor, None));
        assert_eq!(change(s, "Ada", all[0].role, all[0].project.as_deref()).await, UserOutcome::Made);
        s.reopen().await;
        assert_eq!(access(s).users().await.expect("a store"), all);
        assert_eq!(access(s).user("Ada").await.expect("a store").as_ref(), Some(&all[0]));
        assert_eq!(access(s).user("ADA").await.expect("a store"), None);
        assert_eq!(remove(s, "Ada").await, UserOutcome::Made);
        assert_eq!(remove(s, "Ada").await, UserOutcome::NoUser);
        assert_eq!(access(s).users().await.expect("a store"), all[1..]);
    });
}

pub(super) fn the_last_administrator_stays(subjects: &Subjects) {
    subjects.one(async |s| {
        for one in [
            user("ada", Role::Admin, None),
            user("bob", Role::Admin, None),
            user("eve", Role::Admin, Some("etl")),
        ] {
            add(s, one).await;
        }
        // Each makes the other none, at once and again and again.
        for _ in 0..20 {
            let made =
                tokio::join!(change(s, "ada", Role::Viewer, None), change(s, "bob", Role::Viewer, None));
            let admins =
                access(s).users().await.expect("a store").into_iter().filter(User::is_admin_of_all).count();
            assert!(
                admins == 1
                    && matches!(
                        made,
                        (UserOutcome::Made, UserOutcome::IsLastAdmin)
                            | (UserOutcome::IsLastAdmin, UserOutcome::Made)
                    ),
                "{made:?}"
            );
            for name in ["ada", "bob"] {
                assert_eq!(change(s, name, Role::Admin, None).await, UserOutcome::Made);
            }
        }
        let made = tokio::join!(remove(s, "ada"), change(s, "bob", Role::Admin, Some("etl")));
        assert!(
            matches!(
                made,
                (UserOutcome::Made, UserOutcome::IsLastAdmin) | (UserOutcome::IsLastAdmin, UserOutcome::Made)
            ),
            "{made:?}"
        );
        let last = if made.0 == UserOutcome::Made { "bob" } else { "ada" };
        assert_eq!(remove(s, last).await, UserOutcome::IsLastAdmin);
        assert_eq!(remove(s, "eve").await, UserOutcome::Made);
        // Whoever holds the store may.
        let removed = access(s).remove_user(last, LastAdmin::MayGo).await.expect("a store");
        assert_eq!(removed, UserOutcome::Made);
    });
}

pub(super) fn tokens_say_what_they_are_for(subjects: &Subjects) {
    subjects.one(async |s| {
        let sender = TokenRecord::of_sender("a", "p", [1; 32], 1);
        let reader = TokenRecord {
            scope: Scope::Read,
            project: TokenRecord::ALL_PROJECTS.into(),
            expires_unix_ms: Some(77),
            ..TokenRecord::of_sender("b", "", [2; 32], 2)
        };
        for token in [&sender, &reader] {
            assert!(s.store.add_token(token.clone()).await.expect("a store"));
        }
        access(s).use_tokens(vec!["b".into(), "gone".into()], 60).await.expect("a store");
        access(s).use_tokens(vec!["b".into()], 50).await.expect("a store");
        s.reopen().await;
        let used = TokenRecord { used_unix_ms: Some(60), ..reader };
        assert_eq!(s.store.tokens().await.expect("a store"), [sender, used]);
    });
}

pub(super) fn a_session_is_there_until_it_ends(subjects: &Subjects) {
    subjects.one(async |s| {
        let ada = user("ada", Role::Editor, Some("etl"));
        add(s, ada.clone()).await;
        assert!(!access(s).begin_session(session("bob", 9, 10)).await.expect("a store"), "nobody's");
        begin(s, session("ada", 1, 10)).await;
        s.reopen().await;
        let found = access(s).session([1; 32], 10).await.expect("a store");
        assert_eq!(found, Some((session("ada", 1, 10), ada)));
        assert_eq!(access(s).session([1; 32], 11).await.expect("a store"), None, "used too long ago");
        access(s).use_session([1; 32], 20).await.expect("a store");
        access(s).use_session([1; 32], 15).await.expect("a store");
        access(s).use_session([2; 32], 20).await.expect("a store");
        let (found, _) = access(s).session([1; 32], 11).await.expect("a store").expect("used since");
        assert_eq!(found.used_unix_ms, 20);
        assert!(access(s).end_session([1; 32]).await.expect("a store"));
        assert!(!access(s).end_session([1; 32]).await.expect("a store"));
        assert!(!is_there(s, 1).await);
    });
}

pub(super) fn a_session_ends_with_its_user(subjects: &Subjects) {
    subjects.one(async |s| {
        for name in ["ada", "bob"] {
            add(s, user(name, Role::Viewer, None)).await;
        }
        for (name, byte) in [("ada", 1), ("ada", 2), ("bob", 3)] {
            begin(s, session(name, byte, 10)).await;
        }
        assert!(access(s).change_password("ada", "$argon2id$new".into()).await.expect("a store"));
        assert!(!access(s).change_password("eve", "x".into()).await.expect("a store"));
        assert!(!is_there(s, 1).await && !is_there(s, 2).await && is_there(s, 3).await);
        assert_eq!(access(s).user("ada").await.expect("a store").expect("there").password, "$argon2id$new");
        assert_eq!(remove(s, "bob").await, UserOutcome::Made);
        assert!(!is_there(s, 3).await);
        add(s, user("bob", Role::Admin, None)).await;
        assert!(!is_there(s, 3).await, "a later user of that name is another");
    });
}

pub(super) fn sessions_that_are_idle_end(subjects: &Subjects) {
    subjects.one(async |s| {
        add(s, user("ada", Role::Viewer, None)).await;
        for byte in 1..=4 {
            begin(s, session("ada", byte, i64::from(byte))).await;
        }
        let listed = async |since, limit| access(s).sessions(since, limit).await.expect("a store");
        let of = |byte: u8| session("ada", byte, i64::from(byte));
        assert_eq!(listed(3, 10).await, [of(4), of(3)]);
        assert_eq!(listed(0, 3).await, [of(4), of(3), of(2)]);
        assert_eq!(access(s).end_idle_sessions(3).await.expect("a store"), 2);
        assert_eq!(access(s).end_idle_sessions(3).await.expect("a store"), 0);
        assert!(!is_there(s, 2).await && is_there(s, 3).await);
    });
}

pub(super) fn a_user_has_so_many_sessions(subjects: &Subjects) {
    subjects.one(async |s| {
        for name in ["ada", "bob"] {
            add(s, user(name, Role::Viewer, None)).await;
        }
        begin(s, session("bob", 255, 0)).await;
        let max = u8::try_from(SESSIONS_OF_USER_MAX).expect("few");
        for byte in 1..=max {
            begin(s, session("ada", byte, i64::from(byte))).await;
        }
        assert!(is_there(s, 1).await);
        begin(s, session("ada", max + 1, i64::from(max) + 1)).await;
        assert!(!is_there(s, 1).await && is_there(s, 2).await && is_there(s, max + 1).await);
        assert!(is_there(s, 255).await, "those of others stay");
    });
}

pub(super) fn the_log_keeps_the_newest(subjects: &Subjects) {
    subjects.one(async |s| {
        let entry = |n: i64, action| AccessEntry {
            unix_ms: n,
            action,
            actor: (n % 2 == 0).then(|| format!("actor {n}")),
            subject: (n % 3 == 0).then(|| format!("subject {n}")),
            address: (n % 5 == 0).then(|| "::1".into()),
        };
        let actions = AccessAction::ALL.iter().copied().cycle();
        let all: Vec<_> = (1..=12).zip(actions).map(|(n, action)| entry(n, action)).collect();
        access(s).note_access(all[..7].to_vec(), 10).await.expect("a store");
        access(s).note_access(all[7..].to_vec(), 10).await.expect("a store");
        access(s).note_access(vec![], 10).await.expect("a store");
        s.reopen().await;
        let log = access(s).access_log(None, 100).await.expect("a store");
        let kept: Vec<_> = log.iter().map(|(_, entry)| entry.clone()).collect();
        let expected: Vec<_> = all[2..].iter().rev().cloned().collect();
        assert_eq!(kept, expected);
        assert!(log.is_sorted_by(|a, b| a.0 > b.0), "{log:?}");
        let first = access(s).access_log(None, 3).await.expect("a store");
        let rest = access(s).access_log(Some(first[2].0), 100).await.expect("a store");
        assert_eq!([first, rest].concat(), log);
    });
}
