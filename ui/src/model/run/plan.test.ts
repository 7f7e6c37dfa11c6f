import { describe, expect, test } from "vitest";
import { captured, everything } from "./captures";
import { foldPlan, nodesMaking } from "./fold";
import { nodeNumber, toGraph } from "./graph";
import { BOX_HEIGHT, edgePath, layOut, type Place } from "./layout";
import { linkPlans } from "./link";
import { hottest, momentAt } from "./moment";
import type { PlanNode } from "./profile";
import { neighbour, toRows } from "./treegrid";
import { nodeWords, readAliases } from "./words";

/** `a<b,c` is a node a that reads b and c. */
function plan(...nodes: string[]): PlanNode[] {
  return nodes.map((text) => {
    const [id = "", inputs = ""] = text.split("<");
    return { id, kind: id, role: "unknown", inputs: inputs.split(",").filter(Boolean), properties: {}, metrics: null };
  });
}

describe("the tree", () => {
  test("a node with two readers hangs under the first and curves to the other", () => {
    const graph = toGraph(plan("sink<zip", "zip<a,b", "a<scan", "b<scan", "scan"));
    expect(graph.order).toEqual(["sink", "zip", "a", "scan", "b"]);
    expect(graph.extra).toEqual([{ from: "scan", to: "b" }]);
  });

  test("a plan of nodes that read each other is drawn, too", () => {
    const graph = toGraph(plan("a<b", "b<a"));
    expect(graph.roots).toEqual(["a"]);
    expect(graph.extra).toEqual([{ from: "a", to: "b" }]);
  });

  test("a chain of 20,000 nodes does not overflow", () => {
    const nodes = Array.from({ length: 20_000 }, (_, i) => `${i}<${i === 19_999 ? "" : i + 1}`);
    expect(toGraph(plan(...nodes)).order).toHaveLength(20_000);
  });

  test("people say the lower half of an id", () => {
    expect([nodeNumber("7"), nodeNumber("4294967303"), nodeNumber("12884902187")]).toEqual(["7", "7", "299"]);
  });
});

describe("folding", () => {
  test("nodes that do not matter fold where they hang together, the root stays", () => {
    const folded = foldPlan(toGraph(plan("sink<a", "a<b", "b<hot", "hot<c", "c")), new Set(["hot"]));
    expect([...folded.boxes.keys()]).toEqual(["sink", "fold:a", "hot", "c"]);
    expect(folded.boxes.get("fold:a")?.members).toEqual(["a", "b"]);
    expect(folded.edges.map(({ from, to }) => `${from} ${to}`)).toEqual(["fold:a sink", "hot fold:a", "c hot"]);
  });

  test("cheap branches beside each other are one box", () => {
    const folded = foldPlan(toGraph(plan("union<a,b,c,d", "a<e", "b", "c", "d", "e")), new Set(["c"]));
    expect([...folded.boxes.keys()]).toEqual(["union", "fold:a", "c"]);
    expect(folded.boxes.get("fold:a")?.members).toEqual(["a", "e", "b", "d"]);
    expect(folded.edges.find(({ from }) => from === "fold:a")?.sources).toEqual(["a", "b", "d"]);
  });

  test("a branch that leads to a node that matters stays a box of its own", () => {
    const folded = foldPlan(toGraph(plan("union<a,b,c", "a<hot", "hot", "b", "c")), new Set(["hot"]));
    expect([...folded.boxes.keys()]).toEqual(["union", "a", "hot", "fold:b"]);
  });

  test("every node is in one box, whatever is shown", () => {
    for (const run of everything().runs.values()) {
      const graph = toGraph(run.plan.physical);
      const ranked = hottest(run, momentAt(run, null));
      for (const share of [0, 0.5, 0.95, 1]) {
        const folded = foldPlan(graph, nodesMaking(share, ranked));
        const members = [...folded.boxes.values()].flatMap((box) => box.members);
        expect(members.toSorted()).toEqual(run.plan.physical.map(({ id }) => id).toSorted());
        expect(layOut(folded, 9).places.size).toBe(folded.boxes.size);
      }
    }
  });

  test("the nodes that make up a share of the time", () => {
    const run = captured("unique/redundant");
    const ranked = hottest(run, momentAt(run, null));
    expect([...nodesMaking(0.9, ranked)]).toEqual(["4294967299", "4294967303"]);
    expect(nodesMaking(1, ranked).size).toBe(ranked.length);
  });
});

