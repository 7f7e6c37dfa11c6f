import { expect, test } from "vitest";
import { costLine, type Change } from "./change";
import { groupCost, grouped } from "./change-groups";
import { change } from "./change-example";
import {
  detailLine,
  isFound,
  historyOf,
  isHere,
  isNewlyOpen,
  issueLine,
  issueNotice,
  issueSince,
  issuesLine,
  issueWords,
  muteWords,
  reasonOf,
  rowStakeMs,
  rowWords,
  severityFigure,
  stateLine,
  told,
  transitionWords,
  type Issue,
  type Row,
  type Transition,
} from "./issue";
import { nextRow } from "./issue-keys";

const said = (time: bigint): string => `t${time}`;

function issue(given: Partial<Issue> = {}): Issue {
  return {
    id: "issue-slower-1",
    project: "default",
    service: "etl",
    label: "a",
    kind: "slower",
    state: "open",
    opened_unix_ns: 5n,
    moved_unix_ns: 6n,
    transitions: 1,
    change: "slower-1",
    environment: null,
    host: null,
    wall_ms_a_day: 720_000,
    severity: 2.4,
    calm_runs: 0,
    ...given,
  };
}
const row = (given: Partial<Issue> = {}): Row => ({ issue: issue(given), change: change() });
const move = (given: Partial<Transition>): Transition => ({
  number: 1,
  unix_ns: 1n,
  from: null,
  to: "open",
  actor: "service",
  reason: "the change slower-1 was confirmed",
  ...given,
});

test("an issue is found by what its row says", () => {
  const one = issue({ label: "orders/daily", service: "etl" });
  const about = change({
    causes: [{ cause: "skew", share: 1, wall_ms: 1, evidence: [], sentence: "Join #3 is skewed" }],
  });
  const finds = (find: string, of?: typeof about, error?: string): boolean => isFound(one, of, error, find, said);
  for (const find of ["", "ORDERS", " etl ", "etl orders/d", "2.4x slower", "open"]) expect(finds(find)).toBe(true);
  expect(["join #3", "orders billing"].map((find) => finds(find))).toEqual([false, false]);
  expect(finds("join #3", about)).toBe(true);
  // Between a number and its unit a line does not break.
  expect(finds("93.5 s", change())).toBe(true);
  expect(finds("column", about, "no column x")).toBe(true);
});

test("an issue says what, since when, and what is at stake", () => {
  expect(issueLine(issue(), undefined, said)).toBe("a is 2.4x slower since t5");
  expect(issueLine(issue(), change({ factor: 3.1 }), said)).toBe("a is 3.1x slower since t9");
  expect(issueLine(issue({ kind: "failing", severity: 0.9 }), change({ kind: "failing" }), said)).toBe(
    "a fails in 90 % of its runs since t9",
  );
  expect(issueLine(issue({ state: "resolved" }), change(), said)).toBe("a: slower, resolved t6");
  expect(issueWords(issue({ kind: "data_grew", severity: 1.5 }))).toBe("is 1.5x slower as its data grew");
  const warned = issue({ kind: "new_finding", change: null, run: "q", findings: ["skew", "tiny_batches"] });
  expect(issueLine(warned, undefined, said)).toBe("a warns of skew, tiny batches");
  expect(severityFigure(issue({ kind: "new_finding", severity: 2 }))).toEqual(["new findings", "2"]);
  expect(severityFigure(issue({ kind: "missing", severity: 3 }))).toEqual(["of its usual gap", "≥ 3.0x"]);
  const late = issue({ kind: "late", change: null, run: "q", detail: "the run started 94.0 s ago and has not ended" });
  expect(issueLine(late, undefined, said)).toBe("a is late, at least 2.4x what nine tenths of its earlier runs took");
  expect(severityFigure(late)).toEqual(["of what nine tenths of its earlier runs took", "≥ 2.4x"]);
  expect(detailLine(late, said)).toBe("The run started 94.0 s ago and has not ended.");
  // The figures moved last before the run ended.
  expect(detailLine({ ...late, state: "resolved" }, said)).toBe("The run had started 94.0 s ago.");
  expect(detailLine({ ...late, state: "resolved" }, said, "the late run finished after 96.0 s")).toBe(
    "The run finished after 96.0 s.",
  );
  expect(detailLine({ ...late, state: "resolved" }, said, "resolved")).toBe("The run had started 94.0 s ago.");
  const old = { ...late, detail: "the run has run for 94.0 s; none ran so long" };
  expect(detailLine({ ...old, state: "resolved" }, said, "")).toBe("The run had started 94.0 s ago; none ran so long.");
  const missing = issue({ kind: "missing", good_unix_ns: 4n, detail: "no run has started for 3 h; runs start often" });
  expect(detailLine(missing, said)).toBe("No run has started since t4; runs start often.");
  expect(detailLine({ ...missing, state: "resolved" }, said)).toBe(
    "After t4 no run was reported for at least 3 h; runs start often.",
  );
  expect(detailLine({ ...missing, good_unix_ns: null }, said)).toBe("No run has started for 3 h; runs start often.");
  expect(detailLine(issue(), said)).toBe("");
  expect(issuesLine([row(), row({ wall_ms_a_day: 0 })], false, "open ")).toBe("2 open issues, 12 min a day at stake");
  expect(issuesLine([row({ wall_ms_a_day: 0 })], true, "")).toBe("At least 1 issue");
  // A failing query shows no time: it is in no sum.
  expect(issuesLine([row(), row({ kind: "failing" })], false, "")).toBe("2 issues, 12 min a day at stake");
});

