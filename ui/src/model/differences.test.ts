import { expect, test } from "vitest";
import {
  contrastBasis,
  contrastStatistic,
  contrastWords,
  differencesLine,
  isWorthTelling,
  type Contrast,
  type Differences,
} from "./differences";

const host: Contrast = {
  name: "host",
  value: "worker-3",
  delta: 0.922,
  probability: 2e-21,
  first_runs: 28,
  second_runs: 1,
  first_median: null,
  second_median: null,
};
const rows: Contrast = { ...host, name: "rows_read", value: null, first_median: 4e6, second_median: 1e6 };
const told: Differences = {
  known_runs: 120,
  runs_min: 5,
  first: { runs: 30, median_ms: 93_500, least_ms: 71_000, most_ms: 118_000 },
  second: { runs: 90, median_ms: 39_700, least_ms: 36_000, most_ms: 52_000 },
  delta: 0.5,
  probability: 0.002,
  judgement: "slower",
  differences: [host, rows],
};
const plan = (fingerprint: string): string => `plan ${fingerprint === "f" ? "B" : "?"}`;

test("a difference is said in words, with what it rests on", () => {
  expect(contrastWords(host, plan)).toBe("on host worker-3");
  expect(contrastWords({ ...host, delta: -1 }, plan)).toBe("less often on host worker-3");
  expect(contrastWords({ ...host, name: "plan", value: "f" }, plan)).toBe("with plan B");
  expect(contrastWords({ ...host, name: "hour", value: "02" }, plan)).toBe("started in the hour from 02:00");
  expect(contrastWords(rows, plan)).toBe("rows read: 4 M instead of 1 M");
  expect(contrastWords({ ...rows, second_median: 4e6, delta: -0.4 }, plan)).toBe("less rows read: both about 4 M");
  expect(contrastBasis(host, told, "slow")).toBe("28 of 30 slower runs, 1 of 90 faster runs");
  expect(contrastBasis(rows, told, "slow")).toBe("known of 28 slower runs and 1 faster runs");
  expect(contrastStatistic(host)).toBe("Cliff's delta 0.92, p < 0.001");
});

test("a time far shorter than the gap is left out", () => {
  const planning: Contrast = { ...rows, name: "planning_ns", first_median: 689_000, second_median: 538_000 };
  expect(isWorthTelling(planning, told)).toBe(false);
  expect(isWorthTelling({ ...planning, first_median: 600e6 }, told)).toBe(true);
  expect(isWorthTelling({ ...planning, first_median: null }, told)).toBe(true);
  expect([rows, host].every((one) => isWorthTelling(one, told))).toBe(true);
});

test("what was compared is said, and why nothing is", () => {
  expect(differencesLine(told, "slow")).toBe(
    "30 slower runs (median 93.5 s) against 90 faster runs (median 39.7 s). Slower is from 71 s on.",
  );
  expect(differencesLine(told, "before")).toMatch(/\. Slower: Cliff's delta 0\.50, p = 0\.002\.$/);
  expect(differencesLine({ ...told, judgement: "alike" }, "version")).toMatch(/\. No clear difference: Cliff's/);
  expect(differencesLine({ ...told, judgement: "faster" }, "version")).toMatch(/\. Faster: Cliff's/);
  expect(differencesLine(told, "failed")).toBe("30 failed runs against 90 finished runs.");
  const none = { runs: 0, median_ms: null, least_ms: null, most_ms: null };
  const nothing = { ...told, first: none, second: none };
  // No group was formed: of 10 runs, two may be much slower than the others, or none.
  expect(differencesLine({ ...nothing, known_runs: 10 }, "slow")).toBe(
    "10 runs do not divide clearly into slower and faster ones of at least 5 each.",
  );
  // Only the runs that were compared are said to hold no slow one.
  expect(differencesLine({ ...nothing, known_runs: 98, second: told.second }, "slow")).toBe(
    "None of the 90 runs is much slower than the others.",
  );
  expect(differencesLine({ ...nothing, second: told.second }, "failed")).toBe(
    "0 failed runs and 90 finished runs were evaluated: each needs 5.",
  );
  expect(differencesLine({ ...nothing, known_runs: 3 }, "slow")).toBe(
    "3 runs of this time: 10 are needed to tell slower ones apart.",
  );
  expect(differencesLine({ ...nothing, second: told.second }, "version")).toBe(
    "0 runs of the one version and 90 runs of the other finished: each needs 5.",
  );
});
