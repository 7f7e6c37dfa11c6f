// What the parts of the page share: the run, the moment that is looked at, and what a person chose.

import { untrack } from "svelte";
import { MediaQuery } from "svelte/reactivity";
import type { QuerySummary } from "../api/client";
import type { Parameters } from "../route/route";
import { foldPlan, nodesMaking } from "./model/fold";
import { firstLine, type Standing, standingOf, type Usual } from "./model/firstline";
import { type Graph, toGraph } from "./model/graph";
import { layOut } from "./model/layout";
import { linkPlans } from "./model/link";
import { hottest, momentAt, type Ranked } from "./model/moment";
import type { Finding, NodeId, PlanNode } from "./model/profile";
import type { Run } from "./model/run";
import { busyThreads } from "./model/threads";
import { type Times, timesOf } from "./model/times";
import { nodeWords, readAliases } from "./model/words";

/** Where choices are kept: the address, or memory in a file that was shared. */
export interface Choices {
  get(name: string): string | undefined;
  set(change: Parameters, how?: { replace?: boolean }): void;
}

/** Whether the service has looked for findings; `checked` rules of its own, or null where it did not look itself. */
export type Judged =
  | { is: "asked" }
  | { is: "done"; checked: number | null }
  | { is: "failed"; reason: string; again: () => void };

export const TABS = ["timeline", "compare", "history", "raw"] as const;
export type Tab = (typeof TABS)[number];

/** Steps of the slider: the nodes that make up so much of the time. */
export const COVERS = [50, 80, 90, 95, 99, 100] as const;
/** Plans up to this size are shown whole. */
const WHOLE_MAX = 8;
/** Of larger plans, the nodes that make up so much of the time. */
const LARGE_COVER = 95;
/** More nodes at first sight are too many to take in. */
const SHOWN_MAX = 30;
/** Few scans are always shown: they say what the query is about. */
const SCANS_MAX = 8;
const MINOR_ROLES: readonly string[] = ["projection", "map", "rename", "engine", "unknown"];
const TOP = 5;
const SETTLE_MS = 300;

/** Shown nodes by plan, as places in it, so that runs of one plan look the same. */
const shownBefore = new Map<string, ReadonlySet<number>>();

/** Where a table serves better than a picture one has to pan. */
export const narrow = new MediaQuery("max-width: 40rem");

export class RunView {
  /** Grows with what is heard. */
  #version = $state(0);
  summary = $state.raw<QuerySummary | null>(null);
  usual = $state.raw<Usual | null>(null);
  /** What the service found where the sender sent nothing. */
  serviceFindings = $state.raw<readonly Finding[]>([]);
  /** How judging the run stands; of a file, that its sender did. */
  judged = $state.raw<Judged>({ is: "done", checked: null });
  /** Nodes of folds that were opened. */
  #opened = $state.raw<ReadonlySet<NodeId>>(new Set());

  /** Where the scrubber is while it moves; undefined once the address says so. */
  #scrubMs = $state<number | null>();
  #settling: ReturnType<typeof setTimeout> | undefined;

  readonly run: Run;
  readonly choices: Choices;
  readonly lines: readonly string[];

  constructor(run: Run, choices: Choices, lines: readonly string[]) {
    this.run = run;
    this.choices = choices;
    this.lines = lines;
  }

  heard(): void {
    this.#version += 1;
  }

  readonly plan = $derived.by(() => {
    void this.#version;
    return this.run.plan;
  });
  readonly graph: Graph = $derived(toGraph(this.plan.physical));
  readonly logical: Graph = $derived(toGraph(this.plan.logical));
  readonly link = $derived(linkPlans(this.plan));
  readonly #aliases = $derived(readAliases(this.plan.physical));
  readonly finished = $derived.by(() => {
    void this.#version;
    return this.run.finished;
  });
  readonly profile = $derived.by(() => {
    void this.#version;
    return this.run.profile;
  });
  readonly findings: readonly Finding[] = $derived.by(() => {
    const sent = this.finished?.findings ?? [];
    return sent.length > 0 ? sent : this.serviceFindings;
  });
  readonly elapsedMs = $derived.by(() => {
    void this.#version;
    return this.run.elapsedMs;
  });
  readonly standing: Standing = $derived.by(() => {
    if (this.finished !== null) return standingOf(this.run);
    return this.summary?.status ?? "unfinished";
  });
  readonly threads = $derived.by(() => {
    void this.#version;
    return busyThreads(this.run);
  });
  readonly lineCount = $derived.by(() => {
    void this.#version;
    return this.lines.length;
  });

