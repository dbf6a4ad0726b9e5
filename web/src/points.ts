// The chart of the Explore view, as Vega-Lite.

export type Value = string | number | boolean | null;

/** A quantity of the registry with its value in each row. */
export interface Column {
  name: string;
  unit: string;
  level: string;
  meaning: string;
  number: boolean;
  values: Value[];
}

export interface Data {
  columns: Column[];
  /** Rows of the report's table of flows: `group`, `flow`, a mean NAME, its interval NAME_low and NAME_high. */
  means: Record<string, Value>[];
}

/** The columns that a chart shows. */
export interface Fields {
  x: Column;
  y: Column;
  colour: Column | undefined;
  facet: Column | undefined;
}

interface Row {
  kind: "trial" | "mean";
  x: Value;
  y: Value;
  [more: string]: Value;
}

const INKS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5BD0"];
const SHAPES = ["circle", "square", "triangle-up", "cross", "diamond", "triangle-down", "triangle-right", "triangle-left"];
const HEIGHT = 320;
/** Pixels of a chart that is one of several. */
const LEAST = 260;
const AXIS = 64;

/** More charts show too much. */
export const MOST_CHARTS = 24;

const distinct = (column: Column | undefined): Value[] => [...new Set(column?.values ?? [])];

/** What the address asks for, or a good start. */
export function fields(columns: Column[], view: URLSearchParams): Fields {
  const named = (name: string | null): Column | undefined => columns.find((one) => one.name === name);
  const several = (name: string): Column | undefined => (distinct(named(name)).length > 1 ? named(name) : undefined);
  const first = columns[0];
  if (!first) throw new Error("no seed has all its trials finished and valid");
  const asked = (role: string, start: Column | undefined): Column | undefined =>
    view.get(role) === "-" ? undefined : (named(view.get(role)) ?? start);
  return {
    x: named(view.get("x")) ?? named("delay_p50_ms") ?? first,
    y: named(view.get("y")) ?? named("throughput_mbps") ?? first,
    colour: asked("colour", several("contestant")),
    facet: asked("facet", distinct(named("network")).length > MOST_CHARTS ? undefined : several("network")),
  };
}

const title = ({ name, unit }: Column): string => (unit ? `${name} (${unit})` : name);

/**
 * A Vega-Lite chart of `rows`, `width` pixels wide, and what it shows in words. `oneSeed`: the rows are of one
 * seed, so means over all seeds do not belong to them.
 */
