// Writes src/openapi.ts, the types of the OpenAPI document, and compiles src into dist.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const document = join(here, "../../internal/rest/openapi.yaml");
const types = join(here, "src/openapi.ts");
const dist = join(here, "dist");

function run(script, ...args) {
  execFileSync(process.execPath, [join(here, "node_modules", script), ...args], {
    cwd: here,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

run("openapi-typescript/bin/cli.js", document, "--output", types);
rmSync(dist, { recursive: true, force: true });
run("typescript/bin/tsc", "--project", "tsconfig.json");
