import { expect, test } from "vitest";
import { change } from "./change-example";
import {
  beforeAndAfter,
  causeName,
  causeWords,
  changeLine,
  changeOf,
  costLine,
  firstCause,
  isSince,
  listedCauses,
  medians,
  place,
  stateWords,
  usualBy,
  usualOf,
  type Cause,
  type Change,
} from "./change";
import { emptyLine, groupCause, groupCost, grouped, groupLine, groupTitle, homeLine, splitLine } from "./change-groups";
import type { Issue } from "./issue";

const said = (time: bigint): string => `t${time}`;
const HOUR = 3_600_000_000_000n;
const cause = (given: Partial<Cause>): Cause => ({
  cause: "slower_per_row",
  share: 1,
  wall_ms: 5,
  evidence: [],
  sentence: "Scan #1 takes 2.0x as long for each row",
  ...given,
});

test("a change says how much, since when, and both sides", () => {
  expect(changeLine(change(), said)).toBe("2.4x slower since t9 (93.5 s in 37 runs, before 39.7 s in 120)");
  expect(changeLine(change({ kind: "faster", factor: 0.5 }), said)).toMatch(/^2\.0x faster since t9 /);
  expect(changeLine(change({ kind: "data_grew", factor: 1.5 }), said)).toMatch(/^1\.5x slower as its data grew since/);
  expect(changeLine(change({ factor: null }), said)).toMatch(/^Slower since t9 /);
  const failing = { kind: "failing", after: { runs: 10, failed: 9 }, before: { runs: 120, failed: 0 } } as const;
  expect(changeLine(change(failing), said)).toBe("Fails since t9 (9 of 10 runs, before 0 of 120)");
});

test("a run is held against those before a change, and since it got faster against those since", () => {
  expect(usualBy(change())).toEqual({ wallMs: 39_700, runs: 120, isSinceFaster: false });
  expect(usualBy(change({ kind: "data_grew" }))).toEqual({ wallMs: 39_700, runs: 120, isSinceFaster: false });
  expect(usualBy(change({ kind: "faster" }))).toEqual({ wallMs: 93_500, runs: 37, isSinceFaster: true });
  expect(usualBy(change({ kind: "faster", after: { runs: 6, failed: 2, median_wall_ms: 9 } }))).toBeNull();
  expect(usualBy(change({ kind: "failing" }))).toBeNull();
  expect(usualBy(change({ before: { runs: 0, failed: 0 } }))).toBeNull();
});

test("a run is told with the change of its query that it is since, else with its earlier runs", () => {
  const run = { project: "p", label: "a", service: "etl", host: "h", started_unix_ns: 9n } as Parameters<
    typeof isSince
  >[1];
  const [slower, faster] = [change({ label: "a", service: "etl", environment: null }), change({ kind: "faster" })];
  const own = { ...faster, project: slower.project ?? "p", label: "a", service: "etl", environment: null };
  expect(changeOf({ ...run, project: slower.project ?? "p" }, [own, slower])).toBe(slower);
  expect(changeOf({ ...run, label: "b" }, [slower])).toBeUndefined();
  expect(changeOf({ ...run, environment: "dev" }, [slower])).toBeUndefined();
  const progress = { usual_wall_ms: 7, runs: 12 } as Parameters<typeof usualOf>[1];
  expect(usualOf(slower, progress)).toEqual(usualBy(slower));
  expect(usualOf(undefined, progress)).toEqual({ wallMs: 7, runs: 12 });
  expect(usualOf(undefined, undefined)).toBeNull();
});

test("the medians of both sides stand side by side where there are times", () => {
  expect(medians(change())).toBe("39.7 s → 93.5 s");
  expect(medians(change({ kind: "failing" }))).toBe("");
  expect(medians(change({ before: { runs: 3, failed: 3 } }))).toBe("");
});

test("runs that failed have no part in the times", () => {
  const { after, before } = change();
  expect(beforeAndAfter(change({ after: { ...after, failed: 7 }, before }))).toMatch(/^93\.5 s in 30 runs, /);
});

test("causes are the service's sentences; what is not known is said", () => {
  expect(firstCause(change({ causes: [cause({})] }))).toBe("Scan #1 takes 2.0x as long for each row.");
  expect(firstCause(change())).toBe("The cause is not known.");
  expect(firstCause(change({ kind: "failing" }))).toBe("");
  expect(causeWords({ cause: "unexplained", sentence: "", wall_ms: 5 })).toBe("No counter explains it.");
});

