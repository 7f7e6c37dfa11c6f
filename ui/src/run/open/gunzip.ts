// Browsers inflate one gzip member and refuse what follows; files on disk are several, one behind the other.

/** What opening may take: a file larger than this decoded is cut. */
export const DECODED_MAX_BYTES = 512 * 1024 * 1024;
const MAGIC = [0x1f, 0x8b, 0x08] as const;

export interface Inflated {
  bytes: Uint8Array;
  /** Whether the end is missing or broken. */
  cut: boolean;
}

export function isGzip(bytes: Uint8Array): boolean {
  return startsMember(bytes, 0);
}

function startsMember(bytes: Uint8Array, at: number): boolean {
  return MAGIC.every((byte, i) => bytes[at + i] === byte);
}

/** Inflates all members; of one that is cut, what there is of it. */
export async function gunzip(bytes: Uint8Array, maxBytes = DECODED_MAX_BYTES): Promise<Inflated> {
  const parts: Uint8Array[] = [];
  let size = 0;
  let from = 0;
  while (from < bytes.length) {
    let to = nextMember(bytes, from + 1);
    let member = await inflate(bytes.subarray(from, to), maxBytes - size);
    // The magic may stand inside a member: then what ends before it is cut, and more of it follows.
    while (member.cut && to < bytes.length) {
      to = nextMember(bytes, to + 1);
      member = await inflate(bytes.subarray(from, to), maxBytes - size);
    }
    parts.push(member.bytes);
    size += member.bytes.length;
    if (member.cut) return { bytes: joined(parts, size), cut: true };
    from = to;
  }
  return { bytes: joined(parts, size), cut: false };
}

function nextMember(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(MAGIC[0], from); at >= 0; at = bytes.indexOf(MAGIC[0], at + 1)) {
    if (startsMember(bytes, at)) return at;
  }
  return bytes.length;
}

async function inflate(member: Uint8Array, maxBytes: number): Promise<Inflated> {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  const sent = writer.write(member as BufferSource).then(() => writer.close());
  sent.catch(() => undefined);
  const reader = stream.readable.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (size + next.value.length > maxBytes) {
        await reader.cancel();
        return { bytes: joined(parts, size), cut: true };
      }
      parts.push(next.value);
      size += next.value.length;
    }
    return { bytes: joined(parts, size), cut: false };
  } catch {
    return { bytes: joined(parts, size), cut: true };
  }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
