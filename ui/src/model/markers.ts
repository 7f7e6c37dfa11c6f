// What happened in a range of time beside the runs: changes of a query, its issues, and what people noted. Charts mark
// them.

import type { Schemas } from "../api/client";
import type { UnixNs } from "../units";
import type { Change } from "./change";
import { KINDS, type Issue } from "./issue";

export interface Marker {
  id: string;
  at: UnixNs;
  kind: "slower" | "failing" | "faster" | "issue" | "over" | "deploy" | "note";
  /** What a reader is told who points at it. */
  words: string;
}

/** Characters of a note that are shown at its marker. */
const NOTE_MAX = 200;

/** Where changes began. */
export function changeMarkers(changes: readonly Change[]): Marker[] {
  return changes.map(({ id, kind, since_unix_ns }) => ({
    id,
    at: since_unix_ns,
    kind: kind === "failing" || kind === "faster" ? kind : "slower",
    words: `${kind.replace("_", " ")} since`,
  }));
}

/** The moments that notes are about. */
export function noteMarkers(notes: readonly Schemas["QueryNote"][]): Marker[] {
  return notes.map(({ id, unix_ns, text }) => ({
    id,
    at: unix_ns,
    kind: "note",
    words: `note: ${text.length > NOTE_MAX ? `${text.slice(0, NOTE_MAX)}…` : text}`,
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