describe("the layout", () => {
  test("no box lies on another in any capture", () => {
    for (const [at, run] of [...everything().runs.values()].entries()) {
      const graph = toGraph(run.plan.physical);
      const { places, width, height } = layOut(foldPlan(graph, new Set(graph.order)), 1 + (at % 5));
      const boxWidth = [...places.values()][0]?.width ?? 0;
      const rows = new Map<number, number[]>();
      for (const { x, y } of places.values()) {
        rows.set(y, [...(rows.get(y) ?? []), x]);
        expect(x >= 0 && x + boxWidth <= width && y + BOX_HEIGHT <= height).toBe(true);
      }
      for (const row of rows.values()) {
        const sorted = row.toSorted((a, b) => a - b);
        sorted.forEach((x, i) => i > 0 && expect(x - (sorted[i - 1] ?? 0)).toBeGreaterThanOrEqual(boxWidth));
      }
    }
  });

  test("a parent stands over the middle of its children", () => {
    const { places } = layOut(foldPlan(toGraph(plan("a<b,c", "b", "c")), new Set("abc")), 2);
    const x = (id: string): number => places.get(id)?.x ?? Number.NaN;
    expect(x("a")).toBe((x("b") + x("c")) / 2);
  });

  test("boxes of a plan with few leaves are wider, as far as they fit beside each other", () => {
    const folded = foldPlan(toGraph(plan("a<b,c", "b", "c")), new Set("abc"));
    const width = (leaves: number): number | undefined => layOut(folded, leaves).places.get("a")?.width;
    expect([0, 1, 2, 3, 4, 50].map(width)).toEqual([400, 400, 400, 313, 240, 240]);
  });

  test("edges of the tree run straight down where they can, extra ones aside", () => {
    const [from, to] = [112, 0].map((y) => ({ x: 0, y, width: 240 })) as [Place, Place];
    expect(edgePath(from, to, false)).toBe(`M120,112V${BOX_HEIGHT}`);
    expect(edgePath(from, to, true)).toContain("C");
  });
});

test("scans, joins and groups of both plans find each other", () => {
  const run = captured("join/three-way");
  const link = linkPlans(run.plan);
  const kind = (nodes: PlanNode[], id: string | undefined): string => nodes.find((node) => node.id === id)?.role ?? "-";
  for (const node of run.plan.physical) {
    const twin = kind(run.plan.logical, link.get(node.id));
    if (node.role === "scan" || node.role === "join") expect(twin).toBe(node.role);
  }
  expect(new Set(link.values()).size).toBe(link.size);
});

test("of two groups above each other, the one at the scan is the distinct", () => {
  const run = captured("unique/redundant");
  const link = linkPlans(run.plan);
  expect(
    ["4294967299", "4294967303"].map((id) => run.plan.logical.find((node) => node.id === link.get(id))?.kind),
  ).toEqual(["Distinct", "GroupBy"]);
});

test("to group counts more than to rename columns, twice", () => {
  const chain = (...roles: [string, PlanNode["role"]][]): PlanNode[] =>
    roles.map(([id, role], i) => ({
      id,
      kind: id,
      role,
      inputs: roles[i + 1] ? [roles[i + 1]?.[0] ?? ""] : [],
      properties: {},
      metrics: null,
    }));
  const link = linkPlans({
    physical: chain(["g", "aggregation"], ["c", "projection"], ["d", "projection"], ["s", "scan"]),
    logical: chain(["C", "projection"], ["D", "projection"], ["G", "aggregation"], ["S", "scan"]),
  });
  expect([...link].sort()).toEqual([
    ["g", "G"],
    ["s", "S"],
  ]);
});

test("where the engine says it, that is the link", () => {
  const [physical, logical] = [plan("a<b", "b"), plan("x<y", "y")];
  physical.forEach((node, i) => (node.properties["logical_id"] = [1, 7][i] ?? null));
  logical.forEach((node, i) => Object.assign(node, { id: String(i), inputs: [] }));
  expect([...linkPlans({ physical, logical })]).toEqual([["a", "1"]]);
});

