//! Chunks: the events of one run in one batch, packed as one gzip member.
//!
//! Gzip members can be joined end to end (RFC 1952, section 2.2), so the chunks of a query become its
//! recording without being packed again.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;
use libdeflater::{CompressionLvl, Compressor};
use thiserror::Error;

/// A packer keeps its buffers from chunk to chunk up to this size each.
const BUFFER_BYTES_KEPT: usize = 4 << 20;

/// A chunk that does not hold what it should.
#[derive(Debug, Error)]
#[error("damaged chunk")]
pub struct ChunkError(#[source] std::io::Error);

/// Packs lines into gzip members.
pub struct Packer {
    compressor: Compressor,
    lines: Vec<u8>,
    member: Vec<u8>,
}

impl Packer {
    /// A packer at level 1: larger levels take twice the time for a tenth of the bytes.
    pub fn new() -> Self {
        let level = CompressionLvl::new(1).unwrap_or_default();
        Self { compressor: Compressor::new(level), lines: Vec::new(), member: Vec::new() }
    }

    /// Packs lines, each ended by a line feed, into one gzip member.
    pub fn pack<'a>(&mut self, lines: impl IntoIterator<Item = &'a [u8], IntoIter: Clone>) -> Vec<u8> {
        let lines = lines.into_iter();
        self.lines.clear();
        // Growing would copy what is there, and hold it twice meanwhile.
        self.lines.reserve(lines.clone().map(|line| line.len() + 1).sum());
        for line in lines {
            self.lines.extend_from_slice(line);
            self.lines.push(b'\n');
        }
        let bound = self.compressor.gzip_compress_bound(self.lines.len());
        if self.member.len() < bound {
            self.member.resize(bound, 0);
        }
        let packed = self.compressor.gzip_compress(&self.lines, &mut self.member);
        let member = self.member[..packed.expect("the buffer is as large as the bound")].to_vec();
        if self.lines.capacity() > BUFFER_BYTES_KEPT {
            self.lines = Vec::new();
            self.member = Vec::new();
        }
        member
    }
}

impl Default for Packer {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

/// Inflates gzip members joined end to end.
///
/// # Errors
/// When a member is cut off or fails its checksum.
pub fn unpack(members: &[u8]) -> Result<Vec<u8>, ChunkError> {
    let mut lines = Vec::with_capacity(members.len().saturating_mul(4));
    MultiGzDecoder::new(members).read_to_end(&mut lines).map_err(ChunkError)?;
    Ok(lines)
}

/// The lines of an unpacked chunk, without their line feeds.
pub fn lines_of(unpacked: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    unpacked.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_chunks_unpack_to_all_lines() {
        let mut packer = Packer::new();
        let joined = [packer.pack([&b"a"[..], b"b\r"]), packer.pack([&b"c"[..]])].concat();
        let unpacked = unpack(&joined).expect("sound");
        assert_eq!(lines_of(&unpacked).collect::<Vec<_>>(), [&b"a"[..], b"b\r", b"c"]);
    }

    #[test]
    fn damage_is_found() {
        let mut chunk = Packer::new().pack([&b"some line of some length"[..]]);
        let middle = chunk.len() / 2;
        chunk[middle] ^= 1;
        assert!(unpack(&chunk).is_err());
        let whole = Packer::new().pack([&b"x"[..]]);
        assert!(unpack(&whole[..whole.len() - 1]).is_err());
    }
}
