// Reads the generated types.
import { readFileSync } from "node:fs";
import ts from "typescript";

const path = new URL("../../dist/openapi.d.ts", import.meta.url);
const source = ts.createSourceFile("openapi.d.ts", readFileSync(path, "utf8"), ts.ScriptTarget.Latest);

const find = (name) => source.statements.find((statement) => statement.name?.text === name);

/** Returns the parameters of the query of each operation of the generated types. */
export function knownOperations() {
  const operations = find("operations");
  return new Map(operations.members.map((operation) => [operation.name.text, new Set(query(operation))]));
}

/** Returns the fields of each schema of the generated types. */
export function knownFields() {
  const schemas = member(find("components"), "schemas").type.members;
  return new Map(schemas.map((schema) => [schema.name.text, new Set(fields(schema.type))]));
}

// Returns the fields of a type, also of one that is put together.
function fields({ members = [], types = [], typeArguments = [], type }) {
  const inner = [...types, ...typeArguments, ...(type ? [type] : [])];
  return [...members.map(({ name }) => name?.text), ...inner.flatMap(fields)];
}

function query(operation) {
  const parameters = member(operation.type, "parameters");
  const values = member(parameters?.type, "query")?.type;
  return values?.members?.map((value) => value.name.text) ?? [];
}

function member(type, name) {
  return type?.members?.find((candidate) => candidate.name?.text === name);
}