test("what made runs faster is not called by what makes them slower", () => {
  expect(causeName({ cause: "more_rows" }, false)).toBe("More rows");
  expect(causeName({ cause: "more_rows" }, true)).toBe("Fewer rows");
  expect(causeName({ cause: "starved_cpu" }, true)).toBe("All nodes faster");
  expect(causeName({ cause: "engine_version" }, true)).toBe("Engine version");
});

test("busy threads are not told as threads", () => {
  const by = (name: string): Pick<Cause, "cause" | "evidence"> => ({
    cause: "fewer_threads",
    evidence: [{ name, before: 2.2, after: 3.6, unit: "threads" }],
  });
  expect(causeName(by("threads_used"), false)).toBe("Fewer threads busy");
  expect(causeName(by("threads_used"), true)).toBe("More threads busy");
  expect(causeName(by("threads"), false)).toBe("Fewer threads");
  expect(causeName(by("partitions"), true)).toBe("More threads");
  expect(causeWords({ ...by("threads_used"), sentence: "", wall_ms: -5 })).toBe("More threads busy.");
  const since = `since t${2n * HOUR}`;
  const used = cause(by("threads_used"));
  expect(groupTitle({ changes: [at("a", 2, { causes: [used] }), at("b", 2, { causes: [used] })] }, said)).toBe(
    `2 queries of etl are slower ${since}: fewer threads busy`,
  );
});

test("a cost that is none is not told", () => {
  expect(costLine(change())).toBe("12 min a day more than before, at its rate of runs; 1 h 03 min so far");
  expect(costLine(change({ state: "recovered" }))).toBe("1 h 03 min more than before in all");
  expect(costLine(change({ state: "recovered", kind: "failing" }))).toBe("");
  expect(costLine(change({ cost: { runs: 3, extra_wall_ms: 0, extra_cpu_ms: 0, wall_ms_a_day: 0 } }))).toBe("");
  const grown = { runs: 0, extra_wall_ms: 0, extra_cpu_ms: 0, wall_ms_a_day: 720_000 };
  expect(costLine(change({ kind: "data_grew", cost: grown }))).toBe(
    "12 min a day more than before, at its rate of runs",
  );
  expect(costLine(change({ cost: { runs: 3, extra_wall_ms: -60, extra_cpu_ms: 0, wall_ms_a_day: -90 } }))).toBe(
    "90 ms a day less than before, at its rate of runs; 60 ms so far",
  );
});

test("a change of one host is of its runs alone", () => {
  expect(place(change({ host: "etl-3", environment: "prod" }))).toBe("on host etl-3, in prod");
  expect(place(change())).toBe("");
  const run = { started_unix_ns: 9n, host: "etl-3" } as Parameters<typeof isSince>[1];
  expect(isSince(change({ host: "etl-3" }), run)).toBe(true);
  expect(isSince(change({ host: "etl-4" }), run)).toBe(false);
  expect(isSince(change({ since_unix_ns: 10n }), run)).toBe(false);
});

test("a cause of no time whose sentence ends an earlier one is not listed again", () => {
  const first = cause({ sentence: "Since 1.1 (was 1.0): Select calls user code" });
  const again = cause({ cause: "user_code", share: 0, sentence: "Select calls user code" });
  const rest = cause({ cause: "unexplained", share: 0.005, sentence: "" });
  const silent = cause({ cause: "contention", sentence: "" });
  const of = (kind: Change["kind"], ...causes: Cause[]): Cause[] => listedCauses(change({ kind, causes }));
  expect(of("slower", first, again, silent, rest)).toEqual([first, silent]);
  expect(of("slower", again, first)).toEqual([again, first]);
  expect(of("slower", first, { ...again, share: 0.2 })).toHaveLength(2);
  expect(of("failing", first)).toEqual([]);
});

test("a change that is over says since when", () => {
  expect(stateWords(change({ state: "recovered", recovered_unix_ns: 70n }), said)).toBe("recovered t70");
  expect(stateWords(change({ state: "superseded" }), said)).toBe("superseded");
});

const version = cause({
  cause: "engine_version",
  dimension: { name: "engine_version", before: "54.1", after: "55.0" },
});
const at = (label: string, hours: number, more: Partial<Change> = {}): Change =>
  change({ id: label, label, since_unix_ns: BigInt(hours * 60) * (HOUR / 60n), causes: [version], ...more });

