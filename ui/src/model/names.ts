// Names as senders gave them: labels, services, hosts, first lines of errors. A name may be blank, and it may hold
// characters that reorder the text around it. The rules are those of Unicode Technical Report 36 and of the HTML
// element `bdi`.

/** Embeddings, overrides and isolates: they reorder what stands behind them. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;
/** Hangul fillers and the blank Braille pattern are letters that leave no mark. */
const BLANK = /^[\p{Z}\p{Cc}\p{Cf}\u115f\u1160\u2800\u3164\uffa0]*$/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A name to show: a blank one says so, and a character that reorders text is replaced by a visible one. */
export function shownName(name: string): string {
  const safe = name.replace(REORDERING, "\ufffd");
  return BLANK.test(safe) ? "(blank)" : safe;
}

export function isBlank(name: string): boolean {
  return BLANK.test(name);
}

/** A name inside a sentence, where no element can isolate it: one that is read from the right keeps to itself. */
export function nameInText(name: string): string {
  const shown = shownName(name);
  return RIGHT_TO_LEFT.test(shown) ? `\u2068${shown}\u2069` : shown;
}

/** Labels that queries of more than one service have: there the label alone does not say which query it is. */
export function ambiguousLabels(
  queries: readonly { label?: string | null | undefined; service?: string | null | undefined }[],
): ReadonlySet<string> {
  const services = new Map<string, string>();
  const found = new Set<string>();
  for (const { label, service } of queries) {
    if (label == null) continue;
    const first = services.get(label);
    if (first === undefined) services.set(label, service ?? "");
    else if (first !== (service ?? "")) found.add(label);
  }
  return found;
}

/** " of etl" behind the label of a query in a sentence; empty where it has no service. */
export function ofService(service: string | null | undefined): string {
  return service == null ? "" : ` of ${nameInText(service)}`;
}
