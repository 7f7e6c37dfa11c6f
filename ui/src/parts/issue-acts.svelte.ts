// What people do to issues.

import { post, type Schemas } from "../api/client";
import type { IssueKey } from "../model/issue-keys";
import { address } from "../route/address.svelte";
import { issueHref } from "../route/route";
import { Acts, nameToSend } from "./acts.svelte";

export type Detail = Schemas["IssueDetail"];
export type Mute = Partial<Pick<Schemas["IssueMuteAct"], "until_unix_ns" | "times_worse" | "until_other">>;
export type Act =
  | { what: "acknowledge" | "resolve" | "reopen"; comment?: string }
  | { what: "mute"; until: Mute; comment?: string }
  | { what: "note"; text: string };

const DONE: Record<Act["what"], string> = {
  acknowledge: "Acknowledged",
  resolve: "Resolved",
  reopen: "Reopened",
  mute: "Muted",
  note: "Noted",
};

export class IssueActs extends Acts {
  /** Does it; the issue as it is then, undefined where it was not done. */
  act(id: string, act: Act, of = ""): Promise<Detail | undefined> {
    return this.attempt(() => this.#send(id, act), `${DONE[act.what]}${of === "" ? "" : `: ${of}`}`);
  }

  /** What a key does to a row of a list: a mute asks until when, on the page of the issue. */
  async key(id: string, key: IssueKey, of: string): Promise<Detail | undefined> {
    if (key === "m") return void address.go(issueHref(id, { act: "mute" }));
    return this.act(id, { what: key === "a" ? "acknowledge" : "resolve" }, of);
  }

  #send(id: string, act: Act): Promise<Detail> {
    const by = nameToSend(this.name);
    const values = { id };
    if (act.what === "note") return post("/api/issues/{id}/note", values, { by, text: act.text });
    const comment = act.comment === undefined || act.comment.trim() === "" ? null : act.comment.trim();
    const body = { by, comment };
    if (act.what === "mute") return post("/api/issues/{id}/mute", values, { ...act.until, ...body });
    return post(`/api/issues/{id}/${act.what}` as const, values, body);
  }
}
