// Follows `/api/live` and tells what changed, at most four times a second.

import { follow } from "./follow";
import { Hub, type LiveState } from "./hub";

const PAINT_MS = 250;

/** Follows until the page or worker goes. Returns what gives the state of now. */
export function startHub(
  onChange: (state: LiveState) => void,
  signal: AbortSignal = new AbortController().signal,
): () => LiveState {
  const hub = new Hub();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      onChange(hub.state());
    }, PAINT_MS);
  };
  void follow(
    "/api/live",
    {
      onMessage: (message) => {
        hub.onMessage(message, Date.now());
        tell();
      },
      onState: (state) => {
        hub.onState(state, Date.now());
        tell();
      },
    },
    signal,
  );
  return () => hub.state();
}
