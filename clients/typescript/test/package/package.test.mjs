// What is in the package.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";

import { Client, version } from "pregon";

import { functions } from "../live/operations.mjs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const manifest = JSON.parse(read("../../package.json"));

test("the version is that of the package", () => {
  assert.equal(version, manifest.version);
});

test("nothing is needed at run time", () => {
  assert.equal(manifest.dependencies, undefined);
  for (const name of readdirSync(new URL("../../dist", import.meta.url)).filter((name) => name.endsWith(".js"))) {
    for (const [, from] of read(`../../dist/${name}`).matchAll(/^(?:import|export) .*from "([^"]+)"/gm)) {
      assert.ok(from.startsWith("./") || (name === "files.js" && from.startsWith("node:")), `${name} imports ${from}`);
    }
  }
});

test("the functions of the operations exist", () => {
  const client = new Client("https://service.example");
  for (const path of new Set(Object.values(functions))) {
    const found = path.split(".").reduce((inner, name) => inner?.[name], client);
    assert.equal(typeof found, "function", path);
  }
});

test("the lock file names no registry", () => {
  assert.doesNotMatch(read("../../package-lock.json"), /"resolved"/);
});

// esbuild is one of the checkers.
const checkers = createRequire(new URL("../../../../checkers/package.json", import.meta.url));
const bundler = existsSync(new URL("../../../../checkers/node_modules/esbuild", import.meta.url));

async function bundle(source) {
  const { build } = checkers("esbuild");
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: new URL("../..", import.meta.url).pathname },
    bundle: true,
    format: "esm",
    minify: true,
    platform: "browser",
    write: false,
  });
  return outputFiles[0].text;
}

test("a program that only verifies webhooks does not have the client", { skip: !bundler && "npm ci in checkers/" }, async () => {
  const webhooks = await bundle('import { webhooks } from "pregon"; console.log(await webhooks.verify("", {}, ""));');
  assert.match(webhooks, /webhook-signature/);
  assert.doesNotMatch(webhooks, /\/api\/v1|event-stream|checkpoint/);
  const proofs = await bundle('import { proofs } from "pregon"; console.log(proofs.verify);');
  assert.match(proofs, /checkpoint/);
  assert.doesNotMatch(proofs, /\/api\/v1|webhook-signature/);
  const client = await bundle('import { Client } from "pregon"; console.log(new Client("https://service.example"));');
  assert.match(client, /\/api\/v1\/reports/);
  assert.doesNotMatch(client, /webhook-signature|checkpoint of the proof/);
});
