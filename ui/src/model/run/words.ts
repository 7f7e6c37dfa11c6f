import { formatCount } from "../../units";
import { asList, asNumber, asString, isObject, type Json, type JsonObject } from "./json";
import type { PlanNode } from "./profile";
import { expressionTexts, property, texts } from "./properties";
import { PROPERTIES } from "./vocabulary";

/** Of the names of keys, those of one input of a join, and those of a grouping. */
const LEFT_KEYS = PROPERTIES.keys.filter((name) => name.startsWith("left_"));
const RIGHT_KEYS = PROPERTIES.keys.filter((name) => name.startsWith("right_"));
const KEYS = PROPERTIES.keys.filter((name) => !/^(left|right)_/.test(name));

const ALIAS = /^(.*)\.alias\("(_[A-Z]+_TMP_[A-Z_]*\d+)"\)$/s;
const ALIASED = /\.alias\("_[A-Z]+_TMP_[A-Z_]*\d+"\)/g;
/** As a column in an expression, or as a name of its own in a list. */
const ANY_TEMPORARY = /col\("(_[A-Z]+_TMP_[A-Z_]*\d+)"\)|^(_[A-Z]+_TMP_[A-Z_]*\d+)$/g;
/** A chain of temporary names is no longer than a plan is deep; more is a cycle. */
const CHAIN_MAX = 8;
/** What says best what any other node does. */
const WORK = [
  ...PROPERTIES.predicate,
  ...PROPERTIES.expressions,
  ...PROPERTIES.columns,
  ...PROPERTIES.order,
  ...PROPERTIES.user_code,
  "format_str",
];

/** Properties that say nothing of what a node does. */
const SAYS_NOTHING = ["type", "num_inputs", "logical_id", "estimated_rows"];

/** What the engine's temporary column names stand for, over the whole plan. */
export type Aliases = ReadonlyMap<string, string>;

export function readAliases(nodes: readonly PlanNode[]): Aliases {
  const aliases = new Map<string, string>();
  for (const { properties } of nodes) {
    for (const text of expressionTexts(properties, PROPERTIES.expressions)) {
      const [, expression, name] = ALIAS.exec(text) ?? [];
      if (expression !== undefined && name !== undefined && !aliases.has(name)) aliases.set(name, expression);
    }
  }
  return aliases;
}

/** The node's own words in one line: what it reads, keeps, joins on or groups by. Empty where it has none. */
export function nodeWords(node: PlanNode, aliases: Aliases = new Map()): string {
  const p = node.properties;
  const say = (value: Json | undefined) => expressions(value, aliases);
  const of = (names: readonly string[]) => say(property(p, names));
  const parts: (string | null)[] = [];
  switch (node.role) {
    case "scan":
    case "dataframe":
      parts.push(source(p), where(of(PROPERTIES.predicate)), columnCount(p));
      break;
    case "join":
    case "theta_join":
    case "cross_join":
    case "semi_anti_join":
      parts.push(asString(property(p, PROPERTIES.how))?.toLowerCase() ?? null, on(of), asString(p["strategy"]));
      break;
    case "distinct":
      parts.push(by(of(KEYS)) ?? "by all columns");
      break;
    case "aggregation":
      parts.push(by(of(KEYS)), of(PROPERTIES.expressions));
      break;
    case "sort":
    case "top_k":
      parts.push(by(order(property(p, PROPERTIES.order), say)), limit(p));
      break;
    case "sink":
      parts.push(path(texts(property(p, PROPERTIES.destination))[0]));
      break;
    default:
      parts.push(of(WORK), limit(p));
  }
  const words = parts.filter((part) => part !== null && part !== "").join(" · ");
  return words === "" ? fallback(p) : words;
}

/** `col("a") > 5` as `a > 5`; what a temporary name stands for where that is known, else an ellipsis. */
export function plainExpression(text: string, aliases: Aliases = new Map()): string {
  let resolved = text.replace(ALIASED, "");
  for (let i = 0; i < CHAIN_MAX; i += 1) {
    const before = resolved;
    resolved = resolved.replace(
      ANY_TEMPORARY,
      (whole, column: string | undefined, name: string | undefined) => aliases.get(column ?? name ?? "") ?? whole,
    );
    if (resolved === before) break;
  }
  return resolved
    .replace(ANY_TEMPORARY, "…")
    .replace(/col\("((?:[^"\\]|\\.)*)"\)/g, "$1")
    .replace(/\s+/g, " ")
    .replace(/^(\w+)\.alias\("\1"\)$/, "$1")
    .replace(/^…\.alias\("(.*)"\)$/, "$1");
}

function expressions(value: Json | undefined, aliases: Aliases): string {
  const expressions = texts(value).map((text) => plainExpression(text, aliases));
  return expressions.filter((text) => text !== "…").join(", ");
}

function path(value: Json | undefined): string | null {
  const text = asString(value);
  return text === null ? null : (text.split(/[/\\]/).filter(Boolean).at(-1) ?? text);
}

function source(p: JsonObject): string | null {
  const name = path(property(p, PROPERTIES.table));
  const count = asNumber(property(p, PROPERTIES.files)) ?? 1;
  const rows = asNumber(p["n_rows"]);
  if (name === null) return rows === null ? null : `${formatCount(rows)} rows in memory`;
  return count > 1 ? `${name} and ${count - 1} more` : name;
}

function where(predicate: string): string | null {
  return predicate === "" ? null : `where ${predicate}`;
}

function by(keys: string | null): string | null {
  return keys === null || keys === "" ? null : `by ${keys}`;
}

function columnCount(p: JsonObject): string | null {
  const read = asList(property(p, PROPERTIES.projection)).length;
  return read === 0 ? null : read === 1 ? "1 column" : `${read} columns`;
}

function on(of: (names: readonly string[]) => string): string | null {
  const [left, right] = [of(LEFT_KEYS), of(RIGHT_KEYS)];
  const other = of(["on", ...PROPERTIES.predicate]);
  if (left === "" && right === "") return other === "" ? null : `on ${other}`;
  return left === right ? `on ${left}` : `on ${left} = ${right}`;
}

function order(value: Json | undefined, say: (value: Json | undefined) => string): string {
  const columns = asList(value).filter(isObject);
  if (columns.length === 0) return say(value);
  return columns.map((column) => say(column["expr"]) + (column["descending"] === true ? " descending" : "")).join(", ");
}

function limit(p: JsonObject): string | null {
  const given = property(p, PROPERTIES.limit);
  const [first, second] = asList(given);
  const length = asNumber(given) ?? asNumber(second);
  const offset = asNumber(first ?? p["offset"]);
  if (length === null) return null;
  if (offset === -length) return `last ${length} rows`;
  return offset ? `${length} rows from ${offset}` : `first ${length} rows`;
}

function fallback(p: JsonObject): string {
  for (const [key, value] of Object.entries(p)) {
    if (SAYS_NOTHING.includes(key) || value === null || value === false) continue;
    const text =
      texts(value)
        .map((item) => plainExpression(item))
        .join(", ") || asNumber(value)?.toString();
    if (text && !text.includes("…")) return `${key.replaceAll("_", " ")} ${text}`;
  }
  return "";
}
