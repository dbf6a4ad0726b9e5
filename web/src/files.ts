// Files that the page makes when a reader asks for them.
import { digits } from "./words.ts";

/** A line or a ribbon of a panel, or the marks of one flow. */
export interface Line {
  label: string;
  colour: string;
  dash: number[];
  values: (number | null)[];
}

/** One flow over all trials: least, lower and upper quartile, and largest value at each time. */
export interface Ribbon {
  label: string;
  colour: string;
  edges: (number | null)[][];
}

/** What a panel shows. `marks`: each line's values are times; they stand in a row of their own. */
export interface Shown {
  heading: string;
  unit: string;
  from: number;
  to: number;
  top: number;
  xs: number[];
  lines: Line[];
  ribbons: Ribbon[];
  limit: { value: number; words: string } | undefined;
  marks: boolean;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
// a seed is a whole number, and has more digits than a measured value
const short = (value: number): string => String(Number.isInteger(value) ? value : Number(value.toPrecision(7)));

/** Comma-separated values with a heading. */
export function csv(head: string[], rows: (string | number | boolean | null)[][]): string {
  const text = (one: string | number | boolean | null): string =>
    one === null ? "" : typeof one === "number" ? short(one) : quoted(String(one));
  return [head.map(quoted), ...rows.map((row) => row.map(text))].map((row) => `${row.join(",")}\n`).join("");
}

/** A panel's data; marks have a row each. */
export function panelCsv(shown: Shown): string {
  if (shown.marks) {
    return csv(["flow", "time_s"], shown.lines.flatMap((line) => line.values.map((time) => [line.label, time])));
  }
  const ribbons = shown.ribbons.flatMap(({ label, edges }) => edges.map((values, edge) => ({ label: `${label}, ${EDGES[edge] ?? ""} of all trials`, values })));
  const columns = [...shown.lines, ...ribbons];
  const head = ["time_s", ...columns.map((column) => `${column.label} (${shown.unit})`)];
  return csv(head, shown.xs.map((x, at) => [x, ...columns.map((column) => column.values[at] ?? null)]));
}

const EDGES = ["least", "lower quartile", "upper quartile", "largest"];
const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [960, 300, 60, 60, 40];

/** A panel as SVG on white. */
export function panelSvg(shown: Shown, title: string): string {
  const x = (time: number): string => (LEFT + ((WIDTH - LEFT - 20) * (time - shown.from)) / (shown.to - shown.from)).toFixed(1);
  const y = (value: number): string => (HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * value) / shown.top).toFixed(1);
  const parts = [`<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`, `<text x="${LEFT}" y="18" font-weight="600">${escaped(title)}</text>`];
  for (let tick = 0; tick <= 5; tick++) {
    const time = shown.from + ((shown.to - shown.from) * tick) / 5;
    parts.push(`<text x="${x(time)}" y="${HEIGHT - 20}" text-anchor="middle">${short(Number(time.toFixed(6)))}</text>`);
    if (shown.marks || tick > 4) continue;
    const value = (shown.top * tick) / 4;
    parts.push(`<path d="M${LEFT},${y(value)}H${WIDTH - 20}" stroke="#ddd"/><text x="${LEFT - 6}" y="${y(value)}" text-anchor="end" dominant-baseline="middle">${digits(value)}</text>`);
  }
  parts.push(`<text x="${WIDTH / 2}" y="${HEIGHT - 4}" text-anchor="middle">Time (s)</text>`);
  for (const { colour, edges } of shown.ribbons) {
    const [least = [], low = [], high = [], most = []] = edges;
    for (const [below, above, opacity] of [[least, most, 0.13], [low, high, 0.27]] as const) {
      const known = shown.xs.flatMap((time, at) => (below[at] == null || above[at] == null ? [] : [[time, below[at], above[at]] as const]));
      const upper = known.map(([time, , value]) => `${x(time)},${y(value)}`);
      const lower = known.map(([time, value]) => `${x(time)},${y(value)}`).reverse();
      if (known.length) parts.push(`<path d="M${[...upper, ...lower].join("L")}Z" fill="${colour}" fill-opacity="${opacity}"/>`);
    }
  }
  if (shown.limit) {
    const at = y(shown.limit.value);
    parts.push(`<path d="M${LEFT},${at}H${WIDTH - 20}" stroke="#666" stroke-dasharray="6 4"/><text x="${WIDTH - 24}" y="${Number(at) + 13}" text-anchor="end" fill="#444">${escaped(shown.limit.words)}</text>`);
  }
  shown.lines.forEach((line, number) => {
    const at = LEFT + (number * (WIDTH - LEFT)) / shown.lines.length;
    const stroke = `fill="none" stroke="${line.colour}" stroke-width="1.5"`;
    parts.push(`<path d="M${at},36h24" ${stroke} stroke-dasharray="${line.dash.join(" ")}"/><text x="${at + 30}" y="40">${escaped(line.label)}</text>`);
    if (shown.marks) {
      const height = (HEIGHT - BOTTOM - TOP) / shown.lines.length;
      const base = TOP + height * number;
      // the middle of a step that is shown in part may be outside
      const inside = (time: number): number => Math.min(Math.max(time, shown.from), shown.to);
      const ticks = line.values.map((time) => (time === null ? "" : `M${x(inside(time))},${base + 4}v${height - 8}`));
      parts.push(`<path d="${ticks.join("")}" ${stroke}/>`);
      return;
    }
    let pen = "M";
    let path = "";
    line.values.forEach((value, index) => {
      if (value !== null) path += `${pen}${x(shown.xs[index] ?? 0)},${y(value)}`;
      pen = value === null ? "M" : "L";
    });
    parts.push(`<path d="${path}" ${stroke} stroke-dasharray="${line.dash.join(" ")}"/>`);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">${parts.join("")}</svg>\n`;
}

/** Let the reader save a text as a file. */
export function save(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  saveFrom(name, address);
  URL.revokeObjectURL(address);
}

/** Let the reader save what an address (blob: or data:) has. */
export function saveFrom(name: string, address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}
