// Bundles src/main.ts to page.js and page.css for the reports, bar.ts and sql.ts for `cambrian open`, or with --tests the unit tests for node.
//   node build.mjs [--out FOLDER]    default: the folder in which the Python package has the page's templates
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const common = { absWorkingDir: here, bundle: true, charset: "utf8", logLevel: "warning" };

/** The text of the licence of each package that the bundle contains. */
function licences(inputs) {
  const names = new Set();
  for (const path of inputs) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) names.add(found[1]);
  }
  const texts = [...names].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    if (!file) throw new Error(`${name} has no licence file`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return ["page.js contains Cambrian's own code (Apache-2.0) and these libraries.\n", ...texts].join("\n");
}

if (process.argv.includes("--tests")) {
  const entries = readdirSync(join(here, "test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...common,
    entryPoints: entries.map((name) => join("test", name)),
    outdir: ".tests",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    format: "esm",
    target: "node18",
  });
} else {
  const asked = process.argv.indexOf("--out");
  const out = asked < 0 ? join(here, "../src/cambrian/report/templates") : process.argv[asked + 1];
  const { metafile } = await build({
    ...common,
    entryPoints: { page: "src/main.ts", bar: "src/bar.ts", sql: "src/sql.ts" },
    outdir: out,
    format: "iife",
    target: "es2022",
    minify: true,
    legalComments: "none",
    metafile: true,
  });
  writeFileSync(join(out, "page.licences.txt"), licences(Object.keys(metafile.inputs)));
}
