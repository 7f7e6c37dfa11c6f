// Drawing across a chart chooses a stretch of time. A click stays a click.

import type { Attachment } from "svelte/attachments";

/** A drag shorter than this is a click. */
const CLICK_PX = 5;

export interface Axis {
  /** Where the axis begins and ends, in pixels from the left edge of the chart. */
  left: number;
  right: number;
  sinceMs: number;
  untilMs: number;
}

export interface BrushOptions {
  range: () => Axis;
  /** Told the ends of what was drawn across, in milliseconds since 1970, the earlier first. */
  zoom: (fromMs: number, toMs: number) => void;
}

export class TimeBrush {
  readonly #options: BrushOptions;
  #from = $state<number>();
  #to = $state<number>();
  /** Whether the last press was a drag: the click that ends it opens nothing. */
  hasMoved = false;

  constructor(options: BrushOptions) {
    this.#options = options;
  }

  /** What is drawn across so far. */
  get span(): { x: number; width: number } | undefined {
    if (this.#from === undefined || this.#to === undefined) return undefined;
    return { x: Math.min(this.#from, this.#to), width: Math.abs(this.#to - this.#from) };
  }

  press(x: number): void {
    this.hasMoved = false;
    this.#from = this.#within(x);
  }

  drag(x: number): void {
    if (this.#from === undefined) return;
    if (!this.hasMoved && Math.abs(x - this.#from) < CLICK_PX) return;
    this.hasMoved = true;
    this.#to = this.#within(x);
  }

  release(): void {
    const [from, to] = [this.#from, this.#to];
    this.cancel();
    if (from === undefined || to === undefined || Math.abs(to - from) < CLICK_PX) return;
    this.#options.zoom(this.#timeAt(Math.min(from, to)), this.#timeAt(Math.max(from, to)));
  }

  cancel(): void {
    this.#from = undefined;
    this.#to = undefined;
  }

  #within(x: number): number {
    const { left, right } = this.#options.range();
    return Math.min(right, Math.max(left, x));
  }

  #timeAt(x: number): number {
    const { left, right, sinceMs, untilMs } = this.#options.range();
    return sinceMs + ((x - left) / Math.max(1, right - left)) * (untilMs - sinceMs);
  }
}

/** Lets a brush follow the pointer over an element. A finger scrolls the page upwards, and draws sideways. */
export function brushed(brush: TimeBrush): Attachment<Element> {
  return (element) => {
    const xOf = (event: PointerEvent): number => event.clientX - element.getBoundingClientRect().left;
    const listeners: Record<string, (event: PointerEvent) => void> = {
      pointerdown: (event) => {
        if (event.button !== 0) return;
        brush.press(xOf(event));
      },
      pointermove: (event) => {
        // It may have been released outside.
        if ((event.buttons & 1) === 0) brush.cancel();
        brush.drag(xOf(event));
        // Only a drag is captured: a captured click would not be one of the element below.
        if (brush.span && !element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      },
      pointerup: () => brush.release(),
      pointercancel: () => brush.cancel(),
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape") brush.cancel();
    };
    for (const [name, listener] of Object.entries(listeners)) element.addEventListener(name, listener as EventListener);
    addEventListener("keydown", onKey);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) {
        element.removeEventListener(name, listener as EventListener);
      }
      removeEventListener("keydown", onKey);
    };
  };
}
