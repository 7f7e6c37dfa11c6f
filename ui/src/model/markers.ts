// What happened in a range of time beside the runs: changes of a query and its issues. Charts mark them.

import type { UnixNs } from "../units";
import type { Change } from "./change";
import { KINDS, type Issue } from "./issue";

export interface Marker {
  id: string;
  at: UnixNs;
  kind: "slower" | "failing" | "faster" | "issue" | "over" | "deploy";
  /** What a reader is told who points at it. */
  words: string;
}

/** Where changes began. */
export function changeMarkers(changes: readonly Change[]): Marker[] {
  return changes.map(({ id, kind, since_unix_ns }) => ({
    id,
    at: since_unix_ns,
    kind: kind === "failing" || kind === "faster" ? kind : "slower",
    words: `${kind.replace("_", " ")} since`,
  }));
}

/** Where issues were opened, and where those that are over were resolved. */
export function issueMarkers(
  issues: readonly Pick<Issue, "id" | "kind" | "state" | "opened_unix_ns" | "moved_unix_ns">[],
): Marker[] {
  return issues.flatMap(({ id, kind, state, opened_unix_ns, moved_unix_ns }) => {
    const { name } = KINDS[kind];
    const markers: Marker[] = [
      { id: `${id} opened`, at: opened_unix_ns, kind: "issue", words: `issue opened: ${name}` },
    ];
    if (state === "resolved") {
      markers.push({ id: `${id} resolved`, at: moved_unix_ns, kind: "over", words: `issue resolved: ${name}` });
    }
    return markers;
  });
}
