// A list that people change: what the service answers to a change is the list as it is then.

import { ApiError } from "../api/client";
import { Resource } from "../api/resource.svelte";

export class Managed<T> extends Resource<T> {
  isBusy = $state(false);
  /** What came of the last change. */
  said = $state.raw<{ text: string; isDone: boolean }>();

  /** Makes a change; whether it was made. */
  async change(make: () => Promise<T>, done: string): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    try {
      this.data = await make();
      this.said = { text: done, isDone: true };
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.said = { text: error.message, isDone: false };
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
