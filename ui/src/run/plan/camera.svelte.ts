// Where one looks at the plan: pan and zoom.

import { BOX_HEIGHT, type Layout, type Place } from "../../model/run/layout";

const ZOOM_MIN = 0.01;
const ZOOM_MAX = 2;
/** Below this, boxes have no text: text of 12 pixels does not fit into them. */
const MIDDLE = 0.5;
/** From this on boxes have room for a third line of 12 pixels: how many rows there were. */
export const THREE_LINES = 45 / BOX_HEIGHT;
/** From this on boxes show all they have; below it, what fits at 12 pixels. */
const NEAR = 0.9;
/** A plan that does not fit is first looked at from here, so that most of it is in sight. */
const BEGIN_MIN = MIDDLE;
const MARGIN = 24;
const FLIGHT_MS = 260;
/** What is drawn beyond the window, as a part of it: panning draws anew only once that is used up. */
const AROUND = 0.5;

export type Level = "far" | "middle" | "near";

interface Spot {
  x: number;
  y: number;
  zoom: number;
}

/** Where a plan was looked at last, by what is drawn. */
const camerasBefore = new Map<string, Spot>();

export class Camera {
  x = $state(0);
  y = $state(0);
  zoom = $state(1);
  width = $state(0);
  height = $state(0);
  #key: string | null = null;
  #flight: number | undefined;
  /** One that pans and zooms along. */
  #twin: Camera | undefined;

  readonly level: Level = $derived(this.zoom < MIDDLE ? "far" : this.zoom < NEAR ? "middle" : "near");

  /** The part of the drawing that is seen, in its own units. */
  readonly seen = $derived({
    left: -this.x / this.zoom,
    top: -this.y / this.zoom,
    right: (this.width - this.x) / this.zoom,
    bottom: (this.height - this.y) / this.zoom,
  });

  /** Steps in which what is drawn follows what is seen; of one size while the zoom does not change much. */
  readonly #stepX = $derived((AROUND * Math.max(200, this.width)) / 2 ** Math.floor(Math.log2(this.zoom)));
  readonly #stepY = $derived((AROUND * Math.max(200, this.height)) / 2 ** Math.floor(Math.log2(this.zoom)));
  readonly #left = $derived(Math.floor(this.seen.left / this.#stepX) * this.#stepX);
  readonly #top = $derived(Math.floor(this.seen.top / this.#stepY) * this.#stepY);
  readonly #right = $derived(Math.ceil(this.seen.right / this.#stepX) * this.#stepX);
  readonly #bottom = $derived(Math.ceil(this.seen.bottom / this.#stepY) * this.#stepY);

  /** Whether a part of the drawing is to be drawn: it is seen, or near to what is seen. */
  draws(left: number, top: number, right: number, bottom: number): boolean {
    return left < this.#right && right > this.#left && top < this.#bottom && bottom > this.#top;
  }

