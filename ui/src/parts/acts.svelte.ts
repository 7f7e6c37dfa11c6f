// What people do to what the service keeps, under the name that this browser keeps.

import { ApiError } from "../api/client";

const KEY = "name";

function storedName(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** The name that is sent; null for none. */
export function nameToSend(name = storedName()): string | null {
  return name.trim() === "" ? null : name.trim();
}

export class Acts {
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

  /** Asks for it; what the service answers, undefined where it was not done. */
  async attempt<T>(ask: () => Promise<T>, done: string): Promise<T | undefined> {
    if (this.isBusy) return undefined;
    this.isBusy = true;
    this.said = undefined;
    try {
      const answer = await ask();
      this.said = { text: `${done}.`, isDone: true };
      return answer;
    } catch (error) {
      const reason = error instanceof ApiError ? error.message : String(error);
      this.said = { text: `Not done: ${reason}.`, isDone: false };
      return undefined;
    } finally {
      this.isBusy = false;
    }
  }
}
