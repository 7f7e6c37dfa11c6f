// Links out of the dashboard that a person describes once: to the line of the source, and to the trace of a run.

/** What may be opened: the web, and editors that take a file and a line. Nothing that runs a script. */
export const SCHEMES = [
  "http",
  "https",
  "vscode",
  "vscode-insiders",
  "vscodium",
  "cursor",
  "windsurf",
  "zed",
  "idea",
  "pycharm",
  "jetbrains",
  "subl",
  "txmt",
  "mvim",
  "emacs",
] as const;

export const SOURCE_NAMES = ["path", "line", "function"] as const;
export const TRACE_NAMES = ["trace_id", "span_id"] as const;

/** Why a template cannot be used, in words; null where it can, or is empty. */
export function templateProblem(template: string, names: readonly string[]): string | null {
  if (template === "") return null;
  const scheme = /^([a-z][a-z0-9+.-]*):/.exec(template)?.[1];
  if (!SCHEMES.some((one) => one === scheme)) return `It must begin with one of ${SCHEMES.join(":, ")}:`;
  const said = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name ?? "");
  const unknown = said.find((name) => !names.includes(name));
  if (unknown !== undefined) return `{${unknown}} is not known; there are {${names.join("}, {")}}`;
  if (!said.includes(names[0] ?? "")) return `It must hold {${names[0]}}`;
  return filled(template, Object.fromEntries(names.map((name) => [name, "1"]))) === null ? "It is no URL" : null;
}

/** The link for these values; null where there is no template, or none that can be used. */
export function fillTemplate(
  template: string,
  names: readonly string[],
  values: Readonly<Record<string, string | null>>,
): string | null {
  return template === "" || templateProblem(template, names) !== null ? null : filled(template, values);
}

function filled(template: string, values: Readonly<Record<string, string | null>>): string | null {
  // A value cannot leave its place: of what has a meaning in a URL, paths keep their slashes and colons alone.
  const text = template.replaceAll(/\{([^{}]*)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? "")
      .replaceAll("%2F", "/")
      .replaceAll("%3A", ":"),
  );
  try {
    const { protocol } = new URL(text);
    return SCHEMES.some((scheme) => `${scheme}:` === protocol) ? text : null;
  } catch {
    return null;
  }
}
