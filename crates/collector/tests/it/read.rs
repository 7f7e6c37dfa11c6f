//! The read API: lists, one query, and its recording.

mod compare;
mod filters;
mod insights;
mod names;
mod pages;
mod params;
mod progress;
mod recording;
mod summary;
