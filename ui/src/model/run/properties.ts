// Properties of a node, under whatever name its engine has for them.

import { asList, isObject, type Json, type JsonObject } from "./json";

/** The value under the first of the names that has one. */
export function property(properties: JsonObject, names: readonly string[]): Json | undefined {
  for (const name of names) {
    const value = properties[name];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** Every text in a value, however deep. */
export function texts(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  if (isObject(value)) return Object.values(value).flatMap(texts);
  return asList(value).flatMap(texts);
}

/** Every text under any of the names. */
export function expressionTexts(properties: JsonObject, names: readonly string[]): string[] {
  return names.flatMap((name) => texts(properties[name]));
}
