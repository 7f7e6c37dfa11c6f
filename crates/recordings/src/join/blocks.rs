//! The deflate blocks of one member after the other, none of them final and each member's last ended at a byte.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY,
};
use miniz_oxide::inflate::core::{BlockBoundaryState, DecompressorOxide, decompress};

use super::Damage;

/// What has been inflated is kept in a ring: a block refers to no more than 32 KiB before it.
const RING_BYTES: usize = 64 << 10;
const FLAGS: u32 = TINFL_FLAG_HAS_MORE_INPUT | TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY;
/// Bits a block begins with: whether it is final, and two for its kind.
const BLOCK_HEAD_BITS: u8 = 3;
/// An empty stored block behind its first bits: the length and its complement.
const EMPTY_STORED: [u8; 4] = [0, 0, 0xff, 0xff];

/// Copies blocks and inflates them on the way. The inflater never sees a final block: the bit is cleared before.
pub(super) struct Blocks {
    inflater: Box<DecompressorOxide>,
    ring: Box<[u8]>,
    /// Where the ring goes on.
    at: usize,
    /// The last byte that was read: the block that begins in it may be final, the one that ends in it the last.
    held: Option<u8>,
    /// The block that is being read, if its first bit has been.
    block: Option<Block>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    is_final: bool,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self {
            inflater: inflater(&BlockBoundaryState::default()),
            ring: vec![0; RING_BYTES].into(),
            at: 0,
            held: None,
            block: None,
        }
    }

    /// Takes the next bytes of a member's blocks. Appends to `out`, and tells what they inflate to.
    ///
    /// Gives back the rest of the input once the member's last block has ended.
    pub(super) fn read<'i>(
        &mut self,
        mut input: &'i [u8],
        out: &mut Vec<u8>,
        mut inflated: impl FnMut(&[u8]),
    ) -> Result<Option<&'i [u8]>, Damage> {
        loop {
            let block = match self.block {
                Some(block) => block,
                None => match self.begin_block(&mut input, out) {
                    Some(block) => *self.block.insert(block),
                    None => return Ok(None),
                },
            };
            let (status, read, written) =
                decompress(&mut self.inflater, input, &mut self.ring, self.at, FLAGS);
            self.copy(&input[..read], out);
            input = &input[read..];
            inflated(&self.ring[self.at..self.at + written]);
            self.at = (self.at + written) % RING_BYTES;
            match status {
                TINFLStatus::BlockBoundary => {
                    self.block = None;
                    if block.is_final {
                        self.end(out);
                        return Ok(Some(input));
                    }
                }
                TINFLStatus::HasMoreOutput => {}
                TINFLStatus::NeedsMoreInput if input.is_empty() => return Ok(None),
                _ => return Err("a deflate block is damaged"),
            }
        }
    }

    /// Reads the first bit of a block and clears it; `None` while it is not there.
    fn begin_block(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Option<Block> {
        let mut state = self.boundary();
        if state.num_bits == 0 {
            let (first, rest) = input.split_first()?;
            *input = rest;
            self.copy(&[*first], out);
            state.num_bits = 8;
            state.bit_buf = *first;
        }
        let is_final = state.bit_buf & 1 == 1;
        state.bit_buf &= !1;
        self.held = self.held.map(|held| held & !(1 << (8 - state.num_bits)));
        self.inflater = inflater(&state);
        Some(Block { is_final })
    }

    /// Ends a member: fills the bits after its last block, so that the next begins with a byte.
    fn end(&mut self, out: &mut Vec<u8>) {
        let spare_bits = self.boundary().num_bits;
        out.extend(self.held.take().map(|held| held & (0xff >> spare_bits)));
        if spare_bits > 0 {
            if spare_bits < BLOCK_HEAD_BITS {
                out.push(0);
            }
            out.extend_from_slice(&EMPTY_STORED);
        }
        self.inflater = inflater(&BlockBoundaryState::default());
    }

    fn copy(&mut self, read: &[u8], out: &mut Vec<u8>) {
        if let Some((last, before)) = read.split_last() {
            out.extend(self.held.replace(*last));
            out.extend_from_slice(before);
        }
    }

    /// The bits that are left of the last byte, between two blocks.
    fn boundary(&self) -> BlockBoundaryState {
        self.inflater.block_boundary_state().unwrap_or_default()
    }
}

fn inflater(state: &BlockBoundaryState) -> Box<DecompressorOxide> {
    Box::new(DecompressorOxide::from_block_boundary_state(state))
}
