// Views that people share: the service keeps them.

import { get, put, remove, type Schemas } from "../api/client";
import { nameToSend } from "../parts/acts.svelte";
import { Managed } from "../parts/managed.svelte";

type View = Schemas["SharedView"];

export class SharedViews extends Managed<Schemas["Views"]> {
  constructor() {
    super((signal) => get("/api/views", { signal }));
  }

  async share(name: string, search: string): Promise<boolean> {
    const there = this.data?.views.find((view) => view.name === name);
    if (there && !confirm(`Replace ${name} where it is of the same project? ${there.by ?? "Somebody"} shared it.`))
      return false;
    const ask = (): Promise<unknown> => put("/api/views/{name}", { name }, { search, by: nameToSend() });
    return this.change(() => ask().then(() => get("/api/views")), `Shared ${name}`);
  }

  async delete({ name, project }: View): Promise<void> {
    if (!confirm(`Delete the view ${name} of the project ${project}? It is gone for all its readers.`)) return;
    const ask = (): Promise<unknown> => remove("/api/views/{name}", { name }, { project });
    await this.change(() => ask().then(() => get("/api/views")), `Deleted ${name}`);
  }
}
