// What is searched in the plan: the nodes that match, and the one that is looked at.

import { nodeNumber } from "../../model/run/graph";
import type { NodeId } from "../../model/run/profile";
import type { RunData } from "./data.svelte";

export class FindInPlan {
  #text = $state("");
  /** Place of the match that was gone to; none before the first Enter. */
  #at = $state(-1);
  readonly #data: RunData;

  constructor(data: RunData) {
    this.#data = data;
  }

  get text(): string {
    return this.#text;
  }
  set text(text: string) {
    this.#text = text;
    this.#at = -1;
  }

  readonly isOn = $derived(this.#text.trim() !== "");
  /** From the root down. */
  readonly matches: readonly NodeId[] = $derived.by(() => {
    const wanted = this.#text.trim().toLowerCase();
    if (wanted === "") return [];
    const { graph } = this.#data;
    return graph.order.filter((id) => {
      const node = graph.nodes.get(id);
      if (node === undefined) return false;
      return `${node.kind} #${nodeNumber(id)} ${id} ${this.#data.words(node)}`.toLowerCase().includes(wanted);
    });
  });
  readonly ids: ReadonlySet<NodeId> = $derived(new Set(this.matches));
  /** The match to look at: the one gone to, before that the first. */
  readonly current: NodeId | undefined = $derived(this.matches[Math.max(0, this.#at)]);
  /** 1-based; 0 where nothing matches. */
  readonly place = $derived(this.matches.length === 0 ? 0 : Math.max(0, this.#at) + 1);

  /** Goes to the next match, or the one before, around the ends. */
  go(step: 1 | -1): NodeId | undefined {
    const count = this.matches.length;
    if (count === 0) return undefined;
    this.#at = this.#at < 0 ? (step > 0 ? 0 : count - 1) : (this.#at + step + count) % count;
    return this.matches[this.#at];
  }
}
