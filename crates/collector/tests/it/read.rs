//! The read API: lists, one query, and its recording.

mod filters;
mod pages;
mod params;
mod recording;
mod summary;
