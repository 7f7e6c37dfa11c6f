import { expect, test } from "vitest";
import { captured, everything, insightsCaptured } from "./captures";
import { firstLine, savesAtMost, standingOf, type Usual } from "./firstline";
import { momentAt } from "./moment";
import type { JsonObject } from "./json";
import { Run } from "./run";

const line = (run: Run): string => {
  const { state, cause } = firstLine(run, momentAt(run, null), standingOf(run), null);
  return [state, cause].filter(Boolean).join(" ");
};
const said = (label: string, usual: Usual | null = null): string => {
  const run = captured(label);
  const { state, cause } = firstLine(run, momentAt(run, null), standingOf(run), usual);
  return [state, cause].filter(Boolean).join(" ");
};

test("the first line says how it went and where the time is", () => {
  expect(said("join/exploding", { wallMs: 17, runs: 37 })).toBe(
    "Finished in 39 ms, 2.3x its usual time (17 ms, n = 37). " +
      "97 % of the CPU is in EquiJoin #4, which puts out 600x its larger input.",
  );
  expect(said("unique/redundant", { wallMs: 1900, runs: 8 })).toBe(
    "Finished in 1.87 s, 1.0x its usual time (1.9 s, n = 8). " +
      "69 % of the busy time is in GroupBy #3: deduplication removes no rows.",
  );
  expect(said("scan/csv")).toBe("Finished in 295 ms. 100 % of the CPU is in MultiScan #1, which read 45.2 MiB.");
  expect(said("wide/concat-60-groupbys")).toBe(
    "Finished in 403 ms. No node stands out: the five hottest of 422 take 18 % of the CPU.",
  );
});

test("a run since its query got faster is held against the runs since", () => {
  const usual = { wallMs: 1900, runs: 8, isSinceFaster: true };
  expect(said("unique/redundant", usual)).toMatch(
    /^Finished in 1\.87 s, 1\.0x its usual time since it got faster \(1\.9 s, n = 8\)\./,
  );
  const run = captured("unique/redundant");
  expect(firstLine(run, momentAt(run, 1500), "running", usual).state).toBe(
    "Running for 1.87 s, usually 1.9 s since it got faster, n = 8.",
  );
});

test("a failed run says so with the first line of its error: where its time went explains nothing", () => {
  for (const run of everything().runs.values()) {
    if (run.finished?.failed)
      expect(firstLine(run, momentAt(run, null), standingOf(run), null).state).toMatch(
        /^(Failed after [^:]*: .|Cancelled after [^:]*\.$)/,
      );
  }
  const { finished, queryId } = captured("scan/csv");
  const failed = new Run(queryId);
  if (finished) failed.add({ type: "finished", queryId, seq: 1, profile: { ...finished, failed: "disk full" } });
  expect(line(failed)).toBe("Failed after 295 ms: disk full.");
  expect(line(insightsCaptured("udf", "ux/interrupted-udf"))).toBe(
    "Cancelled after 2.22 s. 2.2 s of 2.22 s are in no counter; Select #2 runs Python code and is the likely place.",
  );
});

test("a running query is compared only once it is past its usual time", () => {
  const run = captured("unique/redundant");
  const line = (wallMs: number, elapsedMs?: number): string =>
    firstLine(run, momentAt(run, 1500), "running", { wallMs, runs: 9 }, [], elapsedMs).state;
  expect(line(3000)).toBe("Running for 1.87 s, usually 3 s, n = 9.");
  expect(line(1000)).toBe("Running for 1.87 s, 1.9x its usual time (1 s, n = 9).");
  expect(line(1000, 3000)).toBe("Running for 3 s, 3.0x its usual time (1 s, n = 9).");
});

