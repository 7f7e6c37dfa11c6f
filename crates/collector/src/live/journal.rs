//! The last messages of `/api/live`, for readers that come back.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use super::message::Message;

/// Messages that are kept, and their bytes together.
const MESSAGES_MAX: usize = 16 << 10;
const BYTES_MAX: usize = 4 << 20;

/// Where a reader is: the `id` of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Tells one life of the hub's state from all others.
    pub(super) epoch: u32,
    /// Number of the message within it; a snapshot has that of the last message before it.
    pub(super) number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}-{}", self.epoch, self.number)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (epoch, number) = text.split_once('-').filter(|(epoch, _)| epoch.len() == 8).ok_or(())?;
        let epoch = u32::from_str_radix(epoch, 16).map_err(|_| ())?;
        Ok(Self { epoch, number: number.parse().map_err(|_| ())? })
    }
}

/// The last messages, ascending.
#[derive(Debug, Default)]
pub(super) struct Journal {
    messages: VecDeque<Message>,
    bytes: usize,
}

impl Journal {
    pub(super) fn add(&mut self, messages: &[Message]) {
        for message in messages {
            self.bytes += message.text.len();
            self.messages.push_back(message.clone());
        }
        while (self.messages.len() > MESSAGES_MAX || self.bytes > BYTES_MAX)
            && let Some(oldest) = self.messages.pop_front()
        {
            self.bytes -= oldest.text.len();
        }
    }

    /// The messages after one, if none of them is missing; `last` is the number of the last there was.
    pub(super) fn after(&self, number: u64, last: u64) -> Option<Vec<Message>> {
        let missing = usize::try_from(last.checked_sub(number)?).ok()?;
        let begin = self.messages.len().checked_sub(missing)?;
        Some(self.messages.range(begin..).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::message::Subject;
    use super::*;

    fn message(number: u64) -> Message {
        Message { text: Bytes::from(number.to_string()), subject: Subject::Project("p".into()), before: None }
    }

    #[test]
    fn a_place_comes_back() {
        let place = Place { epoch: 0x2f, number: 70 };
        assert_eq!(place.to_string(), "0000002f-70");
        assert_eq!(place.to_string().parse(), Ok(place));
        for foreign in ["", "70", "2f-70", "0000002f-", "0000002g-1", "0000002f-x", "äöüß-1"] {
            assert_eq!(foreign.parse::<Place>(), Err(()), "{foreign}");
        }
    }

    #[test]
    fn what_is_kept_is_given_and_what_is_not_is_not() {
        let mut journal = Journal::default();
        let last = MESSAGES_MAX as u64 + 10;
        journal.add(&(1..=last).map(message).collect::<Vec<_>>());
        let numbers = |after| {
            let messages: Option<Vec<Message>> = journal.after(after, last);
            let number = |message: &Message| str::from_utf8(&message.text).ok()?.parse::<u64>().ok();
            messages.map(|messages| messages.iter().filter_map(number).collect::<Vec<_>>())
        };
        assert_eq!(numbers(last), Some(vec![]));
        assert_eq!(numbers(last - 2), Some(vec![last - 1, last]));
        assert_eq!(numbers(10).map(|numbers| numbers[0]), Some(11));
        assert_eq!(numbers(9), None);
        assert_eq!(numbers(last + 1), None);
    }
}
