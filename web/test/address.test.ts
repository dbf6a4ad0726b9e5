import assert from "node:assert/strict";
import test from "node:test";

import { about } from "../src/about.ts";
import { changed, followed, offered, read, write } from "../src/address.ts";

test("a plain hash is a place", () => {
  assert.equal(read("#network-1").get("at"), "network-1");
  assert.equal(write(read("#network-1")), "#network-1");
});

test("an empty view is #all, which no element is called", () => {
  assert.equal(write(read("")), "#all");
  assert.equal(write(changed(read("#seed=2"), { seed: "" })), "#all");
  assert.equal([...read("#all")].length, 0);
  assert.equal(read("#allies").get("at"), "allies");
});

test("filters stay when a link is followed, all else goes", () => {
  const next = followed(read("#stack=quinn&seed=2&at=methods&open=a"), "#network-2");
  assert.equal(write(next), "#stack=quinn&seed=2&at=network-2");
});

test("a name with signs survives the address", () => {
  const view = changed(read(""), { open: "20mbps/quinn cubic + tcp & co=1" });
  assert.equal(read(write(view)).get("open"), "20mbps/quinn cubic + tcp & co=1");
});

const CONTESTANTS: Record<string, [string, string]> = {
  "tcp cubic": ["tcp", "cubic"],
  "tcp cubic with TLS": ["tcp", "cubic"],
  "quinn cubic": ["quinn", "cubic"],
};

test("a text is about those whom it names, by their longest names", () => {
  const isQuinn = about(CONTESTANTS, "quinn", "");
  assert.ok(isQuinn("quinn cubic against tcp cubic"));
  assert.ok(!isQuinn("tcp cubic with TLS against tcp cubic"));
  assert.ok(isQuinn("nobody in particular"));
});

test("without a filter every text is kept", () => {
  assert.ok(about(CONTESTANTS, "", "")("tcp cubic"));
  assert.ok(about({}, "quinn", "")("tcp cubic"));
});

test("a label is a word, not a part of one", () => {
  const isNoq = about({ ...CONTESTANTS, A: ["noq", "cubic"], "日本 [x]": ["noq", "bbr"] }, "noq", "");
  assert.ok(isNoq("A has 99 % of the link"));
  assert.ok(!isNoq("tcp cubic: Above the bound"));
  assert.ok(isNoq("日本 [x] loses"));
});

test("a filter with a value that the report lacks is none", () => {
  const options = new Map([["seed", ["", "1", "3"]], ["network", ["", "4g"]]]);
  const held = (hash: string): string => offered(read(hash), options).toString();
  assert.equal(held("#seed=2&view=explore"), "view=explore");
  assert.equal(held("#seed=3&network=4g&stack=tcp&x=delay_p50_ms"), "seed=3&network=4g&x=delay_p50_ms");
});
