// Writes src/api/schema.ts, the types of the read API, from schemas/openapi.json.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const document = new URL("../../schemas/openapi.json", import.meta.url);
const written = new URL("../src/api/schema.ts", import.meta.url);

const reference = (name) => ts.factory.createTypeReferenceNode(name);
const NULL = ts.factory.createLiteralTypeNode(ts.factory.createNull());

/** Names the unit a field's name ends with. `days` of an overview are points in time, too. */
function unitOf(schema, { path }) {
  // utoipa writes a default beside an enum as one more type that it has to be.
  if (schema.type === "object" && "default" in schema)
    return ts.factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword);
  const types = [schema.type].flat();
  if (!types.includes("integer") && !types.includes("number")) return undefined;
  const name = path?.split("/").findLast((part) => part !== "items") ?? "";
  const unit =
    path?.includes("/Overview/") && name === "days"
      ? "UnixNs"
      : name.endsWith("unix_ns") || (path?.includes("/parameters/") && /^(base_)?(since|until)$/.test(name))
        ? "UnixNs"
        : name.endsWith("_ms")
          ? "Milliseconds"
          : undefined;
  if (unit === undefined) return undefined;
  return types.includes("null") ? ts.factory.createUnionTypeNode([reference(unit), NULL]) : reference(unit);
}

export async function generate() {
  const nodes = await openapiTS(document, {
    alphabetize: true,
    inject: 'import type { Milliseconds, UnixNs } from "../units";\n',
    transform: unitOf,
  });
  return `// Written by \`npm run types\` from schemas/openapi.json.\n${astToString(nodes)}`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  await writeFile(written, await generate());
}

export const current = () => readFile(written, "utf8");
