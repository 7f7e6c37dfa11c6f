// The file a person opened: it stays in this page and goes nowhere.

import { readRecording, type Recording } from "../../model/run/run";
import { gunzip, isGzip } from "./gunzip";

const KNOWN = "events@1 and profile@1";
const SCHEMA = /"schema"\s*:\s*"([a-z][a-z0-9-]*-telemetry\/(?:events|profile)@(?!1")\d+)"/;

/** Why a file shows no query. */
export function whyNothing({ lines, problems }: Pick<Recording, "lines" | "problems">): string {
  if (lines.length === 0) return "it is empty";
  const [, later] = SCHEMA.exec(lines[0] ?? "") ?? [];
  if (later !== undefined) return `it is ${later}, and this page knows ${KNOWN}`;
  const [first] = problems;
  return `it holds no run that this page knows (${KNOWN})${first ? `; line ${first.line}: ${first.reason}` : ""}`;
}

class Opened {
  name = $state<string | null>(null);
  recording = $state.raw<Recording | null>(null);
  /** Why it could not be read, or not all of it. */
  problem = $state<string | null>(null);
  isReading = $state(false);

  async read(file: File): Promise<void> {
    this.isReading = true;
    this.problem = null;
    this.recording = null;
    this.name = file.name;
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const { bytes: decoded, cut } = isGzip(bytes) ? await gunzip(bytes) : { bytes, cut: false };
      const recording = readRecording(new TextDecoder().decode(decoded));
      const isEmpty = recording.runs.size === 0;
      const before = isEmpty ? ", and holds no run before that" : ": shown is what comes before";
      if (cut) this.problem = `its compressed part is cut off or broken${before}`;
      else if (isEmpty) this.problem = whyNothing(recording);
      this.recording = recording;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.isReading = false;
    }
  }
}

export const opened = new Opened();
