// Runs with plans of any size, made up for a test: seeded, so that every run of a test sees the same.

import { randomUUID } from "node:crypto";
import type { Service } from "./service";

const SCHEMA = "engine-telemetry/events@1";
const FIRST_ID = 4_294_967_297;

interface Node {
  id: number;
  kind: string;
  role: string;
  inputs: number[];
  properties: object;
}

/** A chain of joins, each with a filtered scan beside it, under a sort. */
export function joins(count: number): Node[] {
  const nodes: Node[] = [];
  const add = (kind: string, role: string, inputs: number[], properties: object): number => {
    const id = FIRST_ID + nodes.length;
    nodes.push({ id, kind, role, inputs, properties });
    return id;
  };
  let top = add("Scan", "scan", [], { table: "orders" });
  while (nodes.length + 3 < count) {
    const at = nodes.length;
    const scan = add("Scan", "scan", [], { table: `prices${at}x` });
    const filter = add("Filter", "selection", [scan], { predicate: `valid_until_${at} > 5` });
    top = add("HashJoin", "join", [top, filter], { keys: [`key_${at}`] });
  }
  add("Sort", "sort", [top], { order: ["day"] });
  return nodes;
}

/** The same with the first filter above the join that it stood below. */
export function withLateFilter(nodes: readonly Node[]): Node[] {
  const [first, scan, filter, join, ...rest] = nodes;
  if (!first || !scan || !filter || !join) throw new Error("a plan of joins has these");
  const late = { ...filter, inputs: [join.id] };
  const reads = (inputs: number[]): number[] => inputs.map((id) => (id === join.id ? late.id : id));
  const early = { ...join, inputs: [first.id, scan.id] };
  return [first, scan, early, late, ...rest.map((node) => ({ ...node, inputs: reads(node.inputs) }))];
}

export interface Told {
  label: string;
  plan: readonly Node[];
  fingerprint: string;
  samples?: number;
  agoMs?: number;
  version?: string;
  host?: string;
  more?: object;
  /** What samples say beside the nodes. */
  usage?: (sample: number) => object;
}

/** Sends a run that ended; its third node worked most. */
export async function sendRun(service: Service, told: Told): Promise<string> {
  const { label, plan, fingerprint, samples = 4, agoMs = 3_600_000, version = null, host = "h-1", more, usage } = told;
  const query_id = randomUUID();
  const wall_ms = samples * 1000 + 500;
  const busyNs = (at: number, part: number): number => Math.round(part * (at === 2 ? 4e9 : 1e7 + at * 1e4));
  const counters = (at: number, part: number): object => ({
    busy_ns: busyNs(at, part),
    rows_in: Math.round(part * 1000 * (at + 1)),
    rows_out: Math.round(part * 700 * (at + 1)),
  });
  const profile = (part?: number): object => ({
    schema: "engine-telemetry/profile@1",
    query_id,
    label,
    fingerprint,
    wall_ms,
    started_unix_ns: (Date.now() - agoMs) * 1e6,
    ...more,
    plan: {
      physical: plan.map((node, at) => (part === undefined ? node : { ...node, metrics: counters(at, part) })),
      logical: [],
    },
  });
  const event = (seq: number, type: string, members: object): object => ({ schema: SCHEMA, seq, type, ...members });
  await service.send(
    event(1, "process", { id: randomUUID(), service: "etl", host, program_version: version }),
    event(2, "query.started", { query_id, profile: profile() }),
    ...Array.from({ length: samples }, (_, at) =>
      event(3 + at, "query.progress", {
        query_id,
        elapsed_ms: (at + 1) * 1000,
        nodes: Object.fromEntries(plan.map((node, place) => [node.id, counters(place, (at + 1) / samples)])),
        ...usage?.(at + 1),
      }),
    ),
    event(3 + samples, "query.finished", { query_id, profile: profile(1) }),
  );
  return `/queries/${query_id}`;
}