test("time of user code is in no counter, and is not called waiting", () => {
  const slow = insightsCaptured("udf", "ux/slow-udf");
  expect(line(slow)).toBe(
    "Finished in 1.69 s. 1.68 s of 1.69 s are in no counter; Select #2 runs Python code and is the likely place.",
  );
  expect(firstLine(slow, momentAt(slow, 1200), "running", null).cause).toMatch(
    / so far are in no counter; Select #2 runs Python code/,
  );
  for (const finding of slow.finished?.findings ?? []) {
    const node = slow.plan.physical.find(({ id }) => id === finding.nodeId);
    expect(savesAtMost(finding, node)).toBeNull();
  }
  expect(line(insightsCaptured("udf", "ux/batches-udf"))).toMatch(/95 % of the counted CPU is in ColumnarFunction #2/);
});

test("calls of user code that were measured are in a counter", () => {
  const cause = (run: Run): string | null => firstLine(run, momentAt(run, null), "finished", null).cause;
  const udf = { user_code: "score" };
  expect(cause(made({ busy: 0.005, called: 12, process: 9.3, queries: 1 }, udf))).toBe(
    "12 s of 13 s are in calls of user code (score), made by Scan #1. " +
      "The process used 9.3 s of CPU meanwhile, with no other sampled run.",
  );
  expect(cause(made({ busy: 0.005, called: 15 }, { user_code: "python_udf" }))).toBe(
    "13 s of 13 s are in calls of Python code, made by Scan #1.",
  );
  // What is in no counter is not in calls that were measured, and what the engine counts is counted.
  expect(cause(made({ busy: 0.005, called: 1 }, udf))).toBe("12 s of 13 s are in no counter.");
  expect(cause(made({ busy: 12, called: 12 }, udf))).toMatch(/of the counted CPU is in Scan #1/);
  // They are measured however short the run is: of its other times, so little may be scheduling alone.
  expect(cause(made({ busy: 0.001, called: 0.2, wallMs: 221 }, udf))).toMatch(/^200 ms of 221 ms are in calls of/);
  expect(cause(made({ busy: 0.001, wallMs: 221 }, udf))).toMatch(/of the counted CPU is in Scan #1/);
});

test("a run whose executed plan was not sent says which was", () => {
  const end = captured("scan/csv").finished;
  const ended = (logical: NonNullable<typeof end>["plan"]["logical"]): string | null => {
    const run = new Run("q");
    if (!end) throw new Error("the capture has no end");
    const profile = { ...end, plan: { physical: [], logical } };
    run.add({ type: "finished", queryId: "q", seq: 1, profile });
    return firstLine(run, momentAt(run, null), "finished", null).cause;
  };
  expect(ended(end?.plan.logical ?? [])).toBe("Only its logical plan was sent.");
  expect(ended([])).toBe("No plan of it was sent.");
});

/** A run of one node and so many seconds, of which so many are told as reads and as the process's. */
function made(
  counters: {
    busy: number;
    cpu?: number;
    io?: number;
    process?: number;
    queries?: number;
    called?: number;
    wallMs?: number;
    engine?: string;
  },
  properties: JsonObject = {},
): Run {
  const run = new Run("q");
  const ns = (seconds: number | undefined): JsonObject[string] => (seconds === undefined ? null : seconds * 1e9);
  const nodes = [
    { id: "1", kind: "Scan", role: "scan" as const, inputs: [], properties, metrics: { busy_ns: ns(counters.busy) } },
  ];
  const plain = captured("scan/csv").finished;
  if (!plain) throw new Error("the capture has no end");
  const told = {
    io_ns: ns(counters.io),
    process_cpu_ns: ns(counters.process),
    process_queries: counters.queries ?? null,
    user_code_ns: ns(counters.called),
  };
  const profile = {
    ...plain,
    wallMs: counters.wallMs ?? 13_000,
    planningMs: 0,
    engine: counters.engine ?? plain.engine,
    cpuMs: counters.cpu === undefined ? null : counters.cpu * 1000,
    counters: told,
    findings: [],
    plan: { physical: nodes, logical: [] },
  };
  run.add({ type: "finished", queryId: "q", seq: 1, profile });
  return run;
}

test("only a counter of waiting makes it waiting", () => {
  const udf = { user_code: "score" };
  const cause = (run: Run): string | null => firstLine(run, momentAt(run, null), "finished", null).cause;
  expect(cause(made({ busy: 0.005 }))).toBe("13 s of 13 s are in no counter.");
  expect(cause(made({ busy: 0.5, io: 12 }))).toBe(
    "For 12 s of 13 s it waited: reads or writes were under way, and nothing worked.",
  );
  expect(cause(made({ busy: 0.5, io: 12 }, udf))).toMatch(/of the counted CPU is in Scan #1/);
  expect(cause(made({ busy: 0.5, io: 12, process: 1 }, udf))).toMatch(/^For 12 s of 13 s it waited/);
  expect(cause(made({ busy: 0.005, process: 9.3, queries: 1 }, udf))).toBe(
    "13 s of 13 s are in no counter; Scan #1 runs user code (score) and is the likely place. " +
      "The process used 9.3 s of CPU meanwhile, with no other sampled run.",
  );
  expect(cause(made({ busy: 0.005, process: 9.3, queries: 3 }))).toMatch(
    /used 9\.3 s of CPU meanwhile, up to 3 sampled runs at a time\.$/,
  );
  expect(cause(made({ busy: 0.005, process: 9.3 }))).toMatch(
    /used 9\.3 s of CPU meanwhile, its other work included\.$/,
  );
});

test("what an engine times by the clock on the wall, or cores cannot give, is no CPU time", () => {
  const cause = (busy: number, engine: string): string | null => {
    const run = made({ busy, engine });
    return firstLine(run, momentAt(run, null), "finished", null).cause;
  };
  for (const engine of ["duckdb", "datafusion"]) expect(cause(12, engine)).toMatch(/^100 % of the busy time is in/);
  expect([cause(25.9, "polars"), cause(26.1, "polars")]).toEqual([
    expect.stringMatching(/^100 % of the CPU is in/),
    expect.stringMatching(/^100 % of the busy time is in/),
  ]);
});

test("what is more than the whole process used is no CPU time", () => {
  const cause = (counters: Parameters<typeof made>[0]): string | null => {
    const run = made(counters);
    return firstLine(run, momentAt(run, null), "finished", null).cause;
  };
  expect(cause({ busy: 12, cpu: 12, process: 2 })).toMatch(/^100 % of the busy time is in Scan #1/);
  expect(cause({ busy: 12, cpu: 12, process: 12 })).toMatch(/^100 % of the CPU is in Scan #1/);
  expect(cause({ busy: 12, cpu: 12 })).toMatch(/^100 % of the CPU is in Scan #1/);
  expect(cause({ busy: 14, cpu: 12, process: 12 })).toMatch(/^100 % of the busy time is in Scan #1/);
  // Code that sleeps is in the time of its node, and in no CPU time.
  const sleeps = made({ busy: 12, cpu: 0.1, process: 0.1 }, { user_code: "score" });
  expect(firstLine(sleeps, momentAt(sleeps, null), "finished", null).cause).toMatch(/^100 % of the busy time is in/);
});

test("DataFusion's queries show rows and bytes", () => {
  const run = insightsCaptured("tpch", "tpch/q03");
  const moments = [...momentAt(run, null).nodes.values()];
  expect(moments.filter(({ rowsOut }) => rowsOut !== null)).toHaveLength(run.plan.physical.length);
  expect(moments.filter(({ readBytes }) => readBytes !== null && readBytes !== 0)).toHaveLength(3);
});

test("what a finding saves is what its evidence says", () => {
  const [first] = captured("unique/redundant").finished?.findings ?? [];
  if (!first) throw new Error("the capture has no finding");
  const saves = (name: string, value: unknown): unknown =>
    savesAtMost({ ...first, evidence: [{ name, value, unit: "ms" }] as typeof first.evidence }, undefined);
  expect(saves("saves_wall_at_most", 650)).toEqual({ ms: 650, isOfRun: true });
  expect(saves("saves_cpu_at_most", 6.78)).toEqual({ ms: 6.78, isOfRun: false });
  expect(saves("saves_wall_at_most", 0)).toBeNull();
  expect(saves("growth", 20)).toBeNull();
});
