import { live } from "./live.svelte";

/** Asks again when something started, ended or changed, at most every `pauseMs`, and not while nobody looks. */
export function refreshOnNews(again: () => void, pauseMs: number): void {
  let seen: number | undefined;
  let lastMs = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = (): void => {
    timer = undefined;
    if (document.hidden) {
      document.addEventListener("visibilitychange", ask, { once: true });
      return;
    }
    lastMs = Date.now();
    again();
  };
  $effect(() => {
    const { changes } = live;
    // The first snapshot is news too: it is younger than the first answer, and tells nothing of what came between.
    const isNews = seen !== undefined && changes !== seen;
    seen = changes;
    if (isNews) timer ??= setTimeout(ask, Math.max(0, lastMs + pauseMs - Date.now()));
  });
  $effect(() => () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", ask);
  });
}
