// Holds the one connection that all tabs share: a browser allows six to a host.

import { startHub } from "./shared";

const ports = new Set<MessagePort>();
const hub = startHub((state) => {
  for (const port of ports) port.postMessage(state);
});

(globalThis as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  ports.add(port);
  port.onmessage = () => ports.delete(port);
  port.postMessage(hub());
};
