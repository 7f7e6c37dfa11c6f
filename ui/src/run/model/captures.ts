// Real recordings of the tree, for tests.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Recording, type Run } from "./run";

const FOLDER = join(import.meta.dirname, "../../../../testdata/captures");

/** All queries of one label in the captures, request by request as they arrived. */
export function captured(label: string): Run {
  for (const run of everything().runs.values()) if (run.profile?.label === label) return run;
  throw new Error(`no capture of ${label}`);
}

let whole: Recording | undefined;

export function everything(): Recording {
  if (whole === undefined) {
    whole = new Recording();
    for (const name of readdirSync(FOLDER).filter((file) => file.endsWith(".gz")).sort()) {
      const text = gunzipSync(readFileSync(join(FOLDER, name))).toString();
      for (const line of text.split("\n")) whole.addLine(line);
    }
  }
  return whole;
}
