//! Gzip members joined end to end, made one member.
//!
//! A recording is stored as several gzip members, which RFC 1952 allows. Browsers and `curl` decode the first member
//! of a body and drop the rest. The joiner makes one member of all without compressing anything again, as zlib's
//! `gzjoin` does:
//!
//! - the last deflate block of each member loses its final bit;
//! - an empty stored block fills the bits up to the next byte, where the next member's blocks follow;
//! - an empty final block, the combined checksum and the combined size end the whole.
//!
//! Only an inflater knows where a block begins. So each member is inflated on its way, and what comes out is compared
//! with the member's own trailer: damage is found before the last bytes are given.

mod blocks;
mod header;

use crc32fast::Hasher;

use self::blocks::Blocks;
use self::header::header_bytes;

/// The header of the one member: no time, no name, no system (RFC 1952, section 2.3).
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// A deflate block that is final, compressed with fixed codes, and empty.
const LAST_BLOCK: [u8; 2] = [3, 0];
/// Bytes of a trailer: the checksum and the size, four bytes each.
const TRAILER_BYTES: usize = 8;

/// Why bytes are no sound gzip members.
pub(crate) type Damage = &'static str;

/// Makes one gzip member of many; holds 64 KiB of what they inflate to.
pub(crate) struct Joiner {
    place: Place,
    /// Bytes of the header or trailer that is being read.
    gathered: Vec<u8>,
    blocks: Blocks,
    /// Checksum and size of the member that is being read.
    member: Hasher,
    member_bytes: u32,
    /// Checksum and size of all members before it, modulo 2^32.
    whole: Hasher,
    whole_bytes: u32,
    is_begun: bool,
}

/// What comes next of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Header,
    Blocks,
    Trailer,
}

impl Joiner {
    pub(crate) fn new() -> Self {
        Self {
            place: Place::Header,
            gathered: Vec::new(),
            blocks: Blocks::new(),
            member: Hasher::new(),
            member_bytes: 0,
            whole: Hasher::new(),
            whole_bytes: 0,
            is_begun: false,
        }
    }

    /// Takes the next bytes of the members, in pieces of any size, and appends to `out`.
    pub(crate) fn push(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        while !input.is_empty() {
            input = match self.place {
                Place::Header => self.read_header(input, out)?,
                Place::Blocks => self.read_blocks(input, out)?,
                Place::Trailer => self.read_trailer(input)?,
            };
        }
        Ok(())
    }

    /// Ends the one member, after the last bytes of the members it is made of.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Damage> {
        if !self.is_begun || self.place != Place::Header || !self.gathered.is_empty() {
            return Err("it is cut off");
        }
        out.extend_from_slice(&LAST_BLOCK);
        out.extend_from_slice(&self.whole.clone().finalize().to_le_bytes());
        out.extend_from_slice(&self.whole_bytes.to_le_bytes());
        Ok(())
    }

    fn read_header<'i>(&mut self, input: &'i [u8], out: &mut Vec<u8>) -> Result<&'i [u8], Damage> {
        let needed = header_bytes(&self.gathered)?;
        let rest = self.gather(input, needed);
        if header_bytes(&self.gathered)? == self.gathered.len() {
            self.gathered.clear();
            self.place = Place::Blocks;
            if !self.is_begun {
                self.is_begun = true;
                out.extend_from_slice(&HEADER);
            }
        }
        Ok(rest)
    }

    fn read_blocks<'i>(&mut self, input: &'i [u8], out: &mut Vec<u8>) -> Result<&'i [u8], Damage> {
        let (member, member_bytes) = (&mut self.member, &mut self.member_bytes);
        let ended = self.blocks.read(input, out, |inflated| {
            member.update(inflated);
            *member_bytes = member_bytes.wrapping_add(inflated.len() as u32);
        })?;
        Ok(match ended {
            Some(rest) => {
                self.place = Place::Trailer;
                rest
            }
            None => &[],
        })
    }

    fn read_trailer<'i>(&mut self, input: &'i [u8]) -> Result<&'i [u8], Damage> {
        let rest = self.gather(input, TRAILER_BYTES);
        if self.gathered.len() == TRAILER_BYTES {
            let member = std::mem::take(&mut self.member);
            let expected = [member.clone().finalize().to_le_bytes(), self.member_bytes.to_le_bytes()];
            if self.gathered != expected.concat() {
                return Err("a checksum or size is wrong");
            }
            self.whole.combine(&member);
            self.whole_bytes = self.whole_bytes.wrapping_add(std::mem::take(&mut self.member_bytes));
            self.gathered.clear();
            self.place = Place::Header;
        }
        Ok(rest)
    }

    /// Gathers up to `needed` bytes; gives back the rest of the input.
    fn gather<'i>(&mut self, input: &'i [u8], needed: usize) -> &'i [u8] {
        let (taken, rest) = input.split_at(input.len().min(needed - self.gathered.len()));
        self.gathered.extend_from_slice(taken);
        rest
    }
}

#[cfg(test)]
mod tests;
