// Browser notifications of issues that open while a page is open. Nobody is asked before they ask for them.

import type { LiveState } from "../live/hub";
import { isNewlyOpen, issueNotice, type Issue } from "../model/issue";
import { address } from "../route/address.svelte";
import { issueHref } from "../route/route";

const KEY = "notices";

function isWanted(): boolean {
  try {
    return localStorage.getItem(KEY) === "on";
  } catch {
    return false;
  }
}

/** Browsers offer notifications to pages of a secure connection alone. */
const isOffered = typeof Notification !== "undefined" && isSecureContext;

class Notices {
  #isWanted = $state(isWanted());
  #permission = $state(isOffered ? Notification.permission : "denied");
  #seen: number | undefined;

  readonly isOffered = isOffered;

  get isOn(): boolean {
    return this.#isWanted && this.#permission === "granted";
  }
  get isRefused(): boolean {
    return this.#permission === "denied";
  }

  /** Turns them on, for which the browser asks the person, or off. */
  async toggle(): Promise<void> {
    if (this.isOn) return this.#want(false);
    this.#permission = await Notification.requestPermission();
    this.#want(this.#permission === "granted");
  }

  /** Tells of the issues that opened since it was last asked to. */
  take(told: LiveState["issues"]): void {
    const seen = this.#seen ?? told.at(-1)?.at ?? 0;
    this.#seen = Math.max(seen, told.at(-1)?.at ?? 0);
    if (!this.isOn) return;
    for (const { at, issue } of told) if (at > seen && isNewlyOpen(issue)) this.#tell(issue);
  }

  #want(isOn: boolean): void {
    this.#isWanted = isOn;
    try {
      localStorage.setItem(KEY, isOn ? "on" : "off");
    } catch {
      // It is on until the page closes.
    }
  }

  #tell(issue: Issue): void {
    const { title, body } = issueNotice(issue);
    try {
      // Of several tabs, the last one's replaces the others'.
      const notice = new Notification(title, { body, tag: issue.id, icon: "/favicon.svg" });
      notice.onclick = () => {
        focus();
        address.go(issueHref(issue.id));
        notice.close();
      };
    } catch {
      // Phones allow notifications to service workers alone.
    }
  }
}

export const notices = new Notices();
