// Browsers inflate one gzip member and refuse what follows; files on disk are several, one behind the other.

import { Gunzip } from "fflate";

/** What opening may take: a file larger than this decoded is cut. */
export const DECODED_MAX_BYTES = 512 * 1024 * 1024;
/** The page answers between two pieces. */
const PIECE_BYTES = 256 * 1024;
const MAGIC = [0x1f, 0x8b, 0x08] as const;

export interface Inflated {
  bytes: Uint8Array;
  /** Whether the end is missing or broken. */
  cut: boolean;
}

export function isGzip(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

/** Inflates all members; of one that is cut, what there is of it. */
export async function gunzip(bytes: Uint8Array, maxBytes = DECODED_MAX_BYTES): Promise<Inflated> {
  const parts: BlobPart[] = [];
  let [size, crc] = [0, 0];
  const stream = new Gunzip((part) => {
    size += part.length;
    if (size > maxBytes) throw new RangeError("it is too large");
    parts.push(part as Uint8Array<ArrayBuffer>);
    crc = crc32(part, crc);
  });
  // fflate does not compare the checksum at the end of a member.
  const checkMember = (end: number): void => {
    const sum = new DataView(bytes.buffer, bytes.byteOffset + end - 8).getUint32(0, true);
    if (sum !== crc) throw new Error("its checksum is another one");
    crc = 0;
  };
  stream.onmember = checkMember;
  let cut = false;
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      stream.push(bytes.subarray(at, at + PIECE_BYTES), at + PIECE_BYTES >= bytes.length);
      await new Promise((then) => setTimeout(then));
    }
    checkMember(bytes.length);
  } catch {
    cut = true;
  }
  return { bytes: new Uint8Array(await new Blob(parts).arrayBuffer()), cut };
}

const CRC_OF_BYTE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_OF_BYTE[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}
