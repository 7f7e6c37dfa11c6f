//! Pages, by offset and by place, join to the whole list.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::batch::{batch, facts};
use super::population::{any_filter, any_filter_in_words, any_population};
use super::subject::{Subject, Subjects, numbers, request};
use crate::batch::Facts;
use crate::expression::NumberField;
use crate::filter::{ListRequest, Order, QueryFilter, SortBy};
use crate::store::Listed;

fn at(unix_ns: i64) -> Facts {
    Facts { started_unix_ns: Some(unix_ns), ..facts("x") }
}

/// Reads a list page by page, each after the place where the one before ended.
async fn page_through(s: &Subject, asked: &ListRequest) -> Vec<Listed> {
    let mut whole: Vec<Listed> = Vec::new();
    loop {
        let after = whole.last().map(|listed| listed.position);
        let value = |sort: SortBy| whole.last().and_then(|listed| sort.field.of(&listed.query));
        let sort = asked.sort.map(|sort| SortBy { after: value(sort), ..sort });
        let page = s.page(&ListRequest { sort, after, ..asked.clone() }).await;
        assert!(page.len() <= asked.limit);
        if page.is_empty() {
            return whole;
        }
        whole.extend(page);
        assert!(whole.len() < 1_000, "it does not end");
    }
}

pub(super) fn pages_join_to_the_whole(subjects: &Subjects) {
    let asked = (any_filter(), any::<bool>(), 1_usize..9);
    subjects.any((any_population(), asked), &async |s, (population, (filter, newest, limit))| {
        population.settle(&*s.store).await;
        let order = if newest { Order::Newest } else { Order::Oldest };
        let all = ListRequest { order, ..request(filter) };
        let whole = s.page(&all).await;
        let pages = ListRequest { limit, ..all.clone() };
        assert_eq!(page_through(s, &pages).await, whole, "{pages:?}");
        for offset in 0..=whole.len() + 1 {
            let end = (offset + limit).min(whole.len());
            let page = s.page(&ListRequest { offset: offset as u64, ..pages.clone() }).await;
            assert_eq!(page, whole[offset.min(end)..end], "{pages:?} from {offset}");
        }
        if let Some(third) = whole.get(2) {
            let skipping = ListRequest { after: Some(third.position), offset: 2, ..all };
            assert_eq!(s.page(&skipping).await, whole[5.min(whole.len())..], "after a place and an offset");
        }
    });
}

pub(super) fn pages_join_through_ties(subjects: &Subjects) {
    subjects.one(async |s| {
        for query in 1..=20 {
            s.commit(batch(1).finished(query, query, at([5, 5, 5, 9][query as usize % 4]))).await;
        }
        for order in [Order::Newest, Order::Oldest] {
            for limit in [1, 2, 3, 7, 20] {
                let asked = ListRequest { order, limit, ..request(QueryFilter::default()) };
                let found = page_through(s, &asked).await;
                let numbers: BTreeSet<u64> = numbers(&found).into_iter().collect();
                assert_eq!((found.len(), numbers), (20, (1..=20).collect()), "{asked:?}");
            }
        }
    });
}

pub(super) fn new_queries_are_neither_skipped_nor_repeated(subjects: &Subjects) {
    subjects.one(async |s| {
        for query in 1..=30 {
            s.commit(batch(1).finished(query, query, at(query.cast_signed() / 3 * 10))).await;
        }
        for order in [Order::Newest, Order::Oldest] {
            let before: BTreeSet<u64> = s.list(QueryFilter::default()).await.into_iter().collect();
            let mut next = *before.last().expect("some") + 1;
            let mut read = Vec::new();
            let mut after = None;
            loop {
                let asked = ListRequest { order, after, limit: 4, ..request(QueryFilter::default()) };
                let page = s.page(&asked).await;
                let Some(last) = page.last() else { break };
                after = Some(last.position);
                read.extend(numbers(&page));
                assert!(read.len() < 1_000, "it does not end");
                // One newer and one older than all, and one beside the last one read.
                if read.len() < 40 {
                    for start in [1_000_000, -1_000_000, last.position.started_unix_ns] {
                        s.commit(batch(1).finished(next, next, at(start))).await;
                        next += 1;
                    }
                }
            }
            let once: BTreeSet<u64> = read.iter().copied().collect();
            assert_eq!(once.len(), read.len(), "none is repeated");
            assert!(once.is_superset(&before), "none is skipped: {order:?}");
        }
    });
}

