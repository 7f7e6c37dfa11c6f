// Follows a stream of the service. Over `fetch`, not `EventSource`, which does not show the comments that keep a
// connection alive: without them a connection that died silently looks like a service where nothing happens.

/** The service sends something at least every 15 s. */
const SILENCE_MS = 40_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

export type StreamState =
  | { is: "connecting" }
  | { is: "open" }
  | { is: "lost"; reason: string }
  /** The service has nothing more to say, or nothing at this address. */
  | { is: "ended"; status: number };

export interface Message {
  id?: string;
  event?: string;
  data: string;
}

export interface Follower {
  onMessage(message: Message): void;
  onState(state: StreamState): void;
}

/**
 * Follows the stream at `url` until `signal` aborts or it ends (204, or any 4xx but 408 and 429). A lost connection
 * comes back by itself behind the last message that arrived.
 */
export async function follow(url: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let lastId = "";
  let failures = 0;
  const onMessage = (message: Message): void => {
    failures = 0;
    lastId = message.id ?? lastId;
    follower.onMessage(message);
  };
  follower.onState({ is: "connecting" });
  while (!signal.aborted) {
    try {
      const status = await readOnce(url, lastId, onMessage, () => follower.onState({ is: "open" }), signal);
      if (status !== undefined) {
        follower.onState({ is: "ended", status });
        return;
      }
      if (signal.aborted) return;
      follower.onState({ is: "lost", reason: "the service closed the connection" });
    } catch (error) {
      if (signal.aborted) return;
      follower.onState({ is: "lost", reason: error instanceof Error ? error.message : String(error) });
    }
    await pause(retryMs(failures), signal);
    failures += 1;
  }
}

/** Reads until the connection closes. Returns the status where there is no stream to come back to. */
async function readOnce(
  url: string,
  lastId: string,
  onMessage: (message: Message) => void,
  onOpen: () => void,
  signal: AbortSignal,
): Promise<number | undefined> {
  const silence = new Watchdog(SILENCE_MS);
  try {
    const headers = lastId === "" ? {} : { "last-event-id": lastId };
    const response = await fetch(url, {
      headers,
      cache: "no-store",
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (response.status === 204 || isFinal(response.status)) return response.status;
    if (!response.ok || response.body === null) throw new Error(`the service answered ${response.status}`);
    onOpen();
    const feed = parser(onMessage);
    const decoder = new TextDecoder();
    for await (const bytes of chunks(response.body)) {
      silence.feed();
      feed(decoder.decode(bytes, { stream: true }));
    }
    return undefined;
  } finally {
    silence.stop();
  }
}

const isFinal = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** Not every browser iterates over a stream itself. */
async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

/** Takes the text of an event stream in pieces. Lines end with `\n`, or with `\r\n` behind some proxies. */
function parser(onMessage: (message: Message) => void): (text: string) => void {
  let rest = "";
  let fields: Partial<Record<string, string>> = {};
  return (text) => {
    rest += text;
    if (!text.includes("\n")) return;
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { data } = fields;
      if (line === "") {
        if (data !== undefined) onMessage({ ...fields, data });
        fields = {};
        continue;
      }
      // A comment is a field without a name.
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)/s.exec(line) ?? [];
      fields[name] = name === "data" && data !== undefined ? `${data}\n${value}` : value;
    }
  };
}

class Watchdog {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly limitMs: number) {
    this.feed();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  feed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(new Error("nothing was heard of the service")), this.limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Waits longer after each failure, and not all readers the same time. */
export function retryMs(failures: number, random: () => number = Math.random): number {
  const most = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS);
  return most * (0.5 + random() / 2);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
