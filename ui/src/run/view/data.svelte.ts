// What is known of a run: what its sender sent so far, and what the service adds.

import type { QuerySummary } from "../../api/client";
import { isCancelled } from "../../model/cancelled";
import { type Standing, standingOf, type Usual } from "../../model/run/firstline";
import { type Graph, toGraph } from "../../model/run/graph";
import { linkPlans } from "../../model/run/link";
import type { Finding, PlanNode } from "../../model/run/profile";
import type { Run } from "../../model/run/run";
import { busyThreads, tellsBusyTime } from "../../model/run/threads";
import { nodeWords, readAliases } from "../../model/run/words";

/** Whether the service has looked for findings; `checked` rules of its own, or null where it did not look itself. */
export type Judged =
  { is: "asked" } | { is: "done"; checked: number | null } | { is: "failed"; reason: string; again: () => void };

/** What the service says of a run beside its events. */
export interface FromService {
  readonly usual: Usual | null;
  /** What it found where the sender sent nothing. */
  readonly findings: readonly Finding[];
  readonly judged: Judged;
}

/** Of a file, its sender judged the run. */
export const NO_SERVICE: FromService = { usual: null, findings: [], judged: { is: "done", checked: null } };

export class RunData {
  /** A run changes in place: each change makes a new holder of it, so that what is derived from it follows. */
  #now: { readonly run: Run };
  readonly queryId: string;
  summary = $state.raw<QuerySummary | null>(null);

  constructor(
    run: Run,
    readonly lines: readonly string[],
    readonly service = NO_SERVICE,
  ) {
    this.#now = $state.raw({ run });
    this.queryId = run.queryId;
  }

  /** The run has more events. */
  update(): void {
    this.#now = { run: this.#now.run };
  }

  /** Whatever reads it is computed again at each update. */
  get run(): Run {
    return this.#now.run;
  }

  readonly plan = $derived.by(() => this.run.plan);
  readonly finished = $derived.by(() => this.run.finished);
  readonly profile = $derived.by(() => this.run.profile);
  readonly elapsedMs = $derived.by(() => this.run.elapsedMs);
  readonly threads = $derived.by(() => busyThreads(this.run));
  readonly tellsBusyTime = $derived.by(() => tellsBusyTime(this.run));
  readonly lineCount = $derived.by(() => (this.#now, this.lines.length));

  readonly graph: Graph = $derived(toGraph(this.plan.physical));
  readonly logical: Graph = $derived(toGraph(this.plan.logical));
  readonly link = $derived(linkPlans(this.plan));
  readonly findings: readonly Finding[] = $derived.by(() => {
    const sent = this.finished?.findings ?? [];
    return sent.length > 0 ? sent : this.service.findings;
  });
  readonly standing: Standing = $derived.by(() => {
    if (this.finished !== null) return standingOf(this.run);
    return this.summary?.status ?? "unfinished";
  });
  /** Whether nodes have shares of the time: some engines never tell how long one worked. */
  readonly mayTellTimes = $derived.by(() => this.standing === "running" || this.tellsBusyTime);

  readonly isCancelled = $derived.by(() => isCancelled(this.finished?.failed));

  readonly #words = $derived.by(() => {
    const aliases = readAliases(this.plan.physical);
    return new Map(
      this.plan.physical.map((node) => {
        const twin = this.logical.nodes.get(this.link.get(node.id) ?? "");
        return [node.id, nodeWords(node, aliases) || (twin && nodeWords(twin)) || ""] as const;
      }),
    );
  });

  /** The node's own words, or those of the logical node it carries out. */
  words(node: PlanNode): string {
    return this.#words.get(node.id) ?? nodeWords(node);
  }
}
