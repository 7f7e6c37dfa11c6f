import { afterEach, expect, test, vi } from "vitest";
import { follow, retryMs, type StreamState } from "./follow";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Answers one request after the other and notes what was asked; at the end nobody answers any more. */
function service(...answers: (Response | Error)[]): (string | null)[] {
  const asked: (string | null)[] = [];
  vi.stubGlobal("fetch", (_: string, { headers }: { headers: HeadersInit }) => {
    asked.push(new Headers(headers).get("last-event-id"));
    const answer = answers.shift() ?? new Response(null, { status: 204 });
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  });
  return asked;
}

async function followed(): Promise<{ data: string[]; states: StreamState["is"][] }> {
  vi.useFakeTimers();
  const data: string[] = [];
  const states: StreamState["is"][] = [];
  const follower = {
    onMessage: (message: { data: string }) => data.push(message.data),
    onState: ({ is }: StreamState) => states.push(is),
  };
  const done = follow("/api/live", follower, new AbortController().signal);
  await vi.runAllTimersAsync();
  await done;
  return { data, states };
}

test("a lost stream goes on behind the last message that arrived", async () => {
  const asked = service(new Response("id: 4\ndata: a\n\n"), new Error("refused"), new Response("id: 5\ndata: b\n\n"));
  expect(await followed()).toEqual({
    data: ["a", "b"],
    states: ["connecting", "open", "lost", "lost", "open", "lost", "ended"],
  });
  expect(asked).toEqual([null, "4", "4", "5"]);
});

test("messages are read wherever the pieces are cut, and comments are none", async () => {
  const stream = ': hello\n\nid: 7\ndata: {"a":1}\ndata: {"ä":2}\n\nevent: pulse\ndata:x\r\n\r\n';
  const pieces = [...new TextEncoder().encode(stream)].map((byte) => Uint8Array.of(byte));
  const cut = new ReadableStream({
    start: (body) => {
      for (const piece of pieces) body.enqueue(piece);
      body.close();
    },
  });
  const asked = service(new Response(cut), new Response(stream));
  expect((await followed()).data).toEqual(['{"a":1}\n{"ä":2}', "x", '{"a":1}\n{"ä":2}', "x"]);
  expect(asked).toEqual([null, "7", "7"]);
});

test("a service that is busy is asked again, one that knows no such query is not", async () => {
  const asked = service(new Response("", { status: 503 }), new Response("", { status: 404 }));
  expect((await followed()).states).toEqual(["connecting", "lost", "ended"]);
  expect(asked).toHaveLength(2);
});

test("a connection that died silently is noticed", async () => {
  vi.useFakeTimers();
  const states: StreamState[] = [];
  const stopped = new AbortController();
  vi.stubGlobal(
    "fetch",
    (_: string, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  );
  const done = follow("/api/live", { onMessage: () => {}, onState: (state) => states.push(state) }, stopped.signal);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(states.at(-1)).toEqual({ is: "lost", reason: "nothing was heard of the service" });
  stopped.abort();
  await vi.runAllTimersAsync();
  await done;
});

test("pauses grow to a bound and differ", () => {
  expect([0, 1, 2, 9].map((failures) => retryMs(failures, () => 1))).toEqual([500, 1000, 2000, 10_000]);
  expect(retryMs(9, () => 0)).toBe(5000);
});