export function chart(data: Data, rows: number[], chosen: Fields, width: number, colours: Map<string, string>, oneSeed = false): { spec: object; words: string; points: number } {
  const { x, y, colour, facet } = chosen;
  const groupOf = data.columns.find((one) => one.name === "group");
  const flowOf = data.columns.find((one) => one.name === "flow");
  const groups = new Map<string, number[]>();
  const points: Row[] = [];
  for (const row of rows) {
    const key = `${String(groupOf?.values[row])} ${String(flowOf?.values[row])}`;
    const mine = groups.get(key);
    if (mine) mine.push(row);
    else groups.set(key, [row]);
    const [across, up] = [x.values[row] ?? null, y.values[row] ?? null];
    // Vega draws no point without a value on a scale of numbers
    if (across === null || up === null || (colour?.number && (colour.values[row] ?? null) === null)) continue;
    points.push({ kind: "trial", x: across, y: up, ...settings(row, data, chosen) });
  }
  const means = data.means.flatMap((mean) => {
    const mine = groups.get(`${String(mean["group"])} ${String(mean["flow"])}`);
    return mine === undefined || oneSeed ? [] : meanOf(mean, mine, data, chosen);
  });
  const charts = facet ? new Set(points.map((one) => one["facet"])).size : 1;
  const columns = facet ? Math.max(1, Math.min(charts, Math.floor(width / LEAST))) : 1;
  const kept = new Set(rows.map((row) => colour?.values[row]));
  const inks = distinct(colour).map((value, at) => colours.get(String(value)) ?? INKS[at % INKS.length]);
  const axis = (field: "x" | "y", column: Column): object => ({
    field,
    type: column.number ? "quantitative" : "nominal",
    title: title(column),
    ...(column.number ? { scale: { zero: false } } : {}),
    axis: column.number ? {} : { labelAngle: field === "x" ? -30 : 0, labelLimit: 160, labelOverlap: false },
    ...(column.number ? {} : { sort: null }),
  });
  const ink = colour && {
    color: colour.number
      ? { field: "colour", type: "quantitative", title: title(colour), scale: { scheme: "viridis" }, legend: { orient: "top", direction: "horizontal", titleLimit: 0 } }
      : { field: "colour", type: "nominal", title: null, scale: { domain: distinct(colour), range: inks }, legend: colour === x || colour === facet ? null : { columns: Math.max(1, Math.floor(width / 180)), values: distinct(colour).filter((value) => kept.has(value)) } },
  };
  // several contestants have one colour, and a reader may see none
  const shape = colour && !colour.number && { shape: { field: "colour", type: "nominal", title: null, scale: { domain: distinct(colour), range: SHAPES }, legend: ink?.color.legend } };
  const places = { x: axis("x", x), y: axis("y", y) };
  const tip = (field: string, name: string): object => ({ field, title: name, type: "nominal" });
  const tooltip = [tip("trial", "trial"), tip("seed", "seed"), tip("contestant", "contestant"), tip("x", title(x)), tip("y", title(y))];
  const only = (kind: string): object => ({ transform: [{ filter: { field: "kind", equal: kind } }] });
  const rule = (other: "x2" | "y2", low: string, high: string): object => ({
    transform: [{ filter: `datum.kind === 'mean' && isValid(datum.${low})` }],
    mark: { type: "rule", strokeWidth: 2.5 },
    encoding: { ...places, [other[0] ?? ""]: { ...places[other[0] as "x" | "y"], field: low }, [other]: { field: high }, ...ink },
  });
  // Vega warns of a layer without a value
  const has = (end: string): boolean => means.some((one) => one[end] !== null);
  const layer = [
    { ...only("trial"), mark: { type: "point", size: 30, opacity: 0.8 }, encoding: { ...places, ...ink, ...shape, tooltip } },
    ...(has("low") ? [rule("y2", "low", "high")] : []),
    ...(has("xlow") ? [rule("x2", "xlow", "xhigh")] : []),
    ...(means.length ? [{ ...only("mean"), mark: { type: "point", size: 110, filled: true, opacity: 1 }, encoding: { ...places, ...ink, ...shape, tooltip: tooltip.slice(2) } }] : []),
  ];
  const size = { width: Math.max(160, Math.floor(width / columns) - AXIS - (facet ? 16 : 0)), height: facet ? HEIGHT * 0.75 : HEIGHT };
  const values = [...points, ...means];
  const spec = facet
    ? { data: { values }, facet: { field: "facet", type: "nominal", title: null, sort: null }, columns, spec: { ...size, layer } }
    : { data: { values }, ...size, layer };
  const missing = rows.length - points.length;
  const without = missing ? ` ${missing} ${missing === 1 ? "flow has" : "flows have"} no value and no point.` : "";
  const marks = means.length ? ` Large filled marks: the report’s means of a group; lines: their 95 % intervals, where it has them.` : oneSeed ? " Means are over all seeds, and are left out while one seed is chosen." : "";
  return { spec, points: points.length, words: `${points.length} points: ${title(y)} over ${title(x)}.${without}${marks}` };
}

/** The values of a row that decide its colour and its chart, and its name. */
function settings(row: number, data: Data, { colour, facet }: Fields): Record<string, Value> {
  const found: Record<string, Value> = { colour: colour?.values[row] ?? null, facet: facet?.values[row] ?? null };
  for (const name of ["trial", "seed", "contestant"]) found[name] = data.columns.find((one) => one.name === name)?.values[row] ?? null;
  return found;
}

/** A mean of a group's flow with rows `mine`; none if a side of the chart is no mean and varies over them. */
function meanOf(mean: Record<string, Value>, mine: number[], data: Data, chosen: Fields): Row[] {
  const [first = 0] = mine;
  const varies = (column: Column | undefined): boolean => new Set(mine.map((row) => column?.values[row] ?? null)).size > 1;
  // a number of a flow that has one value by chance has no place for a mean either
  const isOther = (column: Column): boolean => varies(column) || column.level === "trial" || ["seed", "trial"].includes(column.name) || (column.number && column.level === "flow" && column.name !== "flow");
  const side = (column: Column): Value => (column.name in mean ? (mean[column.name] ?? null) : isOther(column) ? null : (column.values[first] ?? null));
  const { x, y, colour, facet } = chosen;
  const [across, up] = [side(x), side(y)];
  if (!(y.name in mean) || across === null || up === null) return [];
  if ([colour, facet].some((one) => one && isOther(one))) return [];
  const end = (column: Column, name: string): Value => mean[`${column.name}_${name}`] ?? null;
  return [{ kind: "mean", x: across, y: up, low: end(y, "low"), high: end(y, "high"), xlow: end(x, "low"), xhigh: end(x, "high"), ...settings(first, data, chosen), trial: null, seed: null }];
}
