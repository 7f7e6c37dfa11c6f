// Asks the read API. openapi-fetch would parse the answers itself and round their nanoseconds.

import { parseExact } from "./json";
import { toLogin } from "./login";
import type { components, paths } from "./schema";

const ANSWER_MS = 30_000;

export type Schemas = components["schemas"];
export type QuerySummary = Schemas["QuerySummary"];
export type Overview = Schemas["Overview"];
export type LabelOverview = Schemas["LabelOverview"];
export type Version = Schemas["Version"];
export type Facets = Schemas["Facets"];
export type Status = Schemas["Status"];
export type Pulse = Schemas["Pulse"];

type Json<Responses> = Responses extends { 200: { content: { "application/json": infer Body } } } ? Body : never;
/** The paths that answer a GET with JSON. */
export type JsonPath = {
  [P in keyof paths]: paths[P] extends { get: { responses: infer R } } ? (Json<R> extends never ? never : P) : never;
}[keyof paths];
type Operation<P extends JsonPath> = paths[P] extends { get: infer O } ? O : never;
export type Answer<P extends JsonPath> = Operation<P> extends { responses: infer R } ? Json<R> : never;
export type Query<P extends JsonPath> =
  Operation<P> extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
type PathParameters<P extends JsonPath> = Operation<P> extends { parameters: { path: infer V } } ? V : never;

export interface Ask<P extends JsonPath> {
  path?: PathParameters<P>;
  query?: { [Name in keyof Query<P>]?: Query<P>[Name] | undefined };
  signal?: AbortSignal;
}

/** What the service answered other than what was asked for. `status` is 0 where it did not answer at all. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }

  /** Whether the service may answer the same later. */
  get isAway(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

/** The address of an answer. Parameters that are undefined are left out; an empty one asks for "without". */
export function address(path: string, values: object = {}, query: object = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((values as Record<string, unknown>)[name])),
  );
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search === "" ? filled : `${filled}?${search}`;
}

/** An answer and the cursor of the page behind it, where there is one. */
export interface Page<T> {
  body: T;
  next: string | undefined;
}

/** Asks for one page. Rejects with an `ApiError`, or with an `AbortError` when `signal` says so. */
export async function getPage<P extends JsonPath>(path: P, ask: Ask<P> = {}): Promise<Page<Answer<P>>> {
  const { text, headers } = await send(address(path, ask.path as object | undefined, ask.query), {}, ask.signal);
  return { body: parseExact(text) as Answer<P>, next: nextCursor(headers.get("link")) };
}

/** Reads pages while `take` wants more of them; whether there are more than it took. */
export async function readPages<P extends JsonPath>(
  path: P,
  ask: Ask<P>,
  take: (body: Answer<P>) => boolean,
): Promise<boolean> {
  const query: NonNullable<Ask<P>["query"]> & { cursor?: string } = { ...ask.query };
  for (;;) {
    const { body, next } = await getPage(path, { ...ask, query });
    if (!take(body) || next === undefined) return next !== undefined;
    query.cursor = next;
  }
}

/** The paths that take a POST of JSON and answer with JSON. */
type PostPath = {
  [P in keyof paths]: paths[P] extends {
    post: { requestBody: { content: { "application/json": object } }; responses: infer R };
  }
    ? Json<R> extends never
      ? never
      : P
    : never;
}[keyof paths];
type Post<P extends PostPath> = paths[P] extends { post: infer O } ? O : never;
type Body<P extends PostPath> =
  Post<P> extends { requestBody: { content: { "application/json": infer B } } } ? Partial<B> : never;

/** Asks the service to do something. Rejects with an `ApiError`. */
export async function post<P extends PostPath>(
  path: P,
  values: object,
  body: Body<P>,
  query: object = {},
): Promise<Post<P> extends { responses: infer R } ? Json<R> : never> {
  const { text } = await write("POST", address(path, values, query), body);
  return parseExact(text) as Awaited<ReturnType<typeof post<P>>>;
}

/** Shares a view under a name, or gives a note another text. Rejects with an `ApiError`. */
export const put = <P extends "/api/views/{name}" | "/api/notes/{id}">(
  path: P,
  values: object,
  body: Schemas[P extends "/api/notes/{id}" ? "EditBody" : "ViewBody"],
  query: object = {},
): Promise<unknown> => write("PUT", address(path, values, query), body);

/** Deletes something. Rejects with an `ApiError`. */
export const remove = (
  path: "/api/notes/{id}" | "/api/views/{name}",
  values: object,
  query: object,
): Promise<unknown> => send(address(path, values, query), { method: "DELETE" });

function write(method: string, to: string, body: object): ReturnType<typeof send> {
  const headers = { "content-type": "application/json" };
  // Points in time are bigints, which JSON.stringify does not write; a double keeps them to within 256 ns.
  const json = JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value));
  return send(to, { method, headers, body: json });
}

async function send(to: string, init: RequestInit, aborted?: AbortSignal): Promise<{ text: string; headers: Headers }> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  const signal = aborted === undefined ? limit : AbortSignal.any([aborted, limit]);
  let response: Response;
  let text: string;
  try {
    response = await fetch(to, { ...init, signal, headers: { accept: "application/json", ...init.headers } });
    text = await response.text();
  } catch (error) {
    if (aborted?.aborted === true) throw error;
    const reason = limit.aborted
      ? `the service did not answer within ${ANSWER_MS / 1000} s`
      : "the service does not answer";
    throw new ApiError(0, reason);
  }
  if (response.status === 401) toLogin();
  if (!response.ok) throw new ApiError(response.status, errorText(text) ?? `the service answered ${response.status}`);
  return { text, headers: response.headers };
}

/** Asks for the whole answer. */
export async function get<P extends JsonPath>(path: P, ask: Ask<P> = {}): Promise<Answer<P>> {
  return (await getPage(path, ask)).body;
}

function errorText(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** The cursor of `Link: <…>; rel="next"`. */
export function nextCursor(link: string | null): string | undefined {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? "")?.[1];
  if (next === undefined) return undefined;
  return new URL(next, "http://queryscope.invalid").searchParams.get("cursor") ?? undefined;
}
