// Where one looks at the plan: pan and zoom.

import { BOX_HEIGHT, BOX_WIDTH, type Layout, type Place } from "../../model/run/layout";

const ZOOM_MIN = 0.04;
const ZOOM_MAX = 2;
/** Below this, words cannot be read: what does not fit is panned. */
const READABLE = 0.75;
const MARGIN = 24;

/** Where a plan was looked at last, by what is drawn. */
const camerasBefore = new Map<string, { x: number; y: number; zoom: number }>();

export class Camera {
  x = $state(0);
  y = $state(0);
  zoom = $state(1);
  width = $state(0);
  height = $state(0);
  #key: string | null = null;

  /** The part of the drawing that is seen, in its own units. */
  readonly seen = $derived({
    left: -this.x / this.zoom,
    top: -this.y / this.zoom,
    right: (this.width - this.x) / this.zoom,
    bottom: (this.height - this.y) / this.zoom,
  });

  sees(place: Place): boolean {
    const { left, top, right, bottom } = this.seen;
    return place.x < right && place.x + BOX_WIDTH > left && place.y < bottom && place.y + BOX_HEIGHT > top;
  }

  /** Looks at a drawing for the first time: all of it where it can be read so, else at `focus`. */
  begin(key: string, layout: Layout, focus: Place | undefined): void {
    if (this.#key === key) return;
    this.#key = key;
    const before = camerasBefore.get(key);
    if (before) Object.assign(this, before);
    else {
      this.fit(layout);
      if (this.zoom < READABLE) {
        this.zoom = READABLE;
        this.centre(focus ?? { x: layout.width / 2 - BOX_WIDTH / 2, y: 0 });
        this.#fill(layout);
      }
    }
  }

  remember(): void {
    if (this.#key !== null) camerasBefore.set(this.#key, { x: this.x, y: this.y, zoom: this.zoom });
  }

  fit({ width, height }: Layout): void {
    const zoom = Math.min(
      (this.width - 2 * MARGIN) / Math.max(1, width),
      (this.height - 2 * MARGIN) / Math.max(1, height),
    );
    this.zoom = Math.min(1, Math.max(ZOOM_MIN, zoom));
    this.x = (this.width - width * this.zoom) / 2;
    this.y = Math.max(MARGIN, (this.height - height * this.zoom) / 2);
  }

  centre(place: Place): void {
    this.x = this.width / 2 - (place.x + BOX_WIDTH / 2) * this.zoom;
    this.y = this.height / 2 - (place.y + BOX_HEIGHT / 2) * this.zoom;
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
    const dx = Math.max(0, place.x + BOX_WIDTH + margin - right) || Math.min(0, place.x - margin - left);
    const dy = Math.max(0, place.y + BOX_HEIGHT + margin - bottom) || Math.min(0, place.y - margin - top);
    this.x -= dx * this.zoom;
    this.y -= dy * this.zoom;
  }

  pan(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
  }

  /** Zooms around a point of the window, its middle where none is given. */
  zoomBy(factor: number, at = { x: this.width / 2, y: this.height / 2 }): void {
    const zoom = Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, this.zoom * factor));
    this.x = at.x - ((at.x - this.x) * zoom) / this.zoom;
    this.y = at.y - ((at.y - this.y) * zoom) / this.zoom;
    this.zoom = zoom;
  }
}