test("nothing is at stake of what is muted or over, nor of a run", () => {
  const [muted, resolved] = [row({ state: "muted" }), row({ state: "resolved" })];
  expect(issuesLine([muted, muted], false, "muted ")).toBe("2 muted issues");
  expect(issuesLine([resolved], false, "resolved ")).toBe("1 resolved issue");
  expect(issuesLine([row({ state: "regressed" }), muted, resolved], false, "")).toBe("3 issues, 12 min a day at stake");
  expect(rowStakeMs(row({ kind: "late", change: null, run: "q" }))).toBe(0);
  expect(rowStakeMs(row({ state: "acknowledged" }))).toBe(720_000);
  // The change is over, and its issue waits for more runs as before.
  expect(rowStakeMs({ issue: issue() })).toBe(0);
  expect(rowStakeMs({ issue: issue(), change: change({ state: "recovered" }) })).toBe(0);
});

test("a row says what its runs did, and since when", () => {
  expect(rowWords(issue({ state: "muted" }))).toBe("2.4x slower");
  expect(rowWords(issue(), change({ factor: 3 }))).toBe("3.0x slower");
  const failing = issue({ kind: "failing", severity: 0.9 });
  expect(rowWords(failing, change({ kind: "failing" }))).toBe("Fails in 90 % of its runs");
  expect(rowWords(failing)).toBe("Failed in 90 % of its runs");
  // What is over is told as what was.
  const over = (given: Partial<Issue>): string => rowWords(issue({ state: "resolved", ...given }));
  expect(over({})).toBe("Was 2.4x slower");
  expect(over({ kind: "failing", severity: 0.9 })).toBe("Failed in 90 % of its runs");
  expect(over({ kind: "new_finding", findings: ["skew"] })).toBe("Warned of skew");
  expect(issueSince(issue({ since_unix_ns: 3n }))).toBe(3n);
  expect(issueSince(issue({ since_unix_ns: null }))).toBe(5n);
  expect(issueLine(issue({ since_unix_ns: 3n }), undefined, said)).toBe("a is 2.4x slower since t3");
  const recovered = change({ state: "recovered" });
  expect(issueLine(issue(), recovered, said)).toBe("a was 2.4x slower from t9 on; its change is over");
});

test("a mute says until when", () => {
  const muted = (mute: Issue["mute"]): string => stateLine(issue({ state: "muted", mute: mute ?? null }), said);
  expect(muted({ until_unix_ns: 7n })).toBe("muted until t7");
  expect(muted({ times_worse: 2, severity: 2.4 })).toBe("muted until it is 2.0x worse");
  expect(muted({ until_other: "engine", version: "55.0" })).toBe(
    "muted until another version of the engine than 55.0 runs",
  );
  expect(muteWords(issue(), said)).toBe("");
  // A mute outlives a resolution.
  expect(stateLine(issue({ state: "resolved", mute: { until_unix_ns: 7n } }), said)).toBe("resolved");
});

test("a transition says who did what", () => {
  expect(transitionWords(move({}))).toBe("opened");
  expect(transitionWords(move({ from: "open", to: "acknowledged", actor: "person", by: "Ada" }))).toBe(
    "acknowledged by Ada",
  );
  expect(transitionWords(move({ from: "muted", to: "muted", actor: "person" }))).toBe("muted anew by somebody");
  expect(transitionWords(move({ from: "open", to: "resolved" }))).toBe("resolved by itself");
  expect(transitionWords(move({ from: "resolved", to: "regressed" }))).toBe("came back by itself");
  expect(transitionWords(move({ from: "muted", to: "open" }))).toBe("open again by itself");
  expect(transitionWords(move({ from: "muted", to: "open", actor: "person" }))).toBe("reopened by somebody");
  expect(reasonOf({ reason: "acknowledged", to: "acknowledged" })).toBe("");
  expect(reasonOf(move({ change: "slower-1" }))).toBe("its change was confirmed");
  expect(reasonOf({ reason: "5 runs are as before", to: "resolved" })).toBe("5 runs are as before");
});

