import type { UnixNs } from "../../units";
import type { Counters } from "./counters";
import { asCount, asList, asNumber, asString, type Exact, isObject, type Json, type JsonObject } from "./json";

/** A node's id in decimal digits: it exceeds 2^32, may exceed 2^53, and is a key in samples. */
export type NodeId = string;

export const ROLES = [
  "scan",
  "dataframe",
  "selection",
  "projection",
  "map",
  "rename",
  "function",
  "join",
  "theta_join",
  "cross_join",
  "semi_anti_join",
  "aggregation",
  "sort",
  "top_k",
  "distinct",
  "union",
  "sink",
  "engine",
  "unknown",
] as const;
export type Role = (typeof ROLES)[number];

export interface PlanNode {
  id: NodeId;
  kind: string;
  role: Role;
  inputs: NodeId[];
  properties: JsonObject;
  metrics: Counters | null;
}

export interface Plan {
  physical: PlanNode[];
  logical: PlanNode[];
}

export interface Evidence {
  name: string;
  value: number | string | null;
  unit: string | null;
}

export interface Finding {
  rule: string;
  kind: string;
  level: string;
  nodeId: NodeId | null;
  nodeKind: string | null;
  /** Of the query's CPU time, 0 to 1. */
  cpuShare: number | null;
  /** Of the wall time in which nothing else could run, 0 to 1. */
  blockedShare: number | null;
  title: string;
  fix: string | null;
  evidence: Evidence[];
}

export interface CallSite {
  filepath: string;
  lineno: number;
  function: string;
}

export interface Profile {
  queryId: string;
  label: string | null;
  fingerprint: string | null;
  startedUnixNs: UnixNs | null;
  wallMs: number;
  planningMs: number | null;
  cpuMs: number | null;
  resultRows: Exact | null;
  callSite: CallSite | null;
  /** Of the trace the run is a part of. */
  traceId: string | null;
  spanId: string | null;
  failed: string | null;
  engine: string | null;
  engineVersion: string | null;
  cpuCount: number | null;
  /** Counters of the query as a whole. */
  counters: Counters;
  plan: Plan;
  findings: Finding[];
}

const SCHEMA = /^([a-z][a-z0-9-]*)-telemetry\/profile@1$/;

/** Takes from a profile document what it can; null where it is none. */
export function readProfile(value: Json | undefined): Profile | null {
  if (!isObject(value)) return null;
  const queryId = asString(value["query_id"]);
  const brand = SCHEMA.exec(asString(value["schema"]) ?? "")?.[1];
  if (queryId === null || brand === undefined) return null;
  const plan = isObject(value["plan"]) ? value["plan"] : {};
  const diagnostics = isObject(value["diagnostics"]) ? value["diagnostics"] : {};
  const insights = isObject(value["insights"]) ? value["insights"] : {};
  return {
    queryId,
    label: asString(value["label"]),
    fingerprint: asString(value["fingerprint"]),
    startedUnixNs: typeof value["started_unix_ns"] === "bigint" ? value["started_unix_ns"] : null,
    wallMs: asNumber(value["wall_ms"]) ?? 0,
    planningMs: asNumber(value["planning_ms"]),
    cpuMs: asNumber(value["cpu_ms"]),
    resultRows: asCount(value["result_rows"]),
    callSite: readCallSite(value["call_site"]),
    traceId: asString(value["trace_id"]),
    spanId: asString(value["span_id"]),
    failed: asString(value["failed"]),
    engine: brand === "engine" ? null : brand,
    engineVersion: asString(value["engine_version"]) ?? asString(value[`${brand}_version`]),
    cpuCount: asNumber(diagnostics["cpu_count"]),
    counters: isObject(value["query_metrics"]) ? value["query_metrics"] : {},
    plan: { physical: readNodes(plan["physical"]), logical: readNodes(plan["logical"]) },
    findings: readFindings(insights["findings"]),
  };
}

function readId(value: Json | undefined): NodeId | null {
  const id = asCount(value);
  return id === null ? null : id.toString();
}

/** Nodes with an id, each once; inputs that name no node of the plan, or the node itself, are left out. */
function readNodes(value: Json | undefined): PlanNode[] {
  const nodes = new Map<NodeId, PlanNode>();
  for (const item of asList(value)) {
    if (!isObject(item)) continue;
    const id = readId(item["id"]);
    if (id === null || nodes.has(id)) continue;
    nodes.set(id, {
      id,
      kind: asString(item["kind"]) ?? "Unknown",
      role: ROLES.find((role) => role === item["role"]) ?? "unknown",
      inputs: asList(item["inputs"])
        .map(readId)
        .filter((input) => input !== null),
      properties: isObject(item["properties"]) ? item["properties"] : {},
      metrics: isObject(item["metrics"]) ? item["metrics"] : null,
    });
  }
  for (const node of nodes.values()) {
    node.inputs = node.inputs.filter((input) => input !== node.id && nodes.has(input));
  }
  return [...nodes.values()];
}

export function readFindings(value: Json | undefined): Finding[] {
  return asList(value).flatMap(readFinding);
}

function readFinding(value: Json): Finding[] {
  if (!isObject(value)) return [];
  const title = asString(value["title"]);
  if (title === null) return [];
  return [
    {
      rule: asString(value["rule"]) ?? "",
      kind: asString(value["kind"]) ?? "",
      level: asString(value["level"]) ?? "",
      nodeId: readId(value["node_id"]),
      nodeKind: asString(value["node_kind"]),
      cpuShare: asNumber(value["cpu_share"]),
      blockedShare: asNumber(value["blocked_share"]),
      title,
      fix: asString(value["fix"]),
      evidence: asList(value["evidence"])
        .filter(isObject)
        .flatMap((item) => {
          const name = asString(item["name"]);
          if (name === null) return [];
          return [{ name, value: asString(item["value"]) ?? asNumber(item["value"]), unit: asString(item["unit"]) }];
        }),
    },
  ];
}

function readCallSite(value: Json | undefined): CallSite | null {
  if (!isObject(value)) return null;
  const filepath = asString(value["filepath"]);
  const lineno = asNumber(value["lineno"]);
  if (filepath === null || lineno === null) return null;
  return { filepath, lineno, function: asString(value["function"]) ?? "" };
}
