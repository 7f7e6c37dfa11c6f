//! Server-sent events, as far as the service sends them: pieces of a stream in, messages out.

use anyhow::{Result, bail};

/// Bytes of a message; the service cuts messages at about 256 KiB, and a snapshot holds all running runs.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// One message of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Message {
    pub(crate) event: String,
    pub(crate) data: String,
    /// The last id of the stream so far; empty where there was none.
    pub(crate) id: String,
}

/// Takes a stream apart.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// What came behind the last line feed.
    rest: Vec<u8>,
    now: Message,
    has_data: bool,
}

impl Parser {
    /// Takes the next piece of the stream; gives the messages that end in it.
    ///
    /// # Errors
    /// When a message has no end.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<Vec<Message>> {
        let mut messages = Vec::new();
        let mut piece = piece;
        while let Some(end) = piece.iter().position(|&byte| byte == b'\n') {
            self.rest.extend_from_slice(&piece[..end]);
            piece = &piece[end + 1..];
            let line = std::mem::take(&mut self.rest);
            let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line));
            messages.extend(self.line(&line));
        }
        self.rest.extend_from_slice(piece);
        if self.rest.len() + self.now.data.len() > MESSAGE_BYTES_MAX {
            bail!("a message of the stream is longer than {} MiB", MESSAGE_BYTES_MAX >> 20);
        }
        Ok(messages)
    }

    fn line(&mut self, line: &str) -> Option<Message> {
        if line.is_empty() {
            let message = Message {
                event: std::mem::take(&mut self.now.event),
                data: std::mem::take(&mut self.now.data),
                id: self.now.id.clone(),
            };
            return std::mem::take(&mut self.has_data).then_some(message);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.now.event),
            "id" => value.clone_into(&mut self.now.id),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.now.data.push('\n');
                }
                self.now.data.push_str(value);
            }
            // A comment, or a field for browsers.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\n\nid: 1\nevent: query\ndata: {\"a\":\ndata: 1}\n\nretry: 2000\n\n\
                          event: pulse\r\ndata:\r\n\r\n";

    #[test]
    fn pieces_of_any_size_make_the_same_messages() {
        let message =
            |event: &str, data: &str| Message { event: event.into(), data: data.into(), id: "1".into() };
        let expected = [message("query", "{\"a\":\n1}"), message("pulse", "")];
        for size in 1..=STREAM.len() {
            let mut parser = Parser::default();
            let pieces = STREAM.as_bytes().chunks(size);
            let messages: Vec<_> = pieces.flat_map(|piece| parser.take(piece).expect("short")).collect();
            assert_eq!(messages, expected, "{size}");
        }
    }

    #[test]
    fn a_message_without_an_end_is_refused() {
        let mut parser = Parser::default();
        let piece = vec![b'a'; MESSAGE_BYTES_MAX / 2];
        assert!(parser.take(&piece).is_ok() && parser.take(&piece).is_ok());
        assert!(parser.take(b"a").expect_err("too long").to_string().contains("64 MiB"));
    }
}
