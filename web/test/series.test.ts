import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";

import { csv, panelCsv, panelSvg, type Shown } from "../src/files.ts";
import { unpacked, varints, type Kind } from "../src/pack.ts";
import { asked, duration, events, inWords, joined, joinedGroups, largest, times, windowOf, windowOfGroups, within } from "../src/steps.ts";

test("seven bits a byte, the lowest first", () => {
  assert.deepEqual([...varints(Uint8Array.of(0, 127, 128, 1, 0xac, 2))], [0, 127, 128, 300]);
});

test("a row of means has its numbers, another one their differences", async () => {
  const kinds = [
    { name: "rate", joins: "mean" },
    { name: "window", joins: "last" },
  ] as Kind[];
  // window: none, 0, 5, 3 in half units: differences 0, 1, 5, -2
  const bytes = Uint8Array.of(3, 4, 0, 2, 10, 3);
  const packed = {
    step_us: 1000,
    steps: 2,
    kinds: [
      { name: "rate", scale: 10, lengths: [1, 1] },
      { name: "window", scale: 0.5, lengths: [4] },
    ],
    data: deflateSync(bytes).toString("base64"),
  };
  const rows = await unpacked(packed, kinds);
  assert.deepEqual(rows.get("rate")?.map((row) => [...row]), [[30], [40]]);
  assert.deepEqual([...(rows.get("window")?.[0] ?? [])], [NaN, 0, 2.5, 1.5]);
});

test("an event is in the middle of its step, and is seen with any part of the step", async () => {
  const kinds = [{ name: "drops", joins: "times" }] as Kind[];
  // steps 0, 3 and 3 of 10 ms: differences 1, 3, 0
  const packed = { step_us: 10_000, steps: 5, kinds: [{ name: "drops", scale: 0.01, lengths: [3] }], data: deflateSync(Uint8Array.of(2, 6, 0)).toString("base64") };
  const row = (await unpacked(packed, kinds)).get("drops")?.[0] ?? Float64Array.of();
  assert.deepEqual([...row].map((time) => Number(time.toFixed(9))), [0.005, 0.035, 0.035]);
  assert.equal(events(row, 0, 0.05, 0.01).length, 3);
  assert.equal(events(row, 0.039, 0.05, 0.01).length, 2);
  assert.equal(events(row, 0.008, 0.031, 0.01).length, 3);
  assert.equal(events(row, 0.01, 0.03, 0.01).length, 0);
  assert.equal(events(row, 0.04, 0.05, 0.01).length, 0);
});

test("a window has at most as many points as asked, in round sizes", () => {
  const whole = windowOf(0, 30, 0.001, 30_000, 800);
  assert.deepEqual(whole, { first: 0, last: 30_000, size: 50 });
  assert.equal(times(whole, 0.001).length, 600);
  assert.deepEqual(windowOf(1.0031, 1.0099, 0.001, 30_000, 800), { first: 1003, last: 1010, size: 1 });
});

test("joined steps begin at multiples of their size", () => {
  assert.equal(windowOf(1.013, 2, 0.001, 30_000, 100).first % 10, 0);
});

test("joins", () => {
  const row = Float64Array.of(NaN, 1, 4, 2, 6);
  const window = { first: 0, last: 5, size: 2 };
  assert.deepEqual(joined(row, window, "max"), [1, 4, 6]);
  assert.deepEqual(joined(row, window, "last"), [1, 2, 6]);
  assert.deepEqual(joined(row, window, "mean"), [null, 3, 6]);
  assert.deepEqual(joined(Float64Array.of(NaN, NaN), { first: 0, last: 2, size: 2 }, "max"), [null]);
  for (const joins of ["max", "last", "mean"] as const) {
    assert.deepEqual(joined(Float64Array.of(1, 3), { first: 0, last: 6, size: 2 }, joins).slice(1), [null, null], "a short row");
  }
});

test("a view stays within the trial", () => {
  assert.deepEqual(within(-5, 5, 30, 0.01), [0, 10]);
  assert.deepEqual(within(28, 34, 30, 0.01), [24, 30]);
  assert.deepEqual(within(0, Infinity, 30, 0.01), [0, 30]);
  const [from, to] = within(3, 3, 30, 0.01);
  assert.ok(Math.abs(to - from - 0.01) < 1e-9);
});

