// Code of the program that a plan calls. Engines count little of the time it takes
// (docs/reference/findings.md, user_code).

import { asString } from "./json";
import type { PlanNode } from "./profile";
import { expressionTexts } from "./properties";
import { PROPERTIES } from "./vocabulary";

const CALL = /([A-Za-z_]\w*_udf)\s*\(/;
const [FUNCTION, ENGINE] = PROPERTIES.user_code;

/** The function of the program that a node calls; null where it calls none. */
export function calledCode({ properties }: PlanNode): string | null {
  const sent = asString(properties[FUNCTION]);
  if (sent !== null) return sent;
  const engine = asString(properties[ENGINE]);
  if (engine?.includes("udf")) return engine;
  for (const text of expressionTexts(properties, [...PROPERTIES.expressions, ...PROPERTIES.predicate])) {
    const name = CALL.exec(text)?.[1];
    if (name !== undefined) return name;
  }
  return null;
}

/** "Python code", "user code (score)". */
export function sayCode(name: string): string {
  return name.includes("python") ? "Python code" : `user code (${name})`;
}
