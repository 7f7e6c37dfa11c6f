import type { Counters } from "./counters";
import { readEvent, type Event, type Process, type Usage } from "./events";
import { type Exact, isObject, type Json, readJson } from "./json";
import { type NodeId, type Plan, type Profile, readProfile } from "./profile";

/** Counters of one node over time, both lists in the order of time. */
interface Track {
  elapsedMs: number[];
  counters: Counters[];
}

export interface Problem {
  /** 1-based. */
  line: number;
  reason: string;
}

/** Everything heard of one query so far. Grows with {@link Run.add}. */
export class Run {
  process: Process | null = null;
  started: Profile | null = null;
  finished: Profile | null = null;
  /** Elapsed time of each sample, ascending. */
  readonly sampleMs: number[] = [];
  /** CPU time of the whole process since the query's start, as the latest sample says; null where none does. */
  processCpuNs: Exact | null = null;
  /** What the process and its host had used by each sample, in the order of {@link sampleMs}. */
  readonly usage: Usage[] = [];
  readonly tracks = new Map<NodeId, Track>();

  constructor(readonly queryId: string) {}

  /** The latest profile: of the end, else of the start. */
  get profile(): Profile | null {
    return this.finished ?? this.started;
  }

  get plan(): Plan {
    const { finished, started } = this;
    // A query that failed may end with less than it began with.
    const best = finished && finished.plan.physical.length > 0 ? finished : (started ?? finished);
    return best?.plan ?? { physical: [], logical: [] };
  }

  /** Time from the start to the last thing heard. */
  get elapsedMs(): number {
    return Math.max(this.finished?.wallMs ?? 0, this.started?.wallMs ?? 0, this.sampleMs.at(-1) ?? 0);
  }

  add(event: Event): void {
    switch (event.type) {
      case "process":
        this.process = event.process;
        break;
      case "started":
        this.started ??= event.profile;
        break;
      case "finished":
        this.finished ??= event.profile;
        break;
      case "sample":
        this.addSample(event.elapsedMs, event.nodes, event.usage);
        if (event.usage.processCpuNs !== null) this.processCpuNs = later(this.processCpuNs, event.usage.processCpuNs);
        break;
      case "other":
        break;
    }
  }

  private addSample(elapsedMs: number, nodes: ReadonlyMap<NodeId, Counters>, usage: Usage): void {
    this.usage.splice(insert(this.sampleMs, elapsedMs), 0, usage);
    for (const [id, counters] of nodes) {
      let track = this.tracks.get(id);
      if (track === undefined) this.tracks.set(id, (track = { elapsedMs: [], counters: [] }));
      track.counters.splice(insert(track.elapsedMs, elapsedMs), 0, counters);
    }
  }
}

/** Samples may come late: of a clock that never goes back, the larger is the later. */
function later(a: Exact | null, b: Exact): Exact {
  return a === null || b > a ? b : a;
}

/** Puts a time where it belongs, behind equal ones, and says where that is. */
function insert(times: number[], time: number): number {
  const at = countUpTo(times, time);
  times.splice(at, 0, time);
  return at;
}

/** How many of the ascending times are at or before `time`. */
export function countUpTo(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Text that is kept to be looked at; what comes after it is read and not kept. */
export const KEPT_MAX_CHARS = 128 * 1024 * 1024;

/** What a file or a stream holds: its queries in order of appearance, its lines, and what could not be read. */
export class Recording {
  readonly runs = new Map<string, Run>();
  readonly lines: string[] = [];
  readonly problems: Problem[] = [];
  private process: Process | null = null;
  private count = 0;
  private kept = 0;

  constructor(private readonly keptMax = KEPT_MAX_CHARS) {}

  addLine(line: string): void {
    if (line.trim() === "") return;
    this.count += 1;
    if (this.kept + line.length <= this.keptMax) {
      this.kept += line.length;
      this.lines.push(line);
    }
    const event = readEvent(line);
    if (typeof event === "string") {
      this.problems.push({ line: this.count, reason: event });
      return;
    }
    if (event.type === "process") {
      this.process = event.process;
      for (const run of this.runs.values()) run.process ??= event.process;
      return;
    }
    if (event.queryId === null) return;
    let run = this.runs.get(event.queryId);
    if (run === undefined) {
      run = new Run(event.queryId);
      run.process = this.process;
      this.runs.set(event.queryId, run);
    }
    run.add(event);
  }
}

/** Reads an events file, or one profile document; what is broken or cut is named and the rest is kept. */
export function readRecording(text: string): Recording {
  const recording = new Recording();
  const document = text.length > 0 && text.includes("-telemetry/profile@1") ? wholeProfile(text) : null;
  if (document !== null) {
    recording.lines.push(text);
    const run = new Run(document.queryId);
    run.add({ type: "finished", queryId: document.queryId, seq: 0, profile: document });
    recording.runs.set(document.queryId, run);
    return recording;
  }
  for (const line of text.split("\n")) recording.addLine(line);
  return recording;
}

function wholeProfile(text: string): Profile | null {
  let value: Json;
  try {
    value = readJson(text);
  } catch {
    return null;
  }
  return isObject(value) ? readProfile(value) : null;
}