test("changes of one cause that began together are one group", () => {
  const other = cause({ ...version, dimension: { name: "engine_version", before: "54.1", after: "55.1" } });
  expect(grouped([at("a", 2, { environment: "prod" }), at("b", 2, { environment: "dev" })]).length).toBe(2);
  const groups = grouped([
    at("a", 2.5),
    at("alone", 2, { causes: [other] }),
    at("b", 2),
    at("late", 3.5),
    at("elsewhere", 2, { service: "billing" }),
    at("fails", 2, { kind: "failing" }),
  ]);
  const labels = groups.map(({ changes }) => changes.map(({ label }) => label).join(" "));
  expect(labels).toEqual(["a b", "alone", "late", "elsewhere", "fails"]);
  const [first] = groups;
  if (first === undefined) throw new Error("no group");
  expect(groupLine(first, said)).toBe(`2 queries of etl are slower, the first since t${2n * HOUR}`);
  // "alone" is slower, too, and in another group.
  expect(groupTitle(first, said)).toBe(`2 queries of etl are slower, the first since t${2n * HOUR}: engine version`);
  expect(groupTitle({ changes: [at("a", 2), at("a", 2, { host: "h" })] }, said)).toBe(
    `a of etl is slower since t${2n * HOUR}`,
  );
  const fails: Partial<Change> = { kind: "failing", causes: [cause({ cause: "failures" })] };
  expect(groupTitle({ changes: [at("a", 2, fails), at("b", 2, fails)] }, said)).toBe(
    `2 queries of etl fail since t${2n * HOUR}`,
  );
  expect(groupCause(first)).toBe("All changed with the engine: 55.0, before 54.1.");
  expect(groupCost(first)).toBe("24 min a day more than before, at their rates of runs");
  // A host whose runs alone changed has no host before it: it had run them, too.
  const host = cause({ cause: "host", dimension: { name: "host", before: null, after: "w3" } });
  const [alone] = grouped([at("a", 2, { causes: [host] }), at("b", 2, { causes: [host] })]);
  expect(alone && groupCause(alone)).toBe("All changed on host w3.");
});

test("causes that are not known are not one cause", () => {
  const unknown = cause({ cause: "unexplained", sentence: "The counters do not say where 5 s (90 %) went" });
  expect(grouped([at("a", 2, { causes: [unknown] }), at("b", 2, { causes: [unknown] })]).length).toBe(2);
  expect(grouped([at("a", 2, { causes: [] }), at("b", 2, { causes: [] })]).length).toBe(2);
  // One cause may be more of something or less of it.
  const [more, less] = [cause({ cause: "more_rows" }), cause({ cause: "more_rows", wall_ms: -5 })];
  expect(grouped([at("a", 2, { causes: [more] }), at("b", 2, { causes: [less] })]).length).toBe(2);
  // What is not known of the rest is no cause of the whole.
  expect(grouped([at("a", 2, { causes: [version, unknown] }), at("b", 2)]).length).toBe(1);
});

test("one issue beside the changes is named", () => {
  const missing = {
    label: "jobs/daily",
    service: "etl",
    kind: "missing",
    severity: 3,
    findings: [],
  } as unknown as Issue;
  const line = (changes: Change[], alone: Issue[], ...labels: string[]): string =>
    homeLine({ changes, alone, isCut: false, queries: 4, during: "", ambiguous: new Set(labels) }, said);
  expect(line([], [missing])).toBe("jobs/daily is missing");
  expect(line([], [missing], "jobs/daily")).toBe("jobs/daily of etl is missing");
  expect(line([], [missing, missing])).toBe("2 issues are open");
  expect(line([at("a", 2)], [missing])).toMatch(/^a is .*; jobs\/daily is missing$/);
  expect(line([at("a", 2)], [missing, missing])).toMatch(/; 2 other issues are open$/);
});

