import { expect, test } from "vitest";
import { captured, everything, insightsCaptured } from "../../model/run/captures";
import { firstLine, standingOf } from "../../model/run/firstline";
import { momentAt } from "../../model/run/moment";
import type { Finding } from "../../model/run/profile";
import { readRecording } from "../../model/run/run";
import { ALL_MASKED, sharedLines, textsLeaving } from "./mask";
import { maskText } from "./mask-text";

const NONE = { literals: false, paths: false, errors: false, label: false, place: false };

test("values are masked, names of columns are not", () => {
  const masked = (text: string): string => maskText(text, ALL_MASKED);
  expect(masked('(col("amount") > 990.0) & (col("region") == "EU")')).toBe(
    '(col("amount") > <num>) & (col("region") == "<str>")',
  );
  expect(masked("o_total@3 > 17 AND o_status = 'urgent \\' one'")).toBe('o_total@3 > <num> AND o_status = "<str>"');
  expect(masked('col("x2").str.replace(["(\\d)", "$2"]).alias("r")')).toBe(
    'col("x2").str.replace(["<str>", "<str>"]).alias("r")',
  );
  expect(masked("read s3://bucket/a b.parquet and /srv/data/x.csv")).toBe("read <path> b.parquet and <path>");
  expect(masked("exports/2026/q3.parquet")).toBe("<path>");
  expect(masked("price * qty / 2")).toBe("price * qty / <num>");
});

test("nothing that was masked is anywhere in what leaves", () => {
  for (const run of everything().runs.values()) {
    const text = sharedLines(run, ALL_MASKED).join("\n");
    for (const secret of [
      "/srv/",
      '.parquet"',
      "SECRET",
      "workload.py",
      "worker-1",
      "orders-etl",
      run.profile?.label?.includes("/") && run.profile.label,
    ]) {
      if (secret) expect(text.includes(`${secret}`), `${secret} of ${run.profile?.label}`).toBe(false);
    }
  }
});

test("what is shared shows the same run", () => {
  const run = captured("unique/redundant");
  const shared = [...readRecording(sharedLines(run, ALL_MASKED).join("\n")).runs.values()][0];
  if (!shared) throw new Error("nothing was shared");
  for (const time of [1100, null]) {
    const shares = (one: typeof run): unknown[] =>
      [...momentAt(one, time).nodes].map(([id, { share, rowsOut }]) => [id, share, rowsOut]);
    expect(shares(shared)).toEqual(shares(run));
  }
  expect(shared.finished?.startedUnixNs).toBe(run.finished?.startedUnixNs);
  expect(shared.finished?.findings).toEqual(run.finished?.findings);
});

test("what is shared is cancelled, and did not fail, where that is so", () => {
  const states = ["ux/interrupted-udf", "ux/failing-udf"].map((label) => {
    const lines = sharedLines(insightsCaptured("udf", label), ALL_MASKED).join("\n");
    const [shared] = readRecording(lines).runs.values();
    if (!shared) throw new Error("nothing was shared");
    return firstLine(shared, momentAt(shared, null), standingOf(shared), null).state;
  });
  expect(states).toEqual([expect.stringMatching(/^Cancelled after/), expect.stringMatching(/^Failed after/)]);
});

test("the preview lists every text, and masks take them out", () => {
  const run = captured("scan/parquet-filter-project");
  expect(textsLeaving(run, NONE)).toContain('(col("amount") > 990.0) & (col("region") == "EU")');
  expect(textsLeaving(run, NONE)).toContain("scan/parquet-filter-project");
  const masked = textsLeaving(run, ALL_MASKED).join("\n");
  expect(masked).not.toMatch(/990|EU|orders\.parquet|scan\//);
});

test("what the service found goes along, without what it quotes", () => {
  const run = captured("scan/csv");
  const found = {
    ...captured("unique/redundant").finished?.findings[0],
    title: "reads 3 files of /srv/data/lake",
    fix: "drop 'EU' first",
  };
  const shared = [...readRecording(sharedLines(run, ALL_MASKED, [found as Finding]).join("\n")).runs.values()][0];
  expect(shared?.finished?.findings).toMatchObject([{ title: "reads 3 files of <path>", fix: 'drop "<str>" first' }]);
});

test("a name that is masked in the plan is masked in every sentence about it", () => {
  const run = captured("join/three-way");
  const finding = {
    ...captured("unique/redundant").finished?.findings[0],
    title: "Scan of orders.parquet reads all of orders",
    fix: "keep one row of customers before the join: drop Europe, `amount > 990`, and read 3 files less",
    evidence: [{ name: "table", value: "products", unit: null }],
  } as Finding;
  for (const { properties } of run.finished?.plan.physical ?? [])
    if (properties["first_source"]) properties["predicate"] = `(col("region") == "Europe")`;
  const shared = [...readRecording(sharedLines(run, ALL_MASKED, [finding]).join("\n")).runs.values()][0];
  expect(shared?.finished?.findings).toMatchObject([
    {
      title: "Scan of <path> reads all of <path>",
      fix: "keep one row of <path> before the join: drop <str>, `amount > <num>`, and read 3 files less",
      evidence: [{ name: "table", value: "<path>" }],
    },
  ]);
  expect(textsLeaving(run, ALL_MASKED, [finding]).join("\n")).not.toMatch(/orders|customers|products|Europe/);
  expect(textsLeaving(run, NONE, [finding])).toContain("Scan of orders.parquet reads all of orders");
});
