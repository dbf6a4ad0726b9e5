import assert from "node:assert/strict";
import test from "node:test";

import { about, naming, said } from "../src/about.ts";

const CONTESTANTS: Record<string, [string, string]> = { "ours": ["ours", "cubic"], "quinn cubic": ["quinn", "cubic"] };

void test("a row of a pair is about both, and a row without a pair about its first cell", () => {
  const cell = (textContent: string, label?: string) => ({ textContent, dataset: label === undefined ? {} : { label } });
  const pair = [cell("tcp cubic"), cell("quinn cubic", "Against y"), cell("0.41", "Throughput ratio"), cell("ours", "Compared with an even split")];
  assert.deepEqual(naming(pair).map((one) => one.textContent), ["tcp cubic", "quinn cubic"]);
  assert.deepEqual(naming(pair.slice(0, 1)).length, 1);
});

void test("a card is about what it says, not about the names in its command", () => {
  const parts = [
    { nodeName: "B", textContent: "quinn cubic loses 0.30 % of its packets in the queue" },
    { nodeName: "#text", textContent: "tcp cubic in its place: 0.08 %." },
    { nodeName: "DETAILS", textContent: "Repeat it: cambrian run /home/u/ours/study.toml" },
  ];
  const text = said(parts).map((one) => one.textContent).join("\n");
  assert.equal(about(CONTESTANTS, "ours", "")(text), false);
  assert.equal(about(CONTESTANTS, "quinn", "")(text), true);
});
