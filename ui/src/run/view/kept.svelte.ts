// Choices that are kept in memory: of a file that was shared, and of a picture beside another.

import type { Parameters } from "../../route/route";
import type { Choices } from "./choices";

export class KeptChoices implements Choices {
  #values = $state.raw<Parameters>({});

  constructor(values: Parameters = {}) {
    this.#values = values;
  }

  get(name: string): string | undefined {
    return this.#values[name];
  }

  set(change: Parameters): void {
    this.#values = { ...this.#values, ...change };
  }
}