describe("the rows of the treegrid", () => {
  const graph = toGraph(plan("sink<join", "join<a,b", "a<c", "b", "c"));

  test("say where they are", () => {
    expect(toRows(graph, new Set(["a"]))).toEqual([
      { id: "sink", level: 1, position: 1, siblings: 1, expanded: true },
      { id: "join", level: 2, position: 1, siblings: 1, expanded: true },
      { id: "a", level: 3, position: 1, siblings: 2, expanded: false },
      { id: "b", level: 3, position: 2, siblings: 2, expanded: null },
    ]);
  });

  test("arrows follow the picture", () => {
    expect(neighbour(graph, "join", "ArrowDown")).toBe("a");
    expect(neighbour(graph, "a", "ArrowRight")).toBe("b");
    expect(neighbour(graph, "b", "ArrowRight")).toBeNull();
    expect(neighbour(graph, "b", "ArrowUp")).toBe("join");
  });
});

test("nodes say what they do in their own words", () => {
  const words = (label: string): string[] => {
    const { physical } = captured(label).plan;
    const aliases = readAliases(physical);
    return physical.map((node) => `${node.kind}: ${nodeWords(node, aliases)}`);
  };
  expect(words("join/three-way")).toMatchInlineSnapshot(`
    [
      "InMemorySink: ",
      "Sort: by gross descending · first 20 rows",
      "TopK: by gross",
      "Filter: gross.dynamic_predicate()",
      "InputIndependentSelect: 20",
      "SimpleProjection: country, category, amount.sum(), (price * qty.cast(Float64)).sum()",
      "GroupBy: by country, category · amount.sum(), (price * qty.cast(Float64)).sum()",
      "Select: country, category, amount, (price * qty.cast(Float64))",
      "SimpleProjection: country, category, amount, price, qty",
      "EquiJoin: inner · on product_id",
      "SimpleProjection: amount, qty, country, product_id",
      "MultiScan: products.parquet · 3 columns",
      "EquiJoin: inner · on customer_id",
      "MultiScan: orders.parquet · 4 columns",
      "MultiScan: customers.parquet · 2 columns",
    ]
  `);
  expect(words("sort/two-columns")).toMatchInlineSnapshot(`
    [
      "InMemorySink: ",
      "SimpleProjection: customer_id, amount",
      "Sort: by customer_id.row_encode([amount]) · last 5 rows",
      "Select: customer_id.row_encode([amount])",
      "TopK: by customer_id, amount",
      "MultiScan: orders.parquet · where customer_id.dynamic_predicate() · 2 columns",
      "InputIndependentSelect: 5",
    ]
  `);
  expect(words("scan/parquet-filter-project")).toMatchInlineSnapshot(`
    [
      "InMemorySink: ",
      "MultiScan: orders.parquet · where (amount > 990.0) & (region == "EU") · 3 columns",
    ]
  `);
  expect(words("unique/redundant")).toMatchInlineSnapshot(`
    [
      "InMemorySink: ",
      "Select: len().alias("len")",
      "Reduce: len()",
      "SimpleProjection: ",
      "GroupBy: ",
      "SimpleProjection: order_id",
      "SimpleProjection: order_id",
      "SimpleProjection: ",
      "GroupBy: ",
      "SimpleProjection: order_id, amount",
      "MultiScan: orders.parquet · 2 columns",
    ]
  `);
});

test("nodes of other engines say theirs", () => {
  const node = (role: PlanNode["role"], properties: PlanNode["properties"]): string =>
    nodeWords({ id: "1", kind: "Exec", role, inputs: [], properties, metrics: null });
  expect(
    node("scan", { table: "s3://lake/orders/part-0.parquet", files: 12, projection: ["a", "b"], predicate: "a@0 > 5" }),
  ).toBe("part-0.parquet and 11 more · where a@0 > 5 · 2 columns");
  expect(
    node("join", { how: "inner", left_keys: ["o_custkey@1"], right_keys: ["c_custkey@0"], mode: "Partitioned" }),
  ).toBe("inner · on o_custkey@1 = c_custkey@0");
  expect(node("aggregation", { keys: ["region"], expressions: ["sum(amount)"], mode: "partial" })).toBe(
    "by region · sum(amount)",
  );
  expect(node("top_k", { order: ["amount DESC"], limit: 10 })).toBe("by amount DESC · first 10 rows");
  expect(node("engine", { scheme: "hash" })).toBe("scheme hash");
});