test("the history is one, the last first", () => {
  const note = { unix_ns: 2n, by: "Ada", text: "the new join" };
  const moves = [move({ unix_ns: 1n }), move({ number: 2, unix_ns: 2n }), move({ number: 3, unix_ns: 3n })];
  const events = historyOf(moves, [note]);
  expect(events.map((event) => ("note" in event ? "note" : event.transition.number))).toEqual([3, "note", 2, 1]);
});

test("a notification is for what opens by itself, and says what", () => {
  expect(isNewlyOpen(issue())).toBe(true);
  expect(isNewlyOpen(issue({ state: "regressed", transitions: 7 }))).toBe(true);
  expect(isNewlyOpen(issue({ transitions: 3 }))).toBe(false);
  expect(isNewlyOpen(issue({ state: "resolved" }))).toBe(false);
  expect(issueNotice(issue({ host: "etl-3" }))).toEqual({
    title: "a is 2.4x slower",
    body: "12 min a day at stake\netl · etl-3",
  });
  expect(issueNotice(issue({ state: "regressed" })).title).toBe("a is again 2.4x slower");
});

test("what is told as an issue is not told again as a change", () => {
  const changes = [
    change({ id: "slower-1" }),
    change({ id: "slower-2" }),
    change({ id: "slower-3" }),
    change({ id: "slower-4" }),
    change({ id: "faster-5", kind: "faster" }),
    ...["6", "7", "8"].map((id) => change({ id, kind: "data_grew" })),
  ];
  const issues = [
    issue({ id: "open", change: "slower-1" }),
    issue({ id: "muted", change: "slower-2", state: "muted" }),
    issue({ id: "resolved", change: "slower-3", state: "resolved" }),
    issue({ id: "alone", change: "gone", state: "acknowledged" }),
    issue({ id: "old", change: "gone too", state: "resolved" }),
    issue({ id: "grew", change: "6", kind: "data_grew" }),
    issue({ id: "mute", change: "7", kind: "data_grew", state: "muted" }),
    issue({ id: "over", change: "8", kind: "data_grew", state: "resolved" }),
  ];
  const { worse, quiet, alone, muted, resolved, byChange } = told(changes, issues);
  // The fourth has no issue: too little is at stake.
  expect(worse.map(({ id }) => id)).toEqual(["slower-1", "slower-4"]);
  expect([alone, muted, resolved].map((list) => list.map(({ id }) => id))).toEqual([
    ["alone"],
    ["muted", "mute"],
    ["resolved", "over"],
  ]);
  expect(quiet.map(({ id }) => id)).toEqual(["faster-5", "6"]);
  expect(byChange.get("slower-1")?.id).toBe("open");
});

test("failures stand by what their issue says is at stake", () => {
  const cost = { runs: 10, extra_wall_ms: 0, extra_cpu_ms: 0, wall_ms_a_day: 0 };
  const failures: Change["causes"][number] = { cause: "failures", share: 1, wall_ms: 0, evidence: [], sentence: "" };
  const failing = (id: string): Change =>
    change({ id, label: id, kind: "failing", cost, since_unix_ns: BigInt(id), causes: [failures] });
  const hour = 3_600_000_000_000n;
  const changes = [change({ id: "slower-1", since_unix_ns: 3n * hour }), failing("1"), failing("2")];
  const { worse } = told(changes, [issue({ kind: "failing", change: "1", wall_ms_a_day: 900_000 })]);
  const groups = grouped([...worse, { ...failing("0"), service: "other" }]);
  expect(groups.map((group) => [group.changes.map(({ id }) => id).join(), groupCost(group)])).toEqual([
    ["1,2", ""],
    ["slower-1", "12 min a day more than before, at its rate of runs"],
    ["0", ""],
  ]);
  expect(worse.map(costLine)).toEqual([
    "12 min a day more than before, at its rate of runs; 1 h 03 min so far",
    "",
    "",
  ]);
});

test("filters keep issues as they keep changes", () => {
  expect(isHere(issue(), {})).toBe(true);
  expect(isHere(issue(), { environment: "" })).toBe(true);
  expect(isHere(issue({ environment: "prod" }), { environment: "test" })).toBe(false);
  expect(isHere(issue(), { host: "etl-1" })).toBe(false);
  expect(isHere(issue({ host: "etl-1" }), { host: "etl-1" })).toBe(true);
});

test("j and k move between rows", () => {
  expect([nextRow(3, -1, "j"), nextRow(3, -1, "k"), nextRow(3, 0, "j"), nextRow(3, 2, "j")]).toEqual([0, 2, 1, 2]);
  expect([nextRow(3, 0, "k"), nextRow(0, -1, "j"), nextRow(0, -1, "k")]).toEqual([0, -1, -1]);
});