test("the first line says nothing twice", () => {
  const line = (...changes: Change[]): string =>
    homeLine({ changes, isCut: false, queries: 44, during: "in 14 days" }, said);
  const rows = cause({ cause: "more_rows" });
  const since = `since t${2n * HOUR}`;
  // Groups that differ in their cause alone are one clause.
  const [c, d] = [at("c", 2, { causes: [rows] }), at("d", 2.5, { causes: [rows] })];
  expect(line(at("a", 2), at("b", 2), c, d)).toBe(`4 queries of etl are slower, the first ${since}`);
  const dev = { environment: "dev" };
  const prod = { environment: "prod" };
  expect(line(at("a", 2, prod), at("b", 2, prod), at("c", 2, dev), at("d", 2, dev))).toBe(
    `2 queries of etl are slower in prod ${since}; 2 queries of etl are slower in dev ${since}`,
  );
  expect(line(at("a", 2, prod), at("a", 2, { ...dev, host: "h" }))).toBe(
    `a of etl is 2.4x slower in prod ${since}; a of etl is 2.4x slower on host h, in dev ${since}`,
  );
  expect(line(at("a", 2, { project: "x" }), at("a", 2, { project: "y" }))).toBe(
    `a of etl is 2.4x slower in project x ${since}; a of etl is 2.4x slower in project y ${since}`,
  );
});

test("the first line says the service of a label that others have, too", () => {
  const changes = [at("a", 2, { service: "daft" }), at("b", 4)];
  const line = (...labels: string[]): string =>
    homeLine({ changes, isCut: false, queries: 9, during: "", ambiguous: new Set(labels) }, said);
  const [first, second] = [`since t${2n * HOUR}`, `since t${4n * HOUR}`];
  expect(line("a")).toBe(`a of daft is 2.4x slower ${first}; b is 2.4x slower ${second}`);
  expect(line("c")).toBe(`a is 2.4x slower ${first}; b is 2.4x slower ${second}`);
});

test("the first line counts a query once, whatever many changes it has", () => {
  const [one, two] = [at("a", 2, { host: "1" }), at("a", 2, { host: "2" })];
  expect(groupLine({ changes: [one, two] }, said)).toBe(`a of etl is slower since t${2n * HOUR}`);
  expect(groupLine({ changes: [one, two, at("b", 2)] }, said)).toBe(`2 queries of etl are slower since t${2n * HOUR}`);
  // One that is named is none of the others.
  const changes = [at("a", 2), at("b", 4), at("a", 6, { environment: "dev" }), at("c", 8)];
  expect(splitLine(homeLine({ changes, isCut: false, queries: 9, during: "" }, said))[1]).toBe("; 1 more is slower");
});

test("groups with the most time at stake come first", () => {
  const cost = { ...change().cost, wall_ms_a_day: 1_000_000 };
  const groups = grouped([at("much", 9, { cost, causes: [] }), at("a", 2), at("b", 2)]);
  expect(groups.map(({ changes }) => changes[0].label)).toEqual(["a", "much"]);
});

test("the first line names what got worse, and counts many", () => {
  const line = (changes: Change[], isCut = false): string =>
    homeLine({ changes, isCut, queries: 44, during: "in 14 days" }, said);
  expect(line([])).toBe("No change for the worse was found; 44 queries ran in 14 days");
  expect(line([change()])).toBe("a is 2.4x slower since t9");
  expect(line([change(), change({ label: "b", kind: "failing", since_unix_ns: 5n })])).toBe(
    "a is 2.4x slower since t9; b fails since t5",
  );
  expect(line([at("a", 2), at("b", 2), change({ label: "c", kind: "faster" })])).toBe(
    `2 queries of etl are slower since t${2n * HOUR}; 1 is faster`,
  );
  const many = [at("a", 2), at("b", 4), at("c", 6), change({ label: "d", kind: "failing" })];
  const named = "a is 2.4x slower since t7200000000000; b is 2.4x slower since t14400000000000";
  expect(splitLine(line(many))).toEqual([named, "; 1 more is slower, 1 fails"]);
  expect(splitLine(line(many, true))).toEqual([named, "; at least 1 more is slower, 1 fails"]);
  const fail = ["c", "d", "e"].map((label) => change({ label, service: label, kind: "failing" }));
  expect(splitLine(line(fail))).toEqual(["c fails since t9; d fails since t9", "; 1 more fails"]);
  expect(splitLine(line([change()]))).toEqual(["a is 2.4x slower since t9", ""]);
  expect(line([change({ kind: "data_grew" })])).toBe(
    "No change for the worse was found; 44 queries ran in 14 days; 1 is slower as its data grew",
  );
});

test("where nothing with a label ran, runs without one may have", () => {
  expect(emptyLine("in 14 days", false)).toBe("No query with a label ran in 14 days");
  expect(emptyLine("in 1 day", true)).toBe("No query with a label matches the filters in 1 day");
});
