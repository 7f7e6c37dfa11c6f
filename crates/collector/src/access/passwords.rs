//! Passwords: argon2id with the parameters of its crate (RFC 9106), on threads that may block, few at a time.

use std::sync::{Arc, LazyLock};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::Semaphore;

use crate::error::ApiError;

/// Characters that a password has at least.
pub const PASSWORD_CHARS_MIN: usize = 10;
/// Bytes that it has at most.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// Passwords that are worked on at once: each takes 19 MiB and a core for tens of milliseconds.
const AT_ONCE: usize = 2;
/// Further ones that wait; beyond them the answer is 503.
const WAITING_MAX: usize = 32;

/// What a password is compared with where there is no user: it takes as long, and nobody has it.
static NOBODYS: LazyLock<String> = LazyLock::new(|| {
    let secret: [u8; 32] = rand::random();
    Argon2::default().hash_password(&secret).map(|hash| hash.to_string()).unwrap_or_default()
});

/// Says what is wrong with a password that somebody chose.
///
/// # Errors
/// What is wanted, where it is too short or too long.
pub fn check_password(password: &str) -> Result<(), String> {
    if password.chars().count() < PASSWORD_CHARS_MIN || password.len() > PASSWORD_BYTES_MAX {
        return Err(format!(
            "a password has {PASSWORD_CHARS_MIN} characters or more, and {PASSWORD_BYTES_MAX} bytes at most"
        ));
    }
    Ok(())
}

/// Says what is wrong with the name of a user.
///
/// # Errors
/// What is wanted.
pub fn check_user_name(name: &str) -> Result<(), String> {
    let known = |char: char| char.is_ascii_alphanumeric() || "._-@+".contains(char);
    if (1..=64).contains(&name.len()) && name.chars().all(known) {
        return Ok(());
    }
    Err("the name of a user is of 1 to 64 letters, digits, '.', '_', '-', '@' or '+'".into())
}

/// The hash of a password with its parameters; takes tens of milliseconds.
///
/// # Errors
/// When the machine gives no random numbers.
pub fn hash_password(password: &str) -> Result<String, String> {
    let hash = Argon2::default().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|error| format!("the password cannot be hashed: {error}"))
}

/// Whether a password is that of a hash. Without a hash, and with a text that is none, it takes as long and is not.
fn is_right(password: &str, hash: Option<&str>) -> bool {
    let hash = hash.and_then(|hash| PasswordHash::new(hash).ok());
    let has_one = hash.is_some();
    let Some(hash) = hash.or_else(|| PasswordHash::new(&NOBODYS).ok()) else { return false };
    Argon2::default().verify_password(password.as_bytes(), &hash).is_ok() && has_one
}

/// Works on passwords, few at a time.
pub(super) struct Passwords {
    places: Arc<Semaphore>,
    turns: Semaphore,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE + WAITING_MAX)), turns: Semaphore::new(AT_ONCE) }
    }

    /// Whether a password is that of a hash; without a hash it takes as long and is not.
    ///
    /// # Errors
    /// 503 when too many wait.
    pub(super) async fn is_right(&self, password: String, hash: Option<String>) -> Result<bool, ApiError> {
        self.work(move || {
            // Made by the first of all, whoever it is.
            LazyLock::force(&NOBODYS);
            is_right(&password, hash.as_deref())
        })
        .await
    }

    /// The hash of a password.
    ///
    /// # Errors
    /// 503 when too many wait.
    pub(super) async fn hash(&self, password: String) -> Result<String, ApiError> {
        let hashed = self.work(move || hash_password(&password)).await?;
        hashed.map_err(|_| ApiError::unavailable("the password cannot be hashed now, try again"))
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let busy = || ApiError::unavailable("too many log in at once, try again");
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| busy())?;
        let _turn = self.turns.acquire().await.map_err(|_| busy())?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        done.await.map_err(|_| busy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash() {
        let hash = hash_password("correct horse").expect("hashed");
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, hash_password("correct horse").expect("hashed"), "each has a salt of its own");
        assert!(is_right("correct horse", Some(&hash)));
        for (password, hash) in [
            ("correct hors", Some(&*hash)),
            ("", Some(&hash)),
            ("correct horse", Some("")),
            ("correct horse", None),
            ("x", Some(&NOBODYS)),
        ] {
            assert!(!is_right(password, hash), "{password} {hash:?}");
        }
    }

    /// CPU time of this thread: a busy machine does not add to it.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_wrong_user_costs_what_a_wrong_password_does() {
        let hash = hash_password("correct horse").expect("hashed");
        LazyLock::force(&NOBODYS);
        let spent = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            std::time::Duration::try_from(time).expect("a time")
        };
        let kinds = [Some(&*hash), None, Some("of a provider")];
        let mut took = [const { Vec::new() }; 3];
        for _ in 0..11 {
            for (hash, took) in kinds.iter().zip(&mut took) {
                let begun = spent();
                assert!(!is_right("wrong horse", *hash));
                took.push(spent().saturating_sub(begun));
            }
        }
        let [password, others @ ..] = took.map(|mut took| {
            took.sort_unstable();
            took[took.len() / 2].as_secs_f64()
        });
        for other in others {
            assert!((0.7..1.4).contains(&(other / password)), "{other} s against {password} s");
        }
    }

    #[test]
    fn a_password_is_neither_short_nor_endless() {
        assert!(check_password("123456789").is_err() && check_password(&"x".repeat(1025)).is_err());
        assert!(check_password("äöüäöüäöüä").is_ok() && check_password(&"x".repeat(1024)).is_ok());
    }
}
