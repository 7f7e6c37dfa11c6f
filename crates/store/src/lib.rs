//! What queryscope asks of a store.
//!
//! A store keeps, of everything senders post: the events as gzip chunks until they become a recording, one
//! row a query, and which events of each stream it has seen. [`Store`] is its interface, [`StoreAudit`] that of who
//! judges or moves it; the feature `testsuite` holds the tests every implementation passes. The rules all stores
//! share (how a query's state
//! follows from its events, how seen events are told from new ones, how chunks are packed) are pure
//! functions here.

mod access;
mod analysis;
mod audit;
mod background;
mod batch;
mod chunk;
mod commits;
mod conditions;
mod cpu;
mod deploys;
mod diagnosis;
mod error;
mod expression;
mod filter;
mod fresh;
mod identity;
mod inflate;
mod issues;
mod kept;
mod machine;
mod name;
mod notes;
mod outbox;
mod packed;
mod path;
mod query;
mod recording;
mod seen;
mod store;
#[cfg(feature = "testsuite")]
pub mod testsuite;
mod token;
mod token_name;
mod views;

pub use access::{
    ACCESS_LOG_MAX, AccessAction, AccessEntry, AccessStore, LastAdmin, NoWord, OF_PROVIDER, Role,
    SESSIONS_OF_USER_MAX, Scope, Session, SessionHash, User, UserOutcome,
};
pub use analysis::{
    FacetValue, Facets, GroupBy, GroupPlace, GroupsAnswer, GroupsRequest, OverviewAnswer, OverviewOrder,
    OverviewPlace, OverviewRank, OverviewRequest, OverviewSplit, OwnerOf, Places, Series, SeriesBy,
    SeriesRequest, in_place_order, rank,
};
pub use audit::StoreAudit;
pub use background::{Commit, Foreground, YieldPoint};
pub use batch::{Facts, QueryPart, Report, StreamBatch, StreamProcess};
pub use chunk::{ChunkError, Packer, lines_of, unpack};
pub use commits::{Change, CommitFeed, Commits, Heard};
pub use conditions::{CHANGE_COLUMNS, Conditions, QUERY_COLUMNS, TermNumbers, list_order, order_by};
pub use cpu::{Carrier, CpuMeter, carry, thread_time};
pub use deploys::{
    DEPLOYS_MAX, DEPLOYS_OF_SPAN_MAX, Deploy, DeployPlace, DeploySource, DeploySpan, DeployStore,
    DeploySubject, DeploysRequest, PostedDeploy, SeenVersion, after_deploys, each_once,
};
pub use diagnosis::{
    ChangePlace, ChangesRequest, EvaluatedRun, Evaluation, HistoryRevision, PendingRun, PlanFingerprint,
    QueryEvaluation, QueryHistory, QueryKey, RunPlan, StoredChange,
};
pub use error::StoreError;
pub use expression::{
    Amount, CLAUSES_MAX, Clause, Comparison, Expression, FIELDS, Lookup, Mistake, NumberField, Pattern,
    TEXT_CHARS_MAX, Test, TextField, Unit, parse,
};
pub use filter::{Is, ListRequest, Order, Position, QueryFilter, SortBy, sorted_search};
pub use fresh::FreshPart;
pub use identity::FileIdentity;
pub use inflate::Inflater;
pub use issues::{
    IssueCount, IssueMoved, IssuePlace, IssueRecord, IssueStep, IssuesRequest, NoteAdded, ObservedQuery,
};
pub use kept::{Account, Kept, Loss, StreamSeen};
pub use machine::{now, random_id};
pub use name::{NAME_CHARS, Naming, short_name};
pub use notes::{NOTES_MAX, NOTES_OF_QUERY_MAX, NoteEdit, NoteStore, NotesRequest, QueryNote};
pub use outbox::{
    Attempt, Delivery, DeliveryState, Dispatch, NewDelivery, OUTBOX_FULL, OUTBOX_KEPT, OUTBOX_MAX,
    OutboxPage, OutboxStore, RouteRecord, StoredNotice, outbox_kept_since,
};
pub use packed::{Packed, pack};
pub use path::{named_by, pack_named_by, pack_path, recording_path, sealed_path, versioned_path};
pub use query::{Known, Query, Status};
pub use recording::{ChunkInfo, Pack, PlaceColumns, RecordingParts, RecordingPlace, Sealed, Slice};
pub use seen::{SeenChange, SeqRange, seq_ranges};
pub use store::{CommitGroup, Committed, Deleted, Listed, Store, StoreStats};
pub use token::{TokenHash, TokenRecord};
pub use token_name::{Name, NoName};
pub use views::{SharedView, VIEWS_MAX, VIEWS_OF_PROJECT_MAX, ViewStore};
