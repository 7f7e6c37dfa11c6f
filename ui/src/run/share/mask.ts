// What leaves when a run is shared: written anew from what this page knows, so that nothing unknown goes along.

import { isCancelled } from "../../model/cancelled";
import { isObject, type Json, type JsonObject, writeExact } from "../../model/run/json";
import { customCounters, isDone, plainCounters, type Counters } from "../../model/run/counters";
import type { Finding, PlanNode, Profile } from "../../model/run/profile";
import type { Run } from "../../model/run/run";
import { type Masks, maskText, maskValue, Secrets } from "./mask-text";

export const ALL_MASKED: Masks = { literals: true, paths: true, errors: true, label: true, place: true };

/** The events of the shared run, as JSON Lines. `findings` are those that are shown, also those of the service. */
export function sharedLines(
  run: Run,
  masks: Masks,
  findings: readonly Finding[] = run.finished?.findings ?? [],
): string[] {
  const lines: string[] = [];
  const push = (type: string, fields: JsonObject): void => {
    lines.push(writeExact({ schema: "engine-telemetry/events@1", seq: lines.length + 1, type, ...fields }));
  };
  const { process, started, finished, queryId: query_id } = run;
  push("process", {
    id: "00000000-0000-0000-0000-000000000000",
    service: masks.place ? null : (process?.service ?? null),
    environment: masks.place ? null : (process?.environment ?? null),
    host: masks.place ? "masked" : (process?.host ?? "unknown"),
  });
  const secrets = secretsOf(run, masks);
  if (started) push("query.started", { query_id, profile: profileJson(started, masks, [], secrets) });
  for (const [elapsed_ms, nodes] of samples(run)) push("query.progress", { query_id, elapsed_ms, nodes });
  if (finished) push("query.finished", { query_id, profile: profileJson(finished, masks, findings, secrets) });
  return lines;
}

/** What is masked anywhere in the plans. */
function secretsOf(run: Run, masks: Masks): Secrets {
  const secrets = new Secrets(masks);
  for (const profile of [run.started, run.finished]) {
    for (const { properties } of [...(profile?.plan.physical ?? []), ...(profile?.plan.logical ?? [])])
      secrets.add("", properties);
  }
  return secrets;
}

function samples(run: Run): Map<number, JsonObject> {
  const found = new Map<number, JsonObject>(run.sampleMs.map((ms) => [ms, {}]));
  for (const [id, track] of run.tracks) {
    track.elapsedMs.forEach((ms, i) => {
      const sample = found.get(ms);
      const counters = track.counters[i];
      if (sample && counters) sample[id] = countersJson(counters);
    });
  }
  return found;
}

function countersJson(counters: Counters): JsonObject {
  const custom = customCounters(counters).map(({ key, unit, value }): JsonObject => ({ key, unit, value }));
  return {
    ...Object.fromEntries(plainCounters(counters)),
    ...(custom.length > 0 && { custom }),
    ...(isDone(counters) && { done: true }),
  };
}

function profileJson(profile: Profile, masks: Masks, findings: readonly Finding[], secrets: Secrets): JsonObject {
  const { callSite } = profile;
  return {
    schema: "engine-telemetry/profile@1",
    query_id: profile.queryId,
    engine_version: profile.engineVersion,
    label: masks.label ? null : profile.label,
    fingerprint: profile.fingerprint,
    started_unix_ns: profile.startedUnixNs,
    wall_ms: profile.wallMs,
    planning_ms: profile.planningMs,
    cpu_ms: profile.cpuMs,
    query_metrics: countersJson(profile.counters),
    result_rows: profile.resultRows,
    call_site: masks.paths || !callSite ? null : { ...callSite },
    failed: failedText(profile.failed, masks),
    diagnostics: profile.cpuCount === null ? {} : { cpu_count: profile.cpuCount },
    plan: { physical: nodesJson(profile.plan.physical, masks), logical: nodesJson(profile.plan.logical, masks) },
    insights: { schema: "insights@1", findings: findings.map((finding) => findingJson(finding, masks, secrets)) },
  };
}

/** Without its text, a cancelled run is still told from one that failed. */
function failedText(failed: string | null, masks: Masks): string | null {
  if (failed === null || !masks.errors) return failed;
  return isCancelled(failed) ? "cancelled" : "<error>";
}

function nodesJson(nodes: readonly PlanNode[], masks: Masks): JsonObject[] {
  return nodes.map(({ id, kind, role, inputs, properties, metrics }) => ({
    id: BigInt(id),
    kind,
    role,
    inputs: inputs.map(BigInt),
    properties: maskValue("", properties, masks),
    ...(metrics && { metrics: countersJson(metrics) }),
  }));
}

function findingJson(finding: Finding, masks: Masks, secrets: Secrets): JsonObject {
  return {
    rule: finding.rule,
    kind: finding.kind,
    level: finding.level,
    node_id: finding.nodeId === null ? null : BigInt(finding.nodeId),
    node_kind: finding.nodeKind,
    cpu_share: finding.cpuShare,
    blocked_share: finding.blockedShare,
    title: secrets.maskSentence(finding.title),
    fix: finding.fix === null ? null : secrets.maskSentence(finding.fix),
    evidence: finding.evidence.map(({ name, value, unit }) => ({
      name,
      value: typeof value === "string" ? maskText(secrets.maskSentence(value), masks) : value,
      unit,
    })),
  };
}

/** Every text that leaves, each once, in order: what a person looks through before sharing. */
export function textsLeaving(
  run: Run,
  masks: Masks,
  findings: readonly Finding[] = run.finished?.findings ?? [],
): string[] {
  const texts = new Set<string>();
  const secrets = secretsOf(run, masks);
  const visit = (key: string, value: Json): void => {
    if (
      typeof value === "string" &&
      !["schema", "type", "query_id", "kind", "role", "id", "unit", "key", "rule", "level", "node_kind"].includes(key)
    )
      texts.add(value);
    else if (Array.isArray(value)) for (const item of value) visit(key, item);
    else if (isObject(value)) for (const [name, item] of Object.entries(value)) visit(name, item);
  };
  for (const profile of [run.started, run.finished])
    if (profile) visit("", profileJson(profile, masks, profile === run.finished ? findings : [], secrets));
  const place = run.process;
  if (!masks.place && place)
    for (const text of [place.service, place.environment, place.host]) if (text) texts.add(text);
  texts.delete("");
  return [...texts];
}

/** How much leaves, for the preview. */
export function countsLeaving(run: Run): { nodes: number; samples: number } {
  const { physical, logical } = run.plan;
  return { nodes: physical.length + logical.length, samples: run.sampleMs.length };
}
