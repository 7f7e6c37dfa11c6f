// Holds the one connection that all tabs share: a browser allows six to a host.

import { startHub } from "./shared";

const ports = new Set<MessagePort>();
let stop = new AbortController();
let hub = begin();

function begin(): ReturnType<typeof startHub> {
  return startHub((state) => {
    for (const port of ports) port.postMessage(state);
  }, stop.signal);
}

/** Follows anew, as whoever is logged in now. */
function restart(): void {
  stop.abort();
  stop = new AbortController();
  hub = begin();
}

(globalThis as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  ports.add(port);
  port.onmessage = ({ data }) => (data === "restart" ? restart() : ports.delete(port));
  // The stream may have ended with a session; who comes now has another.
  if (hub().stream.is === "ended") restart();
  port.postMessage(hub());
};
