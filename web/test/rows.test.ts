import assert from "node:assert/strict";
import { test } from "node:test";
import { compared, numberOf } from "../src/rows.ts";

void test("a cell's number is the one that it begins with", () => {
  const texts = ["4.2 ± 0.1", "−3 Mbps [−4, −2]", "× 0.71 [0.6, 0.8]", "< 0.001", "+7 %"];
  assert.deepEqual(texts.map(numberOf), [4.2, -3, 0.71, 0.001, 7]);
  assert.ok(Number.isNaN(numberOf("–")));
});

void test("numbers sort by size, texts by letters, and what is no number comes last", () => {
  const sorted = (texts: string[], isNumber: boolean): string[] => [...texts].sort((one, two) => compared(one, two, isNumber));
  assert.deepEqual(sorted(["10", "–", "9.5", "−1"], true), ["−1", "9.5", "10", "–"]);
  assert.deepEqual(sorted(["far", "deep", "near"], false), ["deep", "far", "near"]);
});
