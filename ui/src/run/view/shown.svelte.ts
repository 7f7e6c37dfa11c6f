// The nodes of the plan that the picture shows; the others are folded.

import { untrack } from "svelte";
import { foldPlan, nodesMaking } from "../../model/run/fold";
import { type Graph, subtree } from "../../model/run/graph";
import { layOut } from "../../model/run/layout";
import { hottest, momentAt, type Ranked } from "../../model/run/moment";
import type { NodeId } from "../../model/run/profile";
import { ancestors } from "../../model/run/treegrid";
import type { Choices } from "./choices";
import type { RunData } from "./data.svelte";

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
/** The hottest nodes are shown whatever was shown before. */
const HOTTEST = 5;

/** Shown nodes by plan, as places in it, so that runs of one plan look the same. */
const shownBefore = new Map<string, ReadonlySet<number>>();

export class ShownPlan {
  /** Nodes of folds that were opened. */
  #opened = $state.raw<ReadonlySet<NodeId>>(new Set());
  /** Nodes below which everything is folded. */
  #collapsed = $state.raw<ReadonlySet<NodeId>>(new Set());
  readonly #data: RunData;
  readonly #choices: Choices;
  readonly #selected: () => NodeId | undefined;

  constructor(data: RunData, choices: Choices, selected: () => NodeId | undefined) {
    this.#data = data;
    this.#choices = choices;
    this.#selected = selected;
  }

  readonly cover = $derived.by(() => {
    const given = Number(this.#choices.get("show") ?? Number.NaN);
    if (COVERS.some((cover) => cover === given)) return given;
    const { graph, finished } = this.#data;
    void finished;
    return untrack(() => this.#usualCover(graph));
  });

  /** Chosen when the plan, the slider or the end changes, never by a live sample: the picture must not jump. */
  readonly #shown: ReadonlySet<NodeId> = $derived.by(() => {
    const { graph, finished } = this.#data;
    const { cover } = this;
    void finished;
    return untrack(() => this.#choose(graph, cover));
  });
  /** Nodes that have to be seen, whatever else is. */
  wanted = $state.raw<ReadonlySet<NodeId>>(new Set());
  /** The selected node where it would be folded: to select another one moves nothing. */
  readonly #revealed = $derived.by(() => {
    const id = this.#selected();
    if (id === undefined) return null;
    const isShown = this.#shown.has(id) || this.#opened.has(id) || this.wanted.has(id);
    return isShown && !ancestors(this.#data.graph, id).some((above) => this.#collapsed.has(above)) ? null : id;
  });
  readonly folded = $derived.by(() => {
    const open = new Set([...this.#shown, ...this.#opened, ...this.wanted]);
    const { graph } = this.#data;
    for (const top of this.#collapsed) for (const id of subtree(graph, top)) if (id !== top) open.delete(id);
    if (this.#revealed !== null) open.add(this.#revealed);
    return foldPlan(graph, open);
  });
  readonly #leaves = $derived.by(() => {
    const { order, children } = this.#data.graph;
    return order.filter((id) => !children.get(id)?.length).length;
  });
  readonly layout = $derived(layOut(this.folded, this.#leaves));

  open(members: readonly NodeId[]): void {
    const { graph } = this.#data;
    const above = new Set(members.flatMap((id) => ancestors(graph, id)));
    this.#collapsed = new Set([...this.#collapsed].filter((id) => !above.has(id)));
    this.#opened = new Set([...this.#opened, ...members]);
  }

  isCollapsed(id: NodeId): boolean {
    return this.#collapsed.has(id);
  }

  /** How many nodes are below one. */
  below(id: NodeId): number {
    return subtree(this.#data.graph, id).length - 1;
  }

  /** Folds all that is below a node. */
  collapse(id: NodeId): void {
    this.#collapsed = new Set([...this.#collapsed, id]);
  }

  /** Unfolds all that is below a node. */
  expand(id: NodeId): void {
    const all = subtree(this.#data.graph, id);
    this.#collapsed = new Set([...this.#collapsed].filter((one) => !all.includes(one)));
    this.open(all);
  }

  toggle(id: NodeId): void {
    if (this.below(id) === 0) return;
    if (this.isCollapsed(id)) this.expand(id);
    else this.collapse(id);
  }

  /** What the slider says; what was opened by hand folds again. */
  show(cover: number): void {
    this.#opened = new Set();
    this.#collapsed = new Set();
    this.#choices.set({ show: String(cover) }, { replace: true });
  }

  #ranked(): Ranked[] {
    return hottest(this.#data.run, momentAt(this.#data.run, null));
  }

  /** As much of the time as few enough nodes make up. */
  #usualCover(graph: Graph): number {
    if (graph.order.length <= WHOLE_MAX) return 100;
    const ranked = this.#ranked();
    const covers = COVERS.filter((cover) => cover <= LARGE_COVER).toReversed();
    return covers.find((cover) => nodesMaking(cover / 100, ranked).size <= SHOWN_MAX) ?? COVERS[0];
  }

  #choose(graph: Graph, cover: number): ReadonlySet<NodeId> {
    if (cover === 100) return new Set(graph.order);
    const ranked = this.#ranked();
    const nodes = [...graph.nodes.values()];
    const shown =
      ranked.length === 0
        ? new Set(nodes.filter(({ role }) => !MINOR_ROLES.includes(role)).map(({ id }) => id))
        : nodesMaking(cover / 100, ranked);
    const scans = nodes.filter(({ role }) => role === "scan" || role === "dataframe");
    if (scans.length <= SCANS_MAX) for (const { id } of scans) shown.add(id);
    for (const { nodeId } of this.#data.findings) if (nodeId !== null && graph.nodes.has(nodeId)) shown.add(nodeId);
    const fingerprint = this.#data.run.profile?.fingerprint;
    if (!fingerprint || ranked.length === 0) return shown;

    const key = `${fingerprint} ${cover} ${graph.order.length}`;
    const before = shownBefore.get(key);
    const hot = ranked.slice(0, HOTTEST).every(({ node }) => before?.has(graph.order.indexOf(node.id)));
    if (before && hot) return new Set(graph.order.filter((_, place) => before.has(place)));
    shownBefore.set(key, new Set([...shown].map((id) => graph.order.indexOf(id))));
    return shown;
  }
}
