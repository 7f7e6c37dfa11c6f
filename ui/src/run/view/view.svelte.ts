// What the parts of the page share: the run, the moment that is looked at, the nodes shown, and what a person chose.

import { clock } from "../../frame/clock.svelte";
import { narrow } from "../../frame/narrow.svelte";
import { ancestors } from "../../model/run/treegrid";
import { firstLine } from "../../model/run/firstline";
import type { NodeId, PlanNode } from "../../model/run/profile";
import type { Run } from "../../model/run/run";
import { epochMs, heatOf } from "../../units";
import { type Choices, type Shape, SHAPES, type Tab, TABS } from "./choices";
import { type FromService, RunData } from "./data.svelte";
import { FindInPlan } from "./find.svelte";
import { Replay } from "./replay.svelte";
import { ShownPlan } from "./shown.svelte";

export class RunView {
  readonly choices: Choices;
  readonly data: RunData;
  readonly replay: Replay;
  readonly shown: ShownPlan;
  readonly find: FindInPlan;

  constructor(run: Run, choices: Choices, lines: readonly string[], fromService?: FromService) {
    this.choices = choices;
    this.data = new RunData(run, lines, fromService);
    this.replay = new Replay(this.data, choices);
    this.find = new FindInPlan(this.data);
    this.shown = new ShownPlan(this.data, choices, () => this.selected?.id);
  }

  /** While it runs by the clock, which may differ from that of its host: the last sample is a floor. */
  readonly elapsedMs = $derived.by(() => {
    const { elapsedMs, standing, summary } = this.data;
    if (standing !== "running" || summary === null) return elapsedMs;
    return Math.max(clock.nowMs - epochMs(summary.started_unix_ns), elapsedMs);
  });
  readonly firstLine = $derived.by(() => {
    const { run, standing, service, findings } = this.data;
    return firstLine(run, this.replay.latest, standing, service.usual, findings, this.elapsedMs);
  });
  readonly tab: Tab = $derived.by(() => TABS.find((tab) => tab === this.choices.get("tab")) ?? "timeline");
  readonly shape: Shape = $derived.by(() => {
    const given = this.choices.get("view") ?? (narrow.current ? "table" : "picture");
    return SHAPES.find((shape) => shape === given) ?? "picture";
  });
  readonly showsLogical = $derived.by(() => this.choices.get("logical") === "1");
  readonly selected: PlanNode | null = $derived.by(
    () => this.data.graph.nodes.get(this.choices.get("node") ?? "") ?? null,
  );

  /** The node with most time; none where it is hardly any of the time of the run. */
  readonly hottest = $derived.by(() => {
    const [first] = this.replay.top;
    return first && heatOf(first.moment.share) > 0 ? first.node.id : undefined;
  });

  /** The nodes from the root down to the hottest one. */
  readonly hotPath: ReadonlySet<NodeId> = $derived.by(() => {
    const { hottest: id } = this;
    return new Set(id === undefined ? [] : [id, ...ancestors(this.data.graph, id)]);
  });

  /** Unfolds the way to the hottest node, and selects it. */
  expandHottest(): void {
    const id = this.hottest;
    if (id === undefined) return;
    this.shown.open([...this.hotPath, ...(this.data.graph.children.get(id) ?? [])]);
    this.select(id);
  }

  select(id: NodeId | null): void {
    this.choices.set({ node: id ?? undefined }, { replace: true });
  }

  nextHottest(): void {
    const { top } = this.replay;
    const at = top.findIndex(({ node }) => node.id === this.selected?.id);
    this.select(top[(at + 1) % Math.max(1, top.length)]?.node.id ?? null);
  }

  nextFinding(): void {
    const { findings, graph } = this.data;
    const ids = findings.map(({ nodeId }) => nodeId).filter((id) => id !== null && graph.nodes.has(id));
    const next = ids[(ids.indexOf(this.selected?.id ?? "") + 1) % Math.max(1, ids.length)];
    if (next) this.select(next);
  }
}
