//! Events and profiles to files.

mod events;
mod profiles;
mod rotating;

pub use events::EventsFile;
pub use profiles::ProfilesFile;

#[cfg(test)]
mod tests;
