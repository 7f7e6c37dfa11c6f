import { live } from "./live.svelte";

/** Asks again when a query started or ended, but not more often than every `pauseMs`, and not while nobody looks. */
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
    // The first snapshot is as old as the first answer.
    const isNews = seen !== undefined && seen > 0 && changes !== seen;
    seen = changes;
    if (isNews) timer ??= setTimeout(ask, Math.max(0, lastMs + pauseMs - Date.now()));
  });
  $effect(() => () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", ask);
  });
}
