//! The conformance suite every store passes, and what tests of stores and of their users share.
//!
//! A store's crate says how it is opened and names the suite once, in a test of its own:
//!
//! ```ignore
//! #[derive(Default)]
//! struct OnDisk { folder: TempFolder }
//!
//! #[async_trait]
//! impl Harness for OnDisk {
//!     async fn open(&self) -> Arc<dyn StoreAudit> { … }
//! }
//!
//! queryscope_store::conformance_tests!(OnDisk);
//! ```

mod access;
mod accounts;
mod analysis;
mod batch;
mod changes;
mod commits;
mod counts;
mod deploys;
mod evaluation;
mod facets;
mod fields;
mod front;
mod groups;
mod history;
mod issues;
mod list;
mod memory;
mod notes;
mod outbox;
mod overview;
mod packs;
mod page;
mod paging;
mod population;
mod questions;
mod recordings;
mod refusals;
mod reopen;
mod says;
mod sealing;
mod snapshot;
mod states;
mod subject;
mod tables;
mod versions;
mod views;

use std::sync::Arc;

use async_trait::async_trait;

use crate::audit::StoreAudit;

pub use batch::{BatchBuilder, batch, facts, line, query_id, seq, seqs, stream_id};
pub use front::Front;
pub use memory::MemoryStore;
pub use page::any_page;
pub use snapshot::Snapshot;

/// Opens stores to test; its default is one whose store is empty.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Opens the store: the same data each time. The one opened before has been closed.
    ///
    /// # Panics
    /// When it cannot be opened.
    async fn open(&self) -> Arc<dyn StoreAudit>;

    /// Whether other processes may open the store at the same time.
    fn is_shared(&self) -> bool {
        false
    }

    /// Random worlds a property is tried in, unless `PROPTEST_CASES` says otherwise.
    fn worlds(&self) -> u32 {
        24
    }
}

/// Lists the cases: makes a function of each that runs it on a harness, and the macro that makes tests of
/// them. A case that is not listed is dead code, which the compiler reports.
macro_rules! suite {
    ($dollar:tt $($module:ident { $($case:ident)* })*) => {
        /// The cases of the suite, for [`conformance_tests!`](crate::conformance_tests).
        #[doc(hidden)]
        pub mod cases {
            $(
                pub mod $module {
                    use crate::testsuite::{$module, Harness, subject};
                    $(
                        pub fn $case<H: Harness + Default + 'static>() {
                            subject::run($module::$case, || Box::new(H::default()));
                        }
                    )*
                }
            )*
        }

        /// Makes a test of each case of the conformance suite, for stores that a harness opens: a type that
        /// implements [`Harness`](crate::testsuite::Harness) and `Default`.
        #[macro_export]
        macro_rules! conformance_tests {
            ($dollar harness:ty) => {
                $(
                    mod $module {
                        #[allow(unused_imports, reason = "where the harness is")]
                        use super::*;
                        $(
                            #[test]
                            fn $case() {
                                $crate::testsuite::cases::$module::$case::<$dollar harness>();
                            }
                        )*
                    }
                )*
            };
        }
    };
}

