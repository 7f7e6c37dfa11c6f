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

/** Queries that call Python (crates/insights/tests/it/user_code.rs), and TPC-H on DataFusion (tpch.rs), by label. */
export function insightsCaptured(file: "udf" | "tpch", label: string): Run {
  const recording = new Recording();
  const path = join(import.meta.dirname, `../../../../crates/insights/tests/data/${file}.jsonl.gz`);
  for (const line of gunzipSync(readFileSync(path)).toString().split("\n")) recording.addLine(line);
  for (const run of recording.runs.values()) if (run.profile?.label === label) return run;
  throw new Error(`no capture of ${label}`);
}

let whole: Recording | undefined;

export function everything(): Recording {
  if (whole === undefined) {
    whole = new Recording();
    for (const name of readdirSync(FOLDER)
      .filter((file) => file.endsWith(".gz"))
      .sort()) {
      const text = gunzipSync(readFileSync(join(FOLDER, name))).toString();
      for (const line of text.split("\n")) whole.addLine(line);
    }
  }
  return whole;
}
