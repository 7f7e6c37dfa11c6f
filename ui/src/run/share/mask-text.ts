// How a text is masked, like the sender's own redaction: `<str>`, `<num>`, `<path>`.

import { asList, isObject, type Json } from "../../model/run/json";

/** What is masked; all of it unless a person chooses otherwise. */
export interface Masks {
  /** Values in predicates and expressions. */
  literals: boolean;
  /** Files, folders, addresses and the line of code. */
  paths: boolean;
  /** The engine's error text: it may quote data. */
  errors: boolean;
  label: boolean;
  /** Service, environment and host. */
  place: boolean;
}

const PATH_KEYS = /source|path|file|target|url|uri|location|dir|glob|^table$|^destination$/i;
/** Names in quotes that an expression needs to be read: columns and what they are called. */
const QUOTED = /\b(col|alias|field|nth)\("(?:[^"\\]|\\.)*"\)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;
const NUMBER = /(?<![\w.#@$])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/g;
const URL_PATH = /\b[a-z][a-z0-9+.-]*:\/\/[^\s,"')\]]+/;
const ABSOLUTE_PATH = /(?<![\w)])(?:[A-Za-z]:)?(?:[\\/][^\s\\/,"')\]]+){2,}/;
const RELATIVE_PATH = /(?<![\w])[\w.-]+(?:\/[\w.=-]+)+\.\w+/;
const PATH = new RegExp([URL_PATH, ABSOLUTE_PATH, RELATIVE_PATH].map(({ source }) => source).join("|"), "g");
/** Parts of paths that tell nobody anything, and that sentences need. */
const COMMON = /^(data|files?|parts?|tables?|tmp|home|srv|var|mnt|opt|usr|parquet|csv|https?|s3)$/i;
const SECRET_MIN_CHARS = 2;

export function maskText(text: string, masks: Masks): string {
  const pathless = masks.paths ? text.replace(PATH, "<path>") : text;
  if (!masks.literals) return pathless;
  return pathless
    .replace(QUOTED, (whole, name?: string) => (name === undefined && whole !== '"<path>"' ? '"<str>"' : whole))
    .replace(NUMBER, "<num>");
}

/** A plain name, as of a column, has nothing to mask; what is longer is an expression. */
export function maskValue(key: string, value: Json, masks: Masks): Json {
  if (typeof value === "string") return isPath(key, value) && masks.paths ? "<path>" : maskText(value, masks);
  if (Array.isArray(value)) return value.map((item) => maskValue(key, item, masks));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskValue(name, item, masks)]));
}

function isPath(key: string, value: string): boolean {
  return PATH_KEYS.test(key) && !/^\w+$/.test(value);
}

/** What stands for each name that is masked somewhere: a sentence may say it without its quotes or its folder. */
export class Secrets {
  readonly #masks: Masks;
  readonly #found = new Map<string, "<path>" | "<str>">();
  #pattern: RegExp | null = null;

  constructor(masks: Masks) {
    this.#masks = masks;
  }

  /** Notes what is masked in a property. */
  add(key: string, value: Json): void {
    if (isObject(value)) for (const [name, item] of Object.entries(value)) this.add(name, item);
    else if (typeof value !== "string") for (const item of asList(value)) this.add(key, item);
    else {
      if (this.#masks.paths) {
        const paths = isPath(key, value) ? [value] : [...value.matchAll(PATH)].map(([path]) => path);
        for (const path of paths) this.#addPath(path);
      }
      if (this.#masks.literals && !isPath(key, value)) {
        for (const [whole, name] of value.matchAll(QUOTED)) {
          if (name === undefined) this.#note(whole.slice(1, -1), "<str>");
        }
      }
    }
  }

  #addPath(path: string): void {
    for (const part of path.split(/[\\/:]+/)) {
      if (COMMON.test(part)) continue;
      this.#note(part, "<path>");
      const [stem = ""] = part.split(".");
      if (!COMMON.test(stem)) this.#note(stem, "<path>");
      // What changes from run to run stands as # in the service's own sentences.
      this.#note(part.replace(/\d+/g, "#").replace(/#(-#)+/g, "#"), "<path>");
    }
  }

  #note(text: string, as: "<path>" | "<str>"): void {
    if (text.length < SECRET_MIN_CHARS || !/[A-Za-z]/.test(text)) return;
    this.#found.set(text, this.#found.get(text) ?? as);
    this.#pattern = null;
  }

  /** A sentence: its own numbers stay, what it quotes from the plan does not. */
  maskSentence(sentence: string): string {
    const nameless = (name: string): string => this.#found.get(name) ?? name;
    const named = this.#found.size === 0 ? sentence : sentence.replace(this.#names(), nameless);
    const quoted = named.replace(/`([^`]*)`/g, (_, code: string) => `\`${maskText(code, this.#masks)}\``);
    const pathless = maskText(quoted, { ...this.#masks, literals: false });
    return this.#masks.literals ? pathless.replace(/"[^"]*"|'[^']*'/g, '"<str>"') : pathless;
  }

  #names(): RegExp {
    if (this.#pattern) return this.#pattern;
    const names = [...this.#found.keys()].sort((a, b) => b.length - a.length);
    const escaped = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.#pattern = new RegExp(`(?<!\\w)(?:${escaped.join("|")})(?!\\w)`, "g");
    return this.#pattern;
  }
}
