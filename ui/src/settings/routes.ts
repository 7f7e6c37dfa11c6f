// Routes of messages of issues, as the file of the service names them.
import type { Schemas } from "../api/client";

type Kept = Pick<Schemas["Route"], "projects" | "services" | "labels" | "kinds" | "owners">;

/** Which issues a route keeps, in words. */
export function kept({ projects, services, labels, kinds, owners }: Kept): string {
  const parts = [
    ["kind", kinds.map((kind) => kind.replace("_", " "))],
    ["project", projects],
    ["service", services],
    ["label", labels],
    ["owner", owners],
  ] as const;
  const named = parts.filter(([, values]) => values.length > 0);
  const words = named.map(([name, values]) => `${name} ${values.join(" or ")}`);
  if (kinds.length === 0) words.unshift("all kinds but data grew");
  return words.join("; ");
}