  /** The moment that is replayed; null is now, or the end. */
  readonly replayMs = $derived.by(() => {
    if (this.#scrubMs !== undefined) return this.#scrubMs;
    const given = Number(this.choices.get("t") ?? Number.NaN);
    return Number.isFinite(given) && given >= 0 ? given : null;
  });
  readonly moment = $derived.by(() => {
    void this.#version;
    return momentAt(this.run, this.replayMs);
  });
  /** The moment that is not replayed: the whole run so far. */
  readonly latest = $derived.by(() => {
    void this.#version;
    return this.replayMs === null ? this.moment : momentAt(this.run, null);
  });
  readonly ranked: Ranked[] = $derived.by(() => hottest(this.run, this.moment));
  readonly top: Ranked[] = $derived(this.ranked.slice(0, TOP));
  readonly times: Times = $derived.by(() => timesOf(this.run, this.latest));
  readonly isUncounted = $derived(this.times.isMostlyUncounted);
  /** What shares are of: where most of the time is in no counter, of what is counted alone. */
  readonly theCpu = $derived(this.isUncounted ? "the counted CPU" : "the CPU");
  readonly firstLine = $derived.by(() => firstLine(this.run, this.latest, this.standing, this.usual, this.findings));

  readonly tab: Tab = $derived.by(() => TABS.find((tab) => tab === this.choices.get("tab")) ?? "timeline");
  readonly asTable = $derived.by(() => this.choices.get("view") === "table" || (this.choices.get("view") === undefined && narrow.current));
  readonly showsLogical = $derived.by(() => this.choices.get("logical") === "1");
  readonly selected: PlanNode | null = $derived.by(() => this.graph.nodes.get(this.choices.get("node") ?? "") ?? null);
  readonly cover = $derived.by(() => {
    const given = Number(this.choices.get("show") ?? Number.NaN);
    if (COVERS.some((cover) => cover === given)) return given;
    const { graph, finished } = this;
    void finished;
    return untrack(() => this.#usualCover(graph));
  });

  /** Chosen when the plan, the slider or the end changes, never by a live sample: the picture must not jump. */
  readonly #shown: ReadonlySet<NodeId> = $derived.by(() => {
    const { cover, finished, graph } = this;
    void finished;
    return untrack(() => this.#choose(graph, cover));
  });
  /** The selected node where it would be folded: to select another one moves nothing. */
  readonly #revealed = $derived.by(() => {
    const id = this.selected?.id;
    return id === undefined || this.#shown.has(id) || this.#opened.has(id) ? null : id;
  });
  readonly folded = $derived.by(() => {
    const open = new Set([...this.#shown, ...this.#opened]);
    if (this.#revealed !== null) open.add(this.#revealed);
    return foldPlan(this.graph, open);
  });
  readonly layout = $derived(layOut(this.folded));

  /** As much of the time as few enough nodes make up. */
  #usualCover(graph: Graph): number {
    if (graph.order.length <= WHOLE_MAX) return 100;
    const ranked = hottest(this.run, momentAt(this.run, null));
    const covers = COVERS.filter((cover) => cover <= LARGE_COVER).toReversed();
    return covers.find((cover) => nodesMaking(cover / 100, ranked).size <= SHOWN_MAX) ?? COVERS[0];
  }

  #choose(graph: Graph, cover: number): ReadonlySet<NodeId> {
    if (cover === 100) return new Set(graph.order);
    const ranked = hottest(this.run, momentAt(this.run, null));
    const shown =
      ranked.length === 0
        ? new Set([...graph.nodes.values()].filter(({ role }) => !MINOR_ROLES.includes(role)).map(({ id }) => id))
        : nodesMaking(cover / 100, ranked);
    const scans = [...graph.nodes.values()].filter(({ role }) => role === "scan" || role === "dataframe");
    if (scans.length <= SCANS_MAX) for (const { id } of scans) shown.add(id);
    for (const { nodeId } of this.findings) if (nodeId !== null && graph.nodes.has(nodeId)) shown.add(nodeId);
    const fingerprint = this.run.profile?.fingerprint;
    if (!fingerprint || ranked.length === 0) return shown;

    const key = `${fingerprint} ${cover} ${graph.order.length}`;
    const before = shownBefore.get(key);
    const hot = ranked.slice(0, TOP).every(({ node }) => before?.has(graph.order.indexOf(node.id)));
    if (before && hot) return new Set(graph.order.filter((_, place) => before.has(place)));
    shownBefore.set(key, new Set([...shown].map((id) => graph.order.indexOf(id))));
    return shown;
  }

  readonly #words = $derived.by(() => {
    const words = new Map<NodeId, string>();
    for (const node of this.plan.physical) {
      const twin = this.logical.nodes.get(this.link.get(node.id) ?? "");
      words.set(node.id, nodeWords(node, this.#aliases) || (twin && nodeWords(twin)) || "");
    }
    return words;
  });

  /** The node's own words, or those of the logical node it carries out. */
  words(node: PlanNode): string {
    return this.#words.get(node.id) ?? nodeWords(node);
  }

  select(id: NodeId | null): void {
    this.choices.set({ node: id ?? undefined }, { replace: true });
  }

  open(members: readonly NodeId[]): void {
    this.#opened = new Set([...this.#opened, ...members]);
  }

  /** What the slider says; what was opened by hand folds again. */
  show(cover: number): void {
    this.#opened = new Set();
    this.choices.set({ show: String(cover) }, { replace: true });
  }

  /** Browsers allow few changes of the address: it follows once the scrubber rests. */
  replay(ms: number | null): void {
    this.#scrubMs = ms;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      this.choices.set({ t: ms === null ? undefined : String(Math.round(ms)) }, { replace: true });
      this.#scrubMs = undefined;
    }, SETTLE_MS);
  }

  /** Nothing is written into the address of another page. */
  leave(): void {
    clearTimeout(this.#settling);
  }

  nextHottest(): void {
    const at = this.top.findIndex(({ node }) => node.id === this.selected?.id);
    this.select(this.top[(at + 1) % Math.max(1, this.top.length)]?.node.id ?? null);
  }

  nextFinding(): void {
    const ids = this.findings.map(({ nodeId }) => nodeId).filter((id) => id !== null && this.graph.nodes.has(id));
    const next = ids[(ids.indexOf(this.selected?.id ?? "") + 1) % Math.max(1, ids.length)];
    if (next) this.select(next);
  }
}