suite! { $
    counts {
        all_new_then_all_duplicate
        only_the_fresh_lines_of_a_part_are_stored
        batches_may_come_in_any_order
        the_largest_seq
        events_of_no_query_are_remembered
        a_process_event_alone
        two_streams_with_the_same_seqs
        the_first_bytes_of_an_event_stay
        the_same_batch_a_hundred_times_at_once
        overlapping_batches_at_once
    }
    accounts {
        each_event_of_a_query_is_counted_once
        what_no_query_keeps_is_counted
        a_loss_is_recorded_once_and_outlives_its_query
    }
    says {
        a_duplicate_does_not_change_the_row
        a_duplicate_among_new_events_says_nothing
        duplicates_do_not_wake_an_unfinished_query
    }
    refusals {
        a_stream_of_another_project
        a_query_of_another_stream
        a_query_of_another_known_stream
        refusals_among_others_at_once
    }
    states {
        a_query_begins_running
        a_query_ends_with_its_profile
        silence_ends_strictly_after
        every_new_event_breaks_the_silence
        a_restart_grants_a_fresh_silence
        many_may_fall_silent_at_once
        an_unfinished_query_may_report_again
        a_late_event_changes_nothing
        the_first_end_decides
        silence_is_counted_across_a_restart
    }
    fields {
        nothing_known
        everything_known
        extreme_numbers
        odd_texts
        a_profile_replaces_a_guess
        the_first_process_event_says_where_queries_run
    }
    recordings {
        the_process_line_is_the_first_ever_sent
        chunks_are_listed_by_first_seq
        chunks_are_read_in_the_order_asked
        an_unknown_query_has_no_recording
        queries_are_kept_as_they_are_asked_for_one_by_one
        bytes_are_kept
    }
    sealing {
        only_ended_queries_with_chunks_wait
        those_first_stored_come_first
        only_the_named_chunks_go
        a_path_that_is_replaced_is_given_back
        of_two_that_were_written_one_counts
        a_recording_may_have_versions
        a_query_that_is_gone_gives_its_path_back
        many_are_sealed_in_one_call
        an_id_of_a_chunk_is_used_once
    }
    packs {
        a_recording_may_be_in_a_pack
        a_pack_is_given_back_with_its_last_recording
        a_pack_that_is_given_up_is_never_pointed_to
        packs_are_told_by_their_day
    }
    list {
        the_newest_come_first
        ties_have_one_order
        each_filter_alone
        filters_add_up
        absent_is_a_value
        the_bounds_of_time_are_included
        a_search_takes_label_error_and_id
        a_search_takes_signs_as_they_are
        any_filter_of_any_population
        each_condition_in_words
        any_filter_in_words_of_any_population
    }
    paging {
        pages_join_to_the_whole
        pages_join_through_ties
        new_queries_are_neither_skipped_nor_repeated
        pages_of_a_search
        sorted_pages_join_to_the_whole
        new_queries_do_not_move_sorted_pages
    }
    tables {
        a_scan_goes_through_all_in_the_order_they_came
        streams_are_given_once_with_all_they_sent
        only_old_queries_that_ended_are_deleted
        a_deletion_is_limited
        what_was_deleted_stays_seen
        tokens_have_a_name_each
        engines_are_known_by_name
        running_queries_are_counted
    }
    commits {
        each_commit_is_told_once_it_can_be_read
        changes_of_queries_are_told_where_they_are_to_be
        only_what_is_new_is_told
        every_move_of_a_state_is_told
        refusals_tell_nothing
        commits_at_once_are_told_in_one_order
        who_begins_during_a_commit_misses_nothing
    }
    reopen {
        everything_is_kept
        a_closed_store_refuses
        what_was_acknowledged_before_a_close_is_there
    }
    history {
        any_history
    }
    analysis {
        an_empty_store
        what_is_answered_can_be_read
        what_is_told_can_be_read
        answers_while_commits_go_on
        versions_while_queries_go
    }
    facets {
        each_field_is_counted_under_the_others
        two_filters_leave_their_own_field_open
        values_of_the_label_and_time_stay_listed
        no_value_is_a_value
        versions_of_the_engine_are_counted_under_the_others
        versions_of_the_program_are_counted_under_the_others
        a_search_is_left_out_of_facets
    }
    groups {
        a_group_counts_every_state_and_times_what_finished
        the_group_run_last_comes_first
        the_last_30_that_finished_are_listed_oldest_first
        what_lacks_the_key_is_in_no_group
        a_plan_of_several_labels_is_one_group
        groups_are_of_what_the_filters_keep
        a_query_moves_with_what_it_says
    }
    versions {
        a_version_is_all_runs_of_its_plan
        only_a_plan_that_finished_is_a_version
        the_plan_that_ran_last_comes_first
        versions_are_of_what_the_filters_keep
        the_latest_of_one_start_was_stored_last
    }
    overview {
        the_label_that_took_the_most_time_comes_first
        a_label_is_there_that_ran_in_the_range
        everything_is_said_of_a_label
        the_last_three_runs_may_be_old
        a_warning_is_new_that_no_earlier_run_had
        runs_more_than_a_day_ahead_have_no_part
        local_days_begin_where_they_are_asked_to
        overviews_are_of_what_the_filters_keep
        earlier_runs_are_of_what_the_filters_keep
        what_was_deleted_has_no_part
    }
    evaluation {
        a_run_that_ends_waits_once
        only_ended_runs_of_a_query_wait
        a_refused_batch_leaves_nothing_to_evaluate
        runs_wait_in_the_order_they_were_first_reported
        the_runs_that_were_consumed_wait_no_longer
        runs_of_many_at_once_wait_once_each
        an_evaluation_is_stored_whole
        the_last_runs_are_kept
        evaluated_queries_are_listed_each_once
        one_holder_evaluates_at_a_time
        what_is_known_of_a_query_goes_with_its_last_run
        what_is_known_of_a_query_can_be_forgotten
        a_new_store_has_nothing_to_bring_forward
    }
    changes {
        the_one_that_costs_the_most_comes_first
        each_filter_of_changes
        a_change_is_replaced_by_its_id
        changes_that_are_long_over_are_deleted
    }
    issues {
        an_evaluation_moves_issues_with_what_it_saw
        a_late_run_is_an_issue_until_it_ends
        people_move_issues
        the_most_at_stake_comes_first
        each_filter_of_issues
        mutes_whose_time_is_over
        notes_are_kept_in_their_order
        moves_are_told
        moves_at_once_lose_nothing
        issues_go_with_the_last_run_of_their_query
        issues_that_were_resolved_long_ago_go
        issues_are_taken_over_once
    }
    deploys {
        what_is_posted_twice_is_one_deploy
        engines_are_seen_with_their_versions
        a_version_that_comes_after_another_is_a_deploy
        what_was_posted_takes_the_place_of_what_is_seen
        what_is_posted_later_leaves_what_was_seen
        deploys_are_listed_by_page
        deploys_between_two_runs
        deploys_that_were_seen_long_ago_go
        deploys_are_taken_over_once
    }
    notes {
        notes_are_listed_by_page
        a_note_is_edited_within_its_project
        a_note_is_deleted_within_its_project
        a_query_has_so_many_notes
        notes_outlive_the_runs_of_their_query
        notes_are_taken_over_once
    }
    views {
        a_view_is_shared_under_a_name
        a_project_shares_so_many_views
        views_are_taken_over_once
    }
    outbox {
        each_transition_has_a_notice
        notices_become_deliveries_at_once
        an_attempt_is_noted_while_its_delivery_waits
        one_holder_delivers_at_a_time
        what_ended_is_kept_for_a_week
        of_a_route_the_newest_messages_wait
        the_newest_notices_are_kept
        retention_takes_old_messages
        an_outbox_is_taken_over_once
    }
    access {
        users_have_a_name_each
        the_last_administrator_stays
        tokens_say_what_they_are_for
        a_session_is_there_until_it_ends
        a_session_ends_with_its_user
        sessions_that_are_idle_end
        a_user_has_so_many_sessions
        the_log_keeps_the_newest
    }
    questions {
        any_question_of_any_history
    }
}