pub(super) fn pages_of_a_search(subjects: &Subjects) {
    subjects.one(async |s| {
        // Matches by label, by error and by both, among others.
        for query in 1..=60_u64 {
            let told = Facts {
                label: (query % 2 == 0).then(|| format!("needle {}", query % 8)),
                failed: (query % 3 == 0).then(|| "a Needle in the hay".to_owned()),
                ..at(query.cast_signed() / 2)
            };
            s.commit(batch(1).finished(query, query, told)).await;
        }
        let filter = QueryFilter { search: Some("NEEDLE".into()), ..QueryFilter::default() };
        for order in [Order::Newest, Order::Oldest] {
            let asked = ListRequest { order, limit: 7, ..request(filter.clone()) };
            let mut found = numbers(&page_through(s, &asked).await);
            found.sort_unstable();
            let expected: Vec<u64> = (1..=60).filter(|query| query % 2 == 0 || query % 3 == 0).collect();
            assert_eq!(found, expected);
        }
    });
}

pub(super) fn sorted_pages_join_to_the_whole(subjects: &Subjects) {
    let field = prop::sample::select(&NumberField::ALL[..]);
    let asked = (any_filter_in_words(), field, any::<bool>(), 1_usize..9);
    subjects.any((any_population(), asked), &async |s, (population, (filter, field, newest, limit))| {
        population.settle(&*s.store).await;
        let order = if newest { Order::Newest } else { Order::Oldest };
        let sort = Some(SortBy { field, after: None });
        let all = ListRequest { sort, order, ..request(filter) };
        let whole = s.page(&all).await;
        let pages = ListRequest { limit, ..all.clone() };
        assert_eq!(page_through(s, &pages).await, whole, "{pages:?}");
        let end = (1 + limit).min(whole.len());
        let page = s.page(&ListRequest { offset: 1, ..pages.clone() }).await;
        assert_eq!(page, whole[1.min(end)..end], "{pages:?} from 1");
    });
}

pub(super) fn new_queries_do_not_move_sorted_pages(subjects: &Subjects) {
    subjects.one(async |s| {
        let told = |wall_ms: f64| Facts { wall_ms, ..at(5) };
        for query in 1..=20 {
            s.commit(batch(1).finished(query, query, told([1.0, 2.0, 2.0, 3.0][query as usize % 4]))).await;
        }
        s.commit(batch(1).progress(21, [21])).await;
        for order in [Order::Newest, Order::Oldest] {
            let all = ListRequest {
                sort: Some(SortBy { field: NumberField::Wall, after: None }),
                order,
                ..request(QueryFilter::default())
            };
            let before = s.page(&all).await;
            let first = s.page(&ListRequest { limit: 7, ..all.clone() }).await;
            assert_eq!(first, before[..7]);
            let batch_of_more = if order == Order::Newest { 100 } else { 200 };
            for (more, wall_ms) in [0.5, 2.0, 9.0].into_iter().enumerate() {
                let query = batch_of_more + more as u64;
                s.commit(batch(1).finished(query, query, told(wall_ms))).await;
            }
            let last = first.last().expect("a page");
            let sort = Some(SortBy { field: NumberField::Wall, after: NumberField::Wall.of(&last.query) });
            let rest = s.page(&ListRequest { sort, after: Some(last.position), ..all }).await;
            let rest: Vec<Listed> = rest.into_iter().filter(|listed| before.contains(listed)).collect();
            assert_eq!([first, rest].concat(), before, "none is skipped or repeated");
        }
    });
}
