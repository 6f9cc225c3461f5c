// Reads the generated types.
import { readFileSync } from "node:fs";
import ts from "typescript";

/** Returns the parameters of the query of each operation of the generated types. */
export function knownOperations() {
  const path = new URL("../../dist/openapi.d.ts", import.meta.url);
  const source = ts.createSourceFile("openapi.d.ts", readFileSync(path, "utf8"), ts.ScriptTarget.Latest);
  const operations = source.statements.find((statement) => statement.name?.text === "operations");
  return new Map(operations.members.map((operation) => [operation.name.text, new Set(query(operation))]));
}

function query(operation) {
  const parameters = member(operation.type, "parameters");
  const values = member(parameters?.type, "query")?.type;
  return values?.members?.map((value) => value.name.text) ?? [];
}

function member(type, name) {
  return type?.members?.find((candidate) => candidate.name?.text === name);
}
