//! Tokens that senders authenticate with.

/// SHA-256 of a token: tokens are random and long, so a plain hash keeps them secret.
pub type TokenHash = [u8; 32];

/// A token as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its name, unique.
    pub name: String,
    /// The project its batches belong to.
    pub project: String,
    /// Its hash.
    pub hash: TokenHash,
    /// When it was made, in Unix milliseconds.
    pub created_unix_ms: i64,
}
