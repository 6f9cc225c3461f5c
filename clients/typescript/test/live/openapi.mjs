// Compares the OpenAPI document of the service with the one from which the types of this client
// were generated, and its operations with the functions of the client.
import assert from "node:assert/strict";
import test from "node:test";

import { functions, leftOut } from "./operations.mjs";
import { knownFields, knownOperations } from "./types.mjs";

const { PREGON_URL } = process.env;

const answer = await fetch(`${PREGON_URL}/openapi.json`, { signal: AbortSignal.timeout(30_000) });
const served = await answer.json();

const methods = ["get", "post", "put", "patch", "delete"];

function* operationsOf(document) {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of methods.filter((name) => name in item)) {
      yield { path, method, ...item[method] };
    }
  }
}

function resolve(value) {
  const name = value.$ref?.replace("#/components/parameters/", "");
  return name ? served.components.parameters[name] : value;
}

const known = knownOperations();

test("the operations of the service are known", () => {
  for (const { operationId, method, path } of operationsOf(served)) {
    const text = `${operationId} (${method.toUpperCase()} ${path})`;
    assert.ok(operationId in functions || operationId in leftOut, `${text} is new: add it to the client, or to leftOut with a reason`);
    assert.ok(!(operationId in functions && operationId in leftOut), `${text} is both in the client and left out`);
    assert.ok(known.has(operationId), `${text} is not in the generated types: run npm run build`);
  }
});

test("no operation of the client is gone", () => {
  const ids = new Set([...operationsOf(served)].map(({ operationId }) => operationId));
  for (const id of [...Object.keys(functions), ...Object.keys(leftOut)]) {
    assert.ok(ids.has(id), `the service has no operation ${id} any more`);
  }
});

test("the parameters of the service are known", () => {
  for (const { operationId, parameters = [] } of operationsOf(served)) {
    for (const { name, in: place } of parameters.map(resolve)) {
      if (place === "query") {
        assert.ok(known.get(operationId).has(name), `${operationId} has a new parameter ${name}: run npm run build`);
      }
    }
  }
});

test("the fields of the service are known", () => {
  const fields = knownFields();
  for (const [name, schema] of Object.entries(served.components.schemas)) {
    const own = [schema, ...(schema.allOf ?? [])].flatMap(({ properties = {} }) => Object.keys(properties));
    for (const field of own) {
      assert.ok(fields.get(name)?.has(field), `${name} has a new field ${field}: run npm run build`);
    }
  }
});
