//! Issues as runs and people move them.

mod histories;
mod history;
mod mutes;
mod names;
mod signals;
