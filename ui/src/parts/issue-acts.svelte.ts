// What people do to issues, under the name that this browser keeps.

import { ApiError, post, type Schemas } from "../api/client";
import type { IssueKey } from "../model/issue-keys";
import { address } from "../route/address.svelte";
import { issueHref } from "../route/route";

const KEY = "name";

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

function storedName(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

export class IssueActs {
  #name = $state(storedName());
  isBusy = $state(false);
  /** What came of the last one, and whether it was done. */
  said = $state.raw<{ text: string; isDone: boolean }>();

  get name(): string {
    return this.#name;
  }
  set name(name: string) {
    this.#name = name;
    try {
      localStorage.setItem(KEY, name);
    } catch {
      // A browser that keeps nothing sends it all the same.
    }
  }

  /** Does it; the issue as it is then, undefined where it was not done. */
  async act(id: string, act: Act, of = ""): Promise<Detail | undefined> {
    if (this.isBusy) return undefined;
    this.isBusy = true;
    this.said = undefined;
    try {
      const detail = await this.#send(id, act);
      this.said = { text: `${DONE[act.what]}${of === "" ? "" : `: ${of}`}.`, isDone: true };
      return detail;
    } catch (error) {
      const reason = error instanceof ApiError ? error.message : String(error);
      this.said = { text: `Not done: ${reason}.`, isDone: false };
      return undefined;
    } finally {
      this.isBusy = false;
    }
  }

  /** What a key does to a row of a list: a mute asks until when, on the page of the issue. */
  async key(id: string, key: IssueKey, of: string): Promise<Detail | undefined> {
    if (key === "m") return void address.go(issueHref(id, { act: "mute" }));
    return this.act(id, { what: key === "a" ? "acknowledge" : "resolve" }, of);
  }

  #send(id: string, act: Act): Promise<Detail> {
    const by = this.#name.trim() === "" ? null : this.#name.trim();
    const values = { id };
    if (act.what === "note") return post("/api/issues/{id}/note", values, { by, text: act.text });
    const comment = act.comment === undefined || act.comment.trim() === "" ? null : act.comment.trim();
    const body = { by, comment };
    if (act.what === "mute") return post("/api/issues/{id}/mute", values, { ...act.until, ...body });
    return post(`/api/issues/{id}/${act.what}` as const, values, body);
  }
}
