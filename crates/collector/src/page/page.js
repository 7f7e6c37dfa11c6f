// The page at `/`: whether the service runs, how to send to it, and what came last.
// What is shown follows from the address: `q`, `status` and `cursor`.

const REFRESH_MS = 2000;
const ANSWER_MS = 5000;
const TYPING_MS = 250;
const PAGE_ROWS = 50;
const UNKNOWN = "–";

const byId = (id) => document.getElementById(id);

// Numbers and times, as people say them.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 4 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const clockTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

const twoDigits = (number) => String(number).padStart(2, "0");

function duration(ms) {
  if (ms < 9.95) return `${Number(ms.toPrecision(2))} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${twoDigits(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${twoDigits(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const count = (number) => (number < 10_000 ? grouped : compact).format(number);

function localTime(ms) {
  const time = new Date(ms);
  const today = time.toDateString() === new Date().toDateString();
  return (today ? clockTime : dayAndTime).format(time);
}

const utcTime = (ms) => `${new Date(ms).toISOString().replace("T", " ").replace("Z", "")} UTC`;

// A query's start in nanoseconds is more than a number holds here: quoted, it stays exact as text. Inside a
// string of the answer the quotes around the name would be escaped, so only the field itself matches.
function parseQueries(text) {
  const queries = JSON.parse(text.replace(/("started_unix_ns":\s*)(-?\d+)/g, '$1"$2"'));
  for (const query of queries) query.startedMs = Number(BigInt(query.started_unix_ns) / 1_000_000n);
  return queries;
}

// The address is the state.

function wanted() {
  const params = new URLSearchParams(location.search);
  return { q: params.get("q") ?? "", status: params.get("status") ?? "", cursor: params.get("cursor") ?? "" };
}

function queryString(state) {
  return new URLSearchParams(Object.entries(state).filter(([, value]) => value !== "")).toString();
}

const addressOf = (state) => `/${queryString(state) && "?"}${queryString(state)}`;

function go(address, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  follow();
}

function follow() {
  const { q, status } = wanted();
  // A box someone types in is theirs.
  if (document.activeElement !== byId("q")) byId("q").value = q;
  byId("status").value = status;
  refresh();
}

// Writing into the page, only where something changed: the focus and a selection stay.

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = text === "";
}

function element(name, { text, title, className, ...attributes }, ...children) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (title) made.title = title;
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const cell = (name, attributes, ...children) =>
  element("td", { role: "cell", ...(name && { "data-name": name }), ...attributes }, ...children);

function figure(name, value, format, { title, className = "" } = {}) {
  const known = value !== null && value !== undefined;
  return cell(name, {
    text: known ? format(value) : UNKNOWN,
    title: known ? title : undefined,
    className: `figure ${className}${known ? "" : " soft"}`,
  });
}

function nameOf(query) {
  return query.label ?? `no label, ${query.query_id.slice(-12)}`;
}

function nameCell(query) {
  const name = element("th", { scope: "row", role: "rowheader", title: `Query ${query.query_id}` });
  name.append(element("span", { text: nameOf(query), className: query.label === null ? "soft" : "" }));
  if (query.failed !== null) {
    const firstLine = query.failed.trim().split("\n", 1)[0];
    name.append(element("span", { text: firstLine, title: query.failed, className: "note error" }));
  }
  return name;
}

function serviceCell(query) {
  const service = cell("Service", { text: query.service ?? UNKNOWN, className: query.service === null ? "soft wraps" : "wraps" });
  if (query.environment !== null) service.append(element("span", { text: query.environment, className: "note" }));
  return service;
}

function wallCell(query, soFar) {
  if (query.status === "running") {
    const title = "Since it started, by the clock of this browser";
    return figure("Wall time", soFar, (text) => text, { title, className: "running" });
  }
  return figure("Wall time", query.wall_ms, duration, { title: `${grouped.format(query.wall_ms)} ms` });
}

function cpuCell(query) {
  const threads = query.wall_ms > 0 ? `, ${(query.cpu_ms / query.wall_ms).toFixed(1)} threads busy on average` : "";
  const title = `${grouped.format(query.cpu_ms)} ms over all threads${threads}`;
  return figure("CPU time", query.cpu_ms, duration, { title, className: "cpu" });
}

function recordingCell(query) {
  const recording = cell("Recording", { className: query.status === "running" ? "soft" : "" });
  if (query.status === "running") {
    recording.append(element("span", { text: UNKNOWN, title: "There is one once the query has ended" }));
  } else {
    const href = `/api/queries/${encodeURIComponent(query.query_id)}/recording`;
    const label = `Recording of ${nameOf(query)}, JSON Lines`;
    recording.append(element("a", { text: "events", href, download: `${query.query_id}.jsonl`, "aria-label": label }));
  }
  return recording;
}

function row(query, soFar) {
  const started = element("time", {
    text: localTime(query.startedMs),
    title: utcTime(query.startedMs),
    datetime: new Date(query.startedMs).toISOString(),
  });
  return element(
    "tr",
    { role: "row" },
    cell("", { text: query.status, className: `status ${query.status}` }),
    nameCell(query),
    serviceCell(query),
    cell("Host", { text: query.host, className: "host wraps" }),
    cell("", { className: "started" }, started),
    wallCell(query, soFar),
    cpuCell(query),
    figure("Rows", query.result_rows, count, { title: `${grouped.format(query.result_rows)} rows` }),
    figure("Warnings", query.warnings, count, {
      title: query.rules.join("\n"),
      className: query.warnings > 0 ? "warned" : "soft",
    }),
    recordingCell(query),
  );
}

let shown = new Map();

function showRows(queries) {
  const body = byId("rows");
  const today = new Date().toDateString();
  const next = new Map();
  for (const query of queries) {
    const elapsed = Date.now() - query.startedMs;
    const soFar = query.status === "running" && elapsed >= 0 ? duration(Math.floor(elapsed / 1000) * 1000) : null;
    const version = JSON.stringify([query, soFar, today]);
    const known = shown.get(query.query_id);
    next.set(query.query_id, known?.version === version ? known : { version, row: row(query, soFar) });
  }
  let at = 0;
  for (const { row } of next.values()) {
    if (body.children[at] !== row) body.insertBefore(row, body.children[at] ?? null);
    at += 1;
  }
  while (body.children.length > at) body.lastChild.remove();
  shown = next;
}

function showPage(state, queries, older) {
  const filtered = [state.q && `with “${state.q}”`, state.status && `that are ${state.status}`].filter(Boolean).join(" ");
  showRows(queries);
  byId("queries").hidden = queries.length === 0;
  const amount = queries.length === 1 ? "1 query" : `${queries.length} queries`;
  const place = state.cursor !== "" ? "older ones" : older ? "the newest" : "all there are";
  say(byId("caption"), `${amount} ${filtered}${filtered && ","} ${place}`.replace(/ +/g, " "));
  let nothing = "";
  if (queries.length === 0) {
    if (state.cursor !== "") nothing = "There are no older queries.";
    else if (filtered) nothing = `There is no query ${filtered}.`;
    else nothing = "No query has been sent yet. The first one shows up here within two seconds.";
  }
  say(byId("empty"), nothing);
  byId("newest").hidden = state.cursor === "";
  byId("newest").href = addressOf({ ...state, cursor: "" });
  byId("older").hidden = older === null;
  byId("older").href = addressOf({ ...state, cursor: older ?? "" });
  if (queries.length === 0 && !filtered && state.cursor === "") byId("send").open ||= !byId("send").dataset.touched;
}

// Asking.

async function ask(address, signal) {
  const answer = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]), cache: "no-store" });
  return { ok: answer.ok, status: answer.status, text: await answer.text(), link: answer.headers.get("link") ?? "" };
}

function olderCursor(link) {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link);
  return next && new URL(next[1], location.origin).searchParams.get("cursor");
}

function problemOf(answer) {
  try {
    return JSON.parse(answer.text).error ?? `the answer was ${answer.status}`;
  } catch {
    return `the answer was ${answer.status}`;
  }
}

let heardAt = null;
let listedAt = null;
let running = new AbortController();
let timer = 0;

function showHealth(lives) {
  const health = byId("health");
  health.className = lives ? "runs" : "lost";
  const since = heardAt === null ? "" : ` since ${localTime(heardAt)}`;
  say(health, lives ? "The service runs" : `The service does not answer${since}`);
}

function showProblem(problem) {
  const then = listedAt === null ? "" : "; shown is what was known then";
  byId("queries").classList.toggle("stale", problem !== "");
  say(byId("notice"), problem && `${problem}${then}.`);
}

async function refresh() {
  clearTimeout(timer);
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const state = wanted();
  try {
    const list = `/api/queries?${queryString({ ...state, limit: String(PAGE_ROWS) })}`;
    const [health, answer] = await Promise.all([ask("/v1/health", signal), ask(list, signal)]);
    if (signal.aborted) return;
    if (!health.ok) throw new Error(problemOf(health));
    heardAt = Date.now();
    showHealth(true);
    if (answer.ok) {
      showPage(state, parseQueries(answer.text), olderCursor(answer.link));
      listedAt = heardAt;
      showProblem("");
    } else {
      const since = listedAt === null ? "" : ` since ${localTime(listedAt)}`;
      showProblem(`The queries can not be read${since} (${problemOf(answer)})`);
    }
  } catch {
    if (signal.aborted) return;
    showHealth(false);
    showProblem(byId("health").textContent);
  }
  if (!document.hidden) timer = setTimeout(refresh, REFRESH_MS);
}

// What a person does.

async function copy(button) {
  const code = byId(button.dataset.copies);
  let done = "Copied";
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // Without a secure connection a page may not copy by itself; the selected text waits for the keyboard.
    getSelection().selectAllChildren(code);
    done = "Press Ctrl+C";
  }
  button.textContent = done;
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

byId("snippet").textContent = byId("snippet").textContent.replace(/http:\/\/[^"]+/, location.origin);
for (const button of document.querySelectorAll("button[data-copies]")) button.addEventListener("click", () => copy(button));
document.querySelector("#send summary").addEventListener("click", () => { byId("send").dataset.touched = "yes"; });

let typing = 0;
byId("q").addEventListener("input", (event) => {
  clearTimeout(typing);
  const q = event.target.value.trim();
  typing = setTimeout(() => go(addressOf({ ...wanted(), q, cursor: "" }), { replace: true }), TYPING_MS);
});
byId("status").addEventListener("change", (event) => go(addressOf({ ...wanted(), status: event.target.value, cursor: "" })));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
document.querySelector("nav").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
  scrollTo(0, 0);
});
addEventListener("popstate", follow);
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));
follow();
