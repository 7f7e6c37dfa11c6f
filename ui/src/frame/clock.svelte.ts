// The time, for ages: one timer for the page, that rests while nobody looks.

const TICK_MS = 1000;

class Clock {
  #nowMs = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.#nowMs = Date.now();
    }, TICK_MS);
    document.addEventListener("visibilitychange", () => {
      this.#nowMs = Date.now();
    });
  }

  get nowMs(): number {
    return this.#nowMs;
  }
}

export const clock = new Clock();