  /** Two cameras that pan and zoom together, each over a drawing of its own. */
  static pair(): [Camera, Camera] {
    const [one, other] = [new Camera(), new Camera()];
    [one.#twin, other.#twin] = [other, one];
    return [one, other];
  }

  /** Looks at the root of a drawing, at a zoom that another drawing shares. */
  beginAt(zoom: number, layout: Layout): void {
    const [root = { x: 0, width: 0 }] = layout.places.values();
    this.zoom = zoom;
    this.x = this.width / 2 - (root.x + root.width / 2) * zoom;
    this.y = MARGIN;
    this.#fill(layout);
  }

  /** The zoom at which all of a drawing is seen, no smaller than it can be read; its depth no smaller than its rows. */
  readableZoom({ width, height }: Layout): number {
    const across = (this.width - 2 * MARGIN) / Math.max(1, width);
    const down = (this.height - 2 * MARGIN) / Math.max(1, height);
    return Math.min(1, Math.max(MIDDLE, Math.min(across, Math.max(THREE_LINES, down))));
  }

  /** Looks at a drawing for the first time: all of it where it can be read so, else at `focus`. */
  begin(key: string, layout: Layout, focus: Place | undefined): void {
    if (this.#key === key) return;
    this.#key = key;
    const before = camerasBefore.get(key);
    if (before) Object.assign(this, before);
    else {
      this.fit(layout);
      if (this.zoom < BEGIN_MIN) {
        this.zoom = BEGIN_MIN;
        Object.assign(this, this.#centred(focus ?? { x: layout.width / 2, y: 0, width: 0 }, this.zoom));
        this.#fill(layout);
      }
    }
  }

  remember(): void {
    if (this.#key !== null) camerasBefore.set(this.#key, { x: this.x, y: this.y, zoom: this.zoom });
  }

  fit({ width, height }: Layout): void {
    this.land();
    const zoom = Math.min(
      (this.width - 2 * MARGIN) / Math.max(1, width),
      (this.height - 2 * MARGIN) / Math.max(1, height),
    );
    this.zoom = Math.min(1, Math.max(ZOOM_MIN, zoom));
    this.x = (this.width - width * this.zoom) / 2;
    this.y = Math.max(MARGIN, (this.height - height * this.zoom) / 2);
  }

  #centred(place: Place, zoom: number): Spot {
    return {
      x: this.width / 2 - (place.x + place.width / 2) * zoom,
      y: this.height / 2 - (place.y + BOX_HEIGHT / 2) * zoom,
      zoom,
    };
  }

  /** Leaves no side empty that the drawing could fill. */
  #fill({ width, height }: Layout): void {
    const clamp = (at: number, size: number, room: number): number =>
      size + 2 * MARGIN <= room ? (room - size) / 2 : Math.min(MARGIN, Math.max(room - MARGIN - size, at));
    this.x = clamp(this.x, width * this.zoom, this.width);
    this.y = clamp(this.y, height * this.zoom, this.height);
  }

  /** Moves as little as it takes to see the whole box. */
  reveal(place: Place): void {
    const { left, top, right, bottom } = this.seen;
    const margin = MARGIN / this.zoom;
    const dx = Math.max(0, place.x + place.width + margin - right) || Math.min(0, place.x - margin - left);
    const dy = Math.max(0, place.y + BOX_HEIGHT + margin - bottom) || Math.min(0, place.y - margin - top);
    if (dx !== 0 || dy !== 0) this.#fly({ x: this.x - dx * this.zoom, y: this.y - dy * this.zoom, zoom: this.zoom });
  }

  /** Flies to a box, near enough to read it. */
  flyTo(place: Place): void {
    this.#fly(this.#centred(place, Math.max(this.zoom, NEAR)));
  }

  /** Puts a point of the drawing into the middle of the window. */
  lookAt(x: number, y: number): void {
    this.land();
    this.x = this.width / 2 - x * this.zoom;
    this.y = this.height / 2 - y * this.zoom;
  }

  pan(dx: number, dy: number): void {
    for (const camera of this.#all()) {
      camera.land();
      camera.x += dx;
      camera.y += dy;
    }
  }

  #all(): Camera[] {
    return this.#twin ? [this, this.#twin] : [this];
  }

  /** Zooms around a point of the window, its middle where none is given. */
  zoomBy(factor: number, at = { x: this.width / 2, y: this.height / 2 }): void {
    for (const camera of this.#all()) {
      camera.land();
      const zoom = Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, camera.zoom * factor));
      camera.x = at.x - ((at.x - camera.x) * zoom) / camera.zoom;
      camera.y = at.y - ((at.y - camera.y) * zoom) / camera.zoom;
      camera.zoom = zoom;
    }
  }

  /** Ends a flight where it is. */
  land(): void {
    if (this.#flight !== undefined) cancelAnimationFrame(this.#flight);
    this.#flight = undefined;
  }

  #fly(to: Spot): void {
    this.land();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      Object.assign(this, to);
      return;
    }
    const from: Spot = { x: this.x, y: this.y, zoom: this.zoom };
    const began = performance.now();
    const step = (now: number): void => {
      const part = Math.min(1, Math.max(0, now - began) / FLIGHT_MS);
      const eased = 1 - (1 - part) ** 3;
      const between = (a: number, b: number): number => a + (b - a) * eased;
      this.x = between(from.x, to.x);
      this.y = between(from.y, to.y);
      this.zoom = between(from.zoom, to.zoom);
      this.#flight = part < 1 ? requestAnimationFrame(step) : undefined;
    };
    this.#flight = requestAnimationFrame(step);
  }
}