test("an address that asks for no finite number asks for nothing", () => {
  assert.deepEqual(["abc", "", null, "0", "1.5", "Infinity"].map((text) => asked(text, 7)), [7, 7, 7, 0, 1.5, 7]);
});

test("the largest of more marks than a call takes arguments", () => {
  const marks = Array.from({ length: 500_000 }, (_, number) => number);
  assert.equal(largest([[null, -3], marks, []]), 499_999);
  assert.equal(largest([]), 0);
});

test("a line between ribbons has steps of whole groups, so that it stays within them", () => {
  const window = windowOfGroups(0.02, 0.11, 0.005, 31, 20, 10);
  assert.deepEqual(window, { first: 0, last: 30, size: 10 });
  const row = Float64Array.from({ length: 31 }, (_, at) => at);
  assert.deepEqual(joined(row, window, "mean"), [4.5, 14.5, 24.5]);
  assert.deepEqual(joinedGroups([4, 14, null], window, 10), [4, 14, null]);
  // longer steps than the ribbons'
  const long = windowOfGroups(0, 0.155, 0.005, 31, 2, 10);
  assert.deepEqual(long, { first: 0, last: 31, size: 20 });
  assert.deepEqual(joinedGroups([4, 14, null, 30], long, 10), [9, 30]);
  assert.deepEqual(windowOfGroups(1.013, 2, 0.001, 30_000, 100, 1), windowOf(1.013, 2, 0.001, 30_000, 100));
});

test("the largest and the last value in words do not depend on the steps", () => {
  const row = Float64Array.of(1, 5, 2, 2);
  for (const size of [1, 2, 4]) {
    const values = (joins: "max" | "last"): (number | null)[] => joined(row, { first: 0, last: 4, size }, joins);
    assert.equal(inWords(values("max"), "max", "kB"), "largest 5 kB");
    assert.match(inWords(values("last"), "last", "kB"), /^from \d to 2 kB$/);
  }
  assert.equal(inWords([null, 1, 2], "mean", "Mbps"), "mean 1.5 Mbps");
  assert.equal(inWords([null], "max", "kB"), "none");
});

test("durations", () => {
  assert.equal(duration(0.0005), "0.5 ms");
  assert.equal(duration(2), "2 s");
});

const SHOWN: Shown = {
  heading: "Throughput", unit: "Mbps", from: 0, to: 2, top: 10, xs: [0.5, 1.5], marks: false, ribbons: [], limit: undefined,
  lines: [{ label: 'a, <b>"', colour: "#000", dash: [1, 0], values: [4, null] }],
};

test("a panel's CSV", () => {
  assert.equal(panelCsv(SHOWN), 'time_s,"a, <b>"" (Mbps)"\n0.5,4\n1.5,\n');
  const marks = { ...SHOWN, marks: true, lines: [{ label: "a", colour: "#000", dash: [], values: [0.25, 1] }] };
  assert.equal(panelCsv(marks), "flow,time_s\na,0.25\na,1\n");
});

test("a panel's files have its ribbons and its limit", () => {
  const ribbons = [{ label: "a", colour: "#123456", edges: [[1, 1], [2, 2], [3, 3], [4, null]] }];
  const shown: Shown = { ...SHOWN, ribbons, limit: { value: 5, words: "link" } };
  const [head, first, second] = panelCsv(shown).split("\n");
  assert.match(head ?? "", /"a, least of all trials \(Mbps\)".*"a, largest of all trials \(Mbps\)"$/);
  assert.deepEqual([first, second], ["0.5,4,1,2,3,4", "1.5,,1,2,3,"]);
  const svg = panelSvg(shown, "title");
  assert.match(svg, /fill="#123456"/);
  assert.match(svg, />link</);
});

test("a whole number keeps its digits", () => {
  assert.equal(csv(["seed", "x"], [[20251124, 1.23456789]]), "seed,x\n20251124,1.234568\n");
});

test("a panel's SVG shows names as text", () => {
  const svg = panelSvg(SHOWN, "<title>");
  assert.ok(!svg.includes("<b>") && !svg.includes("<title>"));
  assert.match(svg, /^<svg xmlns/);
});
