import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

test("the types accept what is right and refuse what is wrong", () => {
  const { stdout, status } = spawnSync(process.execPath, [here("../../node_modules/typescript/bin/tsc"), "--project", here("types.json")]);
  assert.equal(status, 0, String(stdout));
});
