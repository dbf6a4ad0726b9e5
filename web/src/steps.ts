// The steps of a series that a panel draws: as many as there are pixels for.
import type { Joins } from "./pack.ts";
import { digits } from "./words.ts";

/** Steps `first` to `last` (not included), joined by `size`. */
export interface Window {
  first: number;
  last: number;
  size: number;
}

const ROUND = [1, 2, 5];

/** The window of steps that shows [from, to] in seconds with at most `most` points; sizes are round. */
export function windowOf(from: number, to: number, stepS: number, steps: number, most: number): Window {
  const first = Math.max(0, Math.floor(from / stepS + 1e-9));
  const last = Math.max(first + 1, Math.min(steps, Math.ceil(to / stepS - 1e-9)));
  let size = 1;
  for (let power = 1; (last - first) / size > most; power *= 10) {
    for (const digit of ROUND) {
      size = digit * power;
      if ((last - first) / size <= most) break;
    }
  }
  // joined steps begin at the same times wherever the window is
  return { first: Math.floor(first / size) * size, last, size };
}

/** The window as `windowOf` has it, whose steps join whole groups of `group` steps. */
export function windowOfGroups(from: number, to: number, stepS: number, steps: number, most: number, group: number): Window {
  const { first, last, size } = windowOf(from, to, group * stepS, Math.ceil(steps / group), most);
  return { first: group * first, last: Math.min(steps, group * last), size: group * size };
}

/** Means of `values` over a window's joined steps; each value is of `per` steps. */
export function joinedGroups(values: (number | null)[], { first, last, size }: Window, per: number): (number | null)[] {
  const found = [];
  for (let at = first; at < last; at += size) {
    const end = Math.min(at + size, last);
    const mine = values.slice(Math.floor(at / per + 1e-9), Math.ceil(end / per - 1e-9)).filter((value) => value !== null);
    found.push(mine.length ? mine.reduce((sum, value) => sum + value, 0) / mine.length : null);
  }
  return found;
}

/** The middles of a window's joined steps, in seconds. */
export function times({ first, last, size }: Window, stepS: number): number[] {
  const found = [];
  for (let at = first; at < last; at += size) found.push((at + Math.min(size, last - at) / 2) * stepS);
  return found;
}

/** The values of a window's joined steps; null where there is none. */
export function joined(row: Float64Array, { first, last, size }: Window, joins: Joins): (number | null)[] {
  const found = [];
  for (let at = first; at < last; at += size) {
    const end = Math.min(at + size, last, row.length);
    let value = NaN;
    // a row may be shorter than the trial
    if (end <= at) value = NaN;
    else if (joins === "last") value = row[end - 1] ?? NaN;
    else if (joins === "max") for (let one = at; one < end; one++) value = value >= (row[one] ?? NaN) ? value : (row[one] ?? NaN);
    else {
      let sum = 0;
      for (let one = at; one < end; one++) sum += row[one] ?? NaN;
      value = sum / (end - at);
    }
    found.push(Number.isFinite(value) ? value : null);
  }
  return found;
}

/** The events in the steps of which [from, to] shows a part; each event is in the middle of its step. */
export function events(row: Float64Array, from: number, to: number, stepS: number): number[] {
  const { first, last } = windowOf(from, to, stepS, Infinity, Infinity);
  return [...row].filter((time) => time > first * stepS && time < last * stepS);
}

/** The whole range, or a part that lies in it and has at least `least` seconds. */
export function within(from: number, to: number, end: number, least: number): [number, number] {
  const length = Math.min(end, Math.max(to - from, least));
  const start = Math.min(Math.max(0, (from + to - length) / 2), end - length);
  return [start, start + length];
}

/** Seconds that an address asks for; `other` if it has none, or no finite number. */
export function asked(text: string | null, other: number): number {
  const seconds = Number(text || NaN);
  return Number.isFinite(seconds) ? seconds : other;
}

/** The largest value, at least 0. A trial may have more marks than a call may have arguments. */
export function largest(lists: (number | null)[][]): number {
  let found = 0;
  for (const list of lists) for (const value of list) if (value !== null && value > found) found = value;
  return found;
}

/** What a line shows, in words; the mean of each step’s largest value would depend on the steps. */
export function inWords(values: (number | null)[], joins: Joins, unit: string): string {
  const known = values.filter((value) => value !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return "none";
  if (joins === "max") return `largest ${digits(largest([known]))} ${unit}`;
  if (joins === "last") return `from ${digits(first)} to ${digits(last)} ${unit}`;
  return `mean ${digits(known.reduce((sum, value) => sum + value, 0) / known.length)} ${unit}`;
}

/** Seconds with a fitting unit. */
export function duration(seconds: number): string {
  const ms = Number((seconds * 1000).toPrecision(3));
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}
