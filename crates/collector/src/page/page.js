// The page at `/`: whether the service runs, how to send to it, and what came last.
// What is shown follows from the address: `q`, `status` and `cursor`.

const REFRESH_MS = 2000;
const ANSWER_MS = 5000;
const TYPING_MS = 250;
const PAGE_ROWS = 50;
const UNKNOWN = "–";

const byId = (id) => document.getElementById(id);

// Numbers and times, as people say them.

const exact = new Intl.NumberFormat("en", { maximumFractionDigits: 4 }).format;
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const clockTime = new Intl.DateTimeFormat(undefined, clock).format;
const dayAndTime = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", ...clock }).format;

function duration(ms) {
  const two = (number) => String(number).padStart(2, "0");
  if (ms < 9.95) return `${Number(ms.toPrecision(2))} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${two(minutes % 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function count(number) {
  if (number < 10_000) return exact(number);
  const power = Math.min(Math.floor(Math.log10(Number(number.toPrecision(3))) / 3), 5);
  return `${Number((number / 1000 ** power).toPrecision(3))} ${["", "k", "M", "G", "T", "P"][power]}`;
}

function localTime(ms) {
  const isToday = new Date(ms).toDateString() === new Date().toDateString();
  return isToday ? clockTime(ms) : dayAndTime(ms);
}

// A start in nanoseconds is more than a number holds here: in quotes it stays exact. Inside a string of the
// answer the quotes around the name would be escaped, so only the field itself matches.
function parseQueries(text) {
  const queries = JSON.parse(text.replace(/("started_unix_ns":\s*)(-?\d+)/g, '$1"$2"'));
  for (const query of queries) query.startedMs = Number(BigInt(query.started_unix_ns) / 1_000_000n);
  return queries;
}

// The address is the state.

function wanted() {
  const given = new URLSearchParams(location.search);
  return Object.fromEntries(["q", "status", "cursor"].map((name) => [name, given.get(name) ?? ""]));
}

function address(path, state) {
  const query = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== "")).toString();
  return query === "" ? path : `${path}?${query}`;
}

function go(to, how = "pushState") {
  history[how](null, "", to);
  follow();
}

function follow() {
  const { q, status } = wanted();
  // A box someone types in is theirs.
  if (document.activeElement !== byId("q")) byId("q").value = q;
  byId("status").value = status;
  refresh();
}

// Rows. Data gets into the page as text and attributes alone.

function element(name, { text, title, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (title) made.title = title;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const cell = (attributes, ...children) => element("td", { role: "cell", ...attributes }, ...children);

function figure(name, value, format, title, className = "") {
  const known = value !== null;
  return cell({
    "data-name": name,
    class: `figure ${known ? className : "soft"}`,
    text: known ? format(value) : UNKNOWN,
    title: known ? title : "",
  });
}

const nameOf = (query) => query.label ?? `no label, ${query.query_id.slice(-12)}`;

function nameCell(query) {
  const name = element("span", { text: nameOf(query), class: query.label === null ? "soft" : "" });
  const made = element("th", { scope: "row", role: "rowheader", title: `Query ${query.query_id}` }, name);
  if (query.failed !== null) {
    const firstLine = query.failed.trim().split("\n", 1)[0];
    made.append(element("span", { text: firstLine, title: query.failed, class: "note error" }));
  }
  return made;
}

function serviceCell({ service, environment }) {
  const title = [service, environment].filter(Boolean).join(", ");
  const made = cell({ "data-name": "Service", class: "words", title }, service ?? UNKNOWN);
  if (environment !== null) made.append(element("span", { text: environment, class: "note" }));
  return made;
}

function wallCell({ status, wall_ms }, soFar) {
  if (status !== "running") return figure("Wall time", wall_ms, duration, `${exact(wall_ms)} ms`);
  return figure("Wall time", soFar, duration, "Since it started, by the clock of this browser", "running");
}

function recordingCell(query) {
  if (query.status === "running") {
    return cell({ class: "recording soft", text: UNKNOWN, title: "There is one once the query has ended" });
  }
  const link = element("a", {
    text: "events",
    href: `/api/queries/${encodeURIComponent(query.query_id)}/recording`,
    download: `${query.query_id}.jsonl`,
    "aria-label": `events of ${nameOf(query)}`,
    title: "Every event of the query, as JSON Lines",
  });
  return cell({ class: "recording" }, link);
}

function row(query, soFar) {
  const iso = new Date(query.startedMs).toISOString();
  const utc = `${iso.replace("T", " ").replace("Z", "")} UTC`;
  const started = element("time", { text: localTime(query.startedMs), title: utc, datetime: iso });
  return element(
    "tr",
    { role: "row" },
    cell({ class: `status ${query.status}`, text: query.status }),
    nameCell(query),
    serviceCell(query),
    cell({ "data-name": "Host", class: "host words", text: query.host, title: query.host }),
    cell({ class: "started" }, started),
    wallCell(query, soFar),
    figure("CPU time", query.cpu_ms, duration, `${exact(query.cpu_ms)} ms over all threads`, "soft"),
    figure("Rows", query.result_rows, count, `${exact(query.result_rows)} rows`),
    figure("Warnings", query.warnings, count, query.rules.join("\n"), query.warnings > 0 ? "warned" : "soft"),
    recordingCell(query),
  );
}

let shown = new Map();

// Replaces only rows that changed: the focus, a selection and a tooltip stay.
function showRows(queries) {
  const body = byId("rows");
  const next = new Map();
  for (const query of queries) {
    const elapsed = Math.floor((Date.now() - query.startedMs) / 1000) * 1000;
    const soFar = query.status === "running" && elapsed >= 0 ? elapsed : null;
    const version = JSON.stringify([query, soFar, localTime(query.startedMs)]);
    const known = shown.get(query.query_id);
    next.set(query.query_id, known?.version === version ? known : { version, row: row(query, soFar) });
  }
  // What goes has to go first: a row that stays is then where it belongs and is not moved.
  for (const [id, { row }] of shown) if (next.get(id)?.row !== row) row.remove();
  [...next.values()].forEach(({ row }, at) => {
    if (body.children[at] !== row) body.insertBefore(row, body.children[at] ?? null);
  });
  shown = next;
}

// Says nothing again that is already said: a screen reader would read it out.
function say(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
  byId(id).hidden = text === "";
}

function showLink(id, to) {
  byId(id).hidden = to === null;
  byId(id).href = to ?? "/";
}

function showPage(state, queries, older) {
  const none = queries.length === 0;
  const isFiltered = state.q !== "" || state.status !== "";
  const isFirstUse = none && !isFiltered && state.cursor === "";
  const kind = (noun) => [state.status, noun, state.q && `with “${state.q}”`].filter(Boolean).join(" ");
  let caption = `${older ? "The newest" : "All"} ${queries.length} ${kind("queries")}`;
  if (queries.length === 1) caption = `One ${kind("query")}`;
  if (state.cursor !== "") caption = `Older ${kind("queries")}`;
  let nothing = `There are no ${state.cursor && "older "}${kind("queries")}.`;
  if (isFirstUse) nothing = "No query has been sent yet. The first one shows up here within two seconds.";
  showRows(queries);
  byId("queries").hidden = none;
  say("caption", caption);
  say("empty", none ? nothing : "");
  showLink("clear", none && isFiltered ? "/" : null);
  showLink("newest", state.cursor === "" ? null : address("/", { ...state, cursor: "" }));
  showLink("older", older && address("/", { ...state, cursor: older }));
  if (isFirstUse && !("touched" in byId("send").dataset)) byId("send").open = true;
}

// Asking.

async function ask(from, signal) {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  const answer = await fetch(from, { signal: limit, cache: "no-store" });
  const text = await answer.text();
  const reason = /"error":\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1] ?? `"the answer was ${answer.status}"`;
  return { ok: answer.ok, text, reason: JSON.parse(reason), link: answer.headers.get("link") ?? "" };
}

function olderCursor(link) {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1];
  return next ? new URL(next, location.origin).searchParams.get("cursor") : null;
}

let heardAt = null;
let listedAt = null;
let asking = new AbortController();
let timer = 0;

const since = (ms) => (ms === null ? "" : ` since ${localTime(ms)}`);

function showState(health, problem) {
  byId("health").className = problem === health ? "lost" : "runs";
  say("health", health);
  byId("queries").classList.toggle("stale", problem !== "");
  say("notice", problem && `${problem}${listedAt === null ? "" : "; shown is what was known then"}.`);
}

async function refresh() {
  clearTimeout(timer);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const state = wanted();
  const list = address("/api/queries", { ...state, limit: String(PAGE_ROWS) });
  try {
    const [health, answer] = await Promise.all([ask("/v1/health", signal), ask(list, signal)]);
    if (!health.ok) throw new Error(health.reason);
    heardAt = Date.now();
    if (answer.ok) {
      showPage(state, parseQueries(answer.text), olderCursor(answer.link));
      listedAt = heardAt;
    }
    showState("The service runs", answer.ok ? "" : `The queries can not be read${since(listedAt)} (${answer.reason})`);
  } catch {
    if (signal.aborted) return;
    const lost = `The service does not answer${since(heardAt)}`;
    showState(lost, lost);
  }
  if (!document.hidden) timer = setTimeout(refresh, REFRESH_MS);
}

// What a person does.

async function copy(button) {
  const code = byId(button.dataset.copies);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Without a secure connection a page may not copy by itself; the selected text waits for the keyboard.
    getSelection().selectAllChildren(code);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

function filter(change, how) {
  go(address("/", { ...wanted(), ...change, cursor: "" }), how);
}

let typing = 0;
byId("q").addEventListener("input", ({ target }) => {
  clearTimeout(typing);
  typing = setTimeout(() => filter({ q: target.value.trim() }, "replaceState"), TYPING_MS);
});
byId("status").addEventListener("change", ({ target }) => filter({ status: target.value }));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("pages").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
  byId("filters").scrollIntoView({ block: "nearest" });
});
byId("send").querySelector("summary").addEventListener("click", () => { byId("send").dataset.touched = ""; });
for (const button of document.querySelectorAll("[data-copies]")) button.addEventListener("click", () => copy(button));
addEventListener("popstate", follow);
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));

byId("snippet").textContent = byId("snippet").textContent.replace(/http:\/\/[^"]+/, location.origin);
follow();
