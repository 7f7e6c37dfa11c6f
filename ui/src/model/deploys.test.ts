import { describe, expect, test } from "vitest";
import { deployMarks, deploysByDay, servicesOf, type Deploy } from "./deploys";

function deploy(version: string, unix_ns: bigint): Deploy {
  return {
    id: `deploy-${version}`,
    project: "default",
    service: "etl",
    environment: null,
    source: "posted",
    subject: "program",
    engine: null,
    version,
    commit: null,
    url: null,
    unix_ns,
    last_unix_ns: unix_ns,
  };
}

describe("deploys", () => {
  test("a label shows the deploys of the chosen service, or of all it runs in", () => {
    const of = (value: string | null): { value: string | null; runs: number } => ({ value, runs: 3 });
    expect(servicesOf("etl", undefined)).toEqual(["etl"]);
    expect(servicesOf(undefined, [of("etl")])).toEqual(["etl"]);
    expect(servicesOf(undefined, [of(null)])).toEqual([""]);
    expect(servicesOf(undefined, [of("etl"), of("reports")])).toEqual(["etl", "reports"]);
    expect(servicesOf(undefined, undefined)).toEqual([]);
  });

  test("those at one place are one mark, and those outside are none", () => {
    const all = [deploy("4", 400n), deploy("3", 103n), deploy("2", 102n), deploy("1", 100n), deploy("0", -1n)];
    const marks = deployMarks(all, Number, [0, 300]);
    expect(marks.map(({ x, text }) => [x, text])).toEqual([[100, "3 deploys"]]);
    expect(deployMarks(all, Number, [0, 500], 2).map(({ text }) => text)).toEqual([
      "deploy 1",
      "deploys 2 and 3",
      "deploy 4",
    ]);
  });

  test("of several services each names its own", () => {
    const of = [deploy("1", 100n), { ...deploy("2", 300n), service: "web" }, { ...deploy("3", 500n), service: null }];
    expect(deployMarks(of, Number, [0, 600]).map(({ text }) => text)).toEqual([
      "deploy etl 1",
      "deploy web 2",
      "deploy 3",
    ]);
  });

  test("one that is listed as seen and as posted is told once", () => {
    const both: Deploy[] = [deploy("1.1", 102n), { ...deploy("1.1", 100n), source: "seen" }];
    expect(deployMarks(both, Number, [0, 300]).map(({ text }) => text)).toEqual(["deploy 1.1"]);
    expect(deploysByDay(both, [100n], 100n)).toEqual(["deploy 1.1"]);
  });

  test("a version of the engine is told as one", () => {
    const engine: Deploy = { ...deploy("polars 2.1.0", 100n), source: "seen", subject: "engine", engine: "polars" };
    expect(deployMarks([engine], Number, [0, 300]).map(({ text }) => text)).toEqual(["deploy engine polars 2.1.0"]);
  });

  test("days name what was deployed on them, the first first", () => {
    const all = [deploy("5", 310n), deploy("4", 250n), deploy("3", 240n), deploy("2", 230n), deploy("1", 120n)];
    expect(deploysByDay(all, [100n, 200n, 300n, 400n], 100n)).toEqual(["deploy 1", "3 deploys", "deploy 5", undefined]);
    expect(deploysByDay(all.slice(1, 3), [200n], 100n)).toEqual(["deploys 3 and 4"]);
    expect(deploysByDay([deploy("0", 50n)], [100n], 100n)).toEqual([undefined]);
    // The last day ends, too.
    expect(deploysByDay([deploy("0", 200n)], [100n], 100n)).toEqual([undefined]);
  });
});
