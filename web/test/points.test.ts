import assert from "node:assert/strict";
import test from "node:test";

import { chart, fields, type Column, type Data } from "../src/points.ts";

const column = (name: string, values: Column["values"], level = "flow", number = typeof values[0] === "number"): Column => ({ name, unit: "", level, meaning: `what ${name} is`, number, values });

const DATA: Data = {
  columns: [
    column("trial", ["t1", "t1", "t2", "t2"], "study"),
    column("group", ["g", "g", "g", "g"], "study"),
    column("flow", [0, 1, 0, 1]),
    column("seed", [1, 1, 2, 2], "study"),
    column("contestant", ["a", "b", "a", "b"]),
    column("throughput_mbps", [4, 6, 2, null]),
    column("delay_p50_ms", [10, 11, 12, 13]),
  ],
  means: [
    { group: "g", flow: 0, throughput_mbps: 3, throughput_mbps_low: 1, throughput_mbps_high: 5 },
    { group: "g", flow: 1, throughput_mbps: 6, throughput_mbps_low: null, throughput_mbps_high: null },
  ],
};

interface Point { kind: string; x: unknown; y: unknown; low?: unknown }

function made(asked: string, rows = [0, 1, 2, 3]): { values: Point[]; words: string } {
  const { spec, words } = chart(DATA, rows, fields(DATA.columns, new URLSearchParams(asked)), 800, new Map());
  return { values: (spec as { data: { values: Point[] } }).data.values, words };
}

test("without an address: throughput over delay, by contestant", () => {
  const start = fields(DATA.columns, new URLSearchParams());
  assert.deepEqual([start.x.name, start.y.name, start.colour?.name, start.facet], ["delay_p50_ms", "throughput_mbps", "contestant", undefined]);
  assert.equal(fields(DATA.columns, new URLSearchParams("colour=-")).colour, undefined);
});

test("a flow without a value has no point, and the words say so", () => {
  const { values, words } = made("");
  assert.deepEqual(values.map(({ kind, x, y }) => [kind, x, y]), [["trial", 10, 4], ["trial", 11, 6], ["trial", 12, 2]]);
  assert.match(words, /^3 points: .* 1 flow has no value/);
});

test("the legend has those whom the filters keep, in their own colours and shapes", () => {
  const { spec } = chart(DATA, [1, 3], fields(DATA.columns, new URLSearchParams()), 800, new Map());
  const { color } = (spec as { layer: { encoding: { color: { scale: { domain: unknown }; legend: { values: unknown } } } }[] }).layer[0]?.encoding ?? {};
  assert.deepEqual([color?.scale.domain, color?.legend.values], [["a", "b"], ["b"]]);
});

test("a mean stands at the settings of its group, with its interval", () => {
  const means = made("x=contestant").values.filter((one) => one.kind === "mean");
  assert.deepEqual(means.map(({ x, y, low }) => [x, y, low]), [["a", 3, 1], ["b", 6, null]]);
});

test("a mean has no place among values that differ from trial to trial", () => {
  assert.deepEqual(made("x=seed").values.filter((one) => one.kind === "mean"), []);
  assert.deepEqual(made("x=contestant&colour=seed").values.filter((one) => one.kind === "mean"), []);
});

test("a mean has no place over a text that differs between its trials", () => {
  const source = column("source", ["log", "log", "log", "packets"], "flow", false);
  const columns = [...DATA.columns, source];
  const { spec } = chart({ ...DATA, columns }, [0, 1, 2], fields(columns, new URLSearchParams("x=source")), 800, new Map());
  const before = (spec as { data: { values: Point[] } }).data.values.filter((one) => one.kind === "mean");
  assert.deepEqual(before.map(({ x }) => x), ["log", "log"]);
  const all = chart({ ...DATA, columns }, [0, 1, 2, 3], fields(columns, new URLSearchParams("x=source")), 800, new Map());
  const after = (all.spec as { data: { values: Point[] } }).data.values.filter((one) => one.kind === "mean");
  assert.deepEqual(after.map(({ x }) => x), ["log"]);
});

test("with one seed there are no means, and the words say so", () => {
  const { spec, words } = chart(DATA, [0, 1], fields(DATA.columns, new URLSearchParams()), 800, new Map(), true);
  assert.ok((spec as { data: { values: Point[] } }).data.values.every((one) => one.kind === "trial"));
  assert.match(words, /over all seeds, and are left out/);
});

test("a colour without a value has no point", () => {
  const { values, words } = made("x=delay_p50_ms&y=delay_p50_ms&colour=throughput_mbps");
  assert.equal(values.filter((one) => one.kind === "trial").length, 3);
  assert.match(words, /^3 points: .* 1 flow has no value/);
});

test("a facet makes several charts", () => {
  const { spec } = chart(DATA, [0, 1, 2], fields(DATA.columns, new URLSearchParams("facet=contestant")), 800, new Map());
  assert.equal((spec as { columns: number }).columns, 2);
});

void test("without a complete seed the reader is told so", () => {
  assert.throws(() => fields([], new URLSearchParams()), /no seed has all its trials finished and valid/);
});

void test("many networks are one chart, until the reader asks for one each", () => {
  const networks = Array.from({ length: 25 }, (_, at) => `n${at}`);
  const columns = (many: string[]): Column[] => [column("network", many), column("delay_p50_ms", many.map(() => 1))];
  assert.equal(fields(columns(networks), new URLSearchParams()).facet, undefined);
  assert.equal(fields(columns(networks), new URLSearchParams("facet=network")).facet?.name, "network");
  assert.equal(fields(columns(networks.slice(0, 24)), new URLSearchParams()).facet?.name, "network");
});
