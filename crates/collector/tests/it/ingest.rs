//! `POST /v1/events`: what is stored and how it is answered.

mod accepted;
mod at_once;
mod limits;
mod refused;
mod token;
mod unavailable;
