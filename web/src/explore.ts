// The Explore view: any two quantities of every flow of every trial, with the means of the report.
import { changed, FILTERS, followed, read, write } from "./address.ts";
import { button, hovers, make } from "./dom.ts";
import { drawSpec } from "./figures.ts";
import { csv, save } from "./files.ts";
import { held } from "./filters.ts";
import { load, run } from "./load.ts";
import { chart, fields, MOST_CHARTS, type Column, type Data, type Fields, type Value } from "./points.ts";
import { groups } from "./trial.ts";

/** Columns of the table beside those that are drawn. */
const PLACE = ["trial", "seed", "network", "contestant", "against"];
const MOST_ROWS = 200;
const LEVELS: Record<string, string> = { study: "The study", network: "The network", flow: "The flow", trial: "The trial" };
const LABELS: Record<keyof Fields, string> = { x: "Across (x)", y: "Up (y)", colour: "Colour", facet: "One chart for each" };

const place = document.getElementById("explore");
let data: Promise<Data> | null = null;
let shown = "";
let chartShown = "";

function go(changes: Record<string, string>): void {
  location.hash = write(changed(read(location.hash), changes));
}

/** Show the view if the address asks for it. */
export async function showExplore(view: URLSearchParams): Promise<void> {
  if (!place) return;
  const wanted = view.get("view") === "explore";
  // read before the change, it costs no layout of its own
  const width = widthOf(place);
  document.body.classList.toggle("exploring", wanted);
  place.hidden = !wanted;
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".tabs a")) {
    const isMine = link.hash === "#view=explore";
    if (isMine === wanted) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (wanted) await draw(place, view, width);
}

/** The width in pixels that the view has, or will have once it is shown. */
function widthOf(place: HTMLElement): number {
  return place.clientWidth || (place.parentElement?.clientWidth ?? 0);
}

/** Draw what the address asks for, if that is not drawn yet. */
async function draw(place: HTMLElement, view: URLSearchParams, width: number): Promise<void> {
  // a cell or a trial that opens over the view changes nothing here
  const state = changed(view, { open: "", trial: "", from: "", to: "", all: "", at: "" }).toString();
  if (state === shown) return;
  shown = state;
  let found: Data;
  let chosen: Fields;
  try {
    found = await fetched();
    chosen = fields(found.columns, view);
  } catch (error) {
    place.replaceChildren(make("p", {}, `There is nothing to explore: ${String(error instanceof Error ? error.message : error)}.`));
    return;
  }
  // a newer address has come meanwhile
  if (state !== shown) return;
  const filters = held(view);
  const rows = keptRows(found.columns, filters);
  // the order of the table changes nothing else
  const chartState = `${changed(view, { sort: "", open: "", trial: "", from: "", to: "", all: "", at: "" }).toString()} ${width}`;
  const old = place.querySelector(".scroll");
  if (old && chartState === chartShown) {
    withFocus(() => { old.replaceWith(table(found.columns, rows, chosen, view)); });
    return;
  }
  chartShown = chartState;
  const colours = new Map(Object.values(groups).flatMap((group) => group.flows.map((flow) => [flow.name, flow.colour])));
  const oneSeed = filters.has("seed");
  const { spec, words, points } = chart(found, rows, chosen, width, colours, oneSeed);
  const figure = make("div", { class: "points", role: "img", "aria-label": words });
  withFocus(() => {
    place.replaceChildren(
      make("h2", { class: "heard" }, "Explore"),
      controls(found.columns, chosen),
      make("p", { class: "quiet" }, "A point is one flow of one valid trial. ", words),
      figure,
      meanings(chosen),
      table(found.columns, rows, chosen, view),
    );
  });
  // Vega warns of an axis without a value
  if (points) await drawSpec(figure, spec);
}

/** Replace a part of the view; the focus stays on the control of the same name. */
function withFocus(replace: () => void): void {
  const name = place?.contains(document.activeElement) ? document.activeElement?.getAttribute("name") : null;
  replace();
  if (name) place?.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)?.focus({ preventScroll: true });
}

/** The data, loaded once. */
function fetched(): Promise<Data> {
  data ??= load<Data>("data", "explore.js");
  return data;
}

/** Load what the view needs and draw it, still hidden; an error is shown when the view is asked for. */
async function drawAhead(link: HTMLAnchorElement): Promise<void> {
  try {
    await Promise.all([fetched(), run("figures/vega.js")]);
    if (place?.hidden) await draw(place, read(write(followed(read(location.hash), link.hash))), widthOf(place));
  } catch {
    shown = "";
  }
}

/** Draw the view again when its width changes; draw it ahead when a reader is about to open it. */
export function start(): void {
  if (!place) return;
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".tabs a")) {
    if (link.hash !== "#view=explore") continue;
    for (const event of ["pointerenter", "focus"]) link.addEventListener(event, () => void drawAhead(link), { once: true });
  }
  new ResizeObserver(() => {
    if (!place.hidden && chartShown && !chartShown.endsWith(` ${place.clientWidth}`)) {
      shown = "";
      void showExplore(read(location.hash));
    }
  }).observe(place);
}

/** The numbers of the rows that the filters keep. */
function keptRows(columns: Column[], filters: URLSearchParams): number[] {
  const asked = columns.flatMap(({ name, values }) => {
    const value = FILTERS.includes(name) ? filters.get(name) : null;
    return value === null ? [] : [{ values, value }];
  });
  const all = columns[0]?.values.map((_, row) => row) ?? [];
  return all.filter((row) => asked.every(({ values, value }) => String(values[row]) === value));
}

/** Column → how many values it has; more than MOST_CHARTS are not counted to the end. */
const counted = new WeakMap<Column, number>();

/** A column with one value shows nothing; a chart for each of many values shows too much. */
function isOffered(column: Column, role: keyof Fields): boolean {
  let count = counted.get(column);
  if (count === undefined) {
    const seen = new Set<Value>();
    for (const value of column.values) {
      seen.add(value);
      // the first values decide about nearly every column
      if (seen.size > MOST_CHARTS) break;
    }
    // once, and not for each role of each chart: that took 8 % of the time to draw another axis
    counted.set(column, (count = seen.size));
  }
  return count > 1 && (role !== "facet" || count <= MOST_CHARTS);
}

function controls(columns: Column[], chosen: Fields): HTMLElement {
  const form = make("form", { class: "controls", "aria-label": "Axes" });
  for (const [role, label] of Object.entries(LABELS) as [keyof Fields, string][]) {
    const select = make("select", { name: role });
    if (role === "colour" || role === "facet") select.append(make("option", { value: "-" }, "–"));
    for (const [level, title] of Object.entries(LEVELS)) {
      const mine = columns.filter((one) => one.level === level && (one === chosen[role] || isOffered(one, role)));
      if (!mine.length) continue;
      select.append(make("optgroup", { label: title }, ...mine.map((one) => make("option", { value: one.name, title: one.meaning }, one.name))));
    }
    select.value = chosen[role]?.name ?? "-";
    select.addEventListener("change", () => { go({ [role]: select.value }); });
    form.append(make("label", {}, `${label} `, select));
  }
  return form;
}

function meanings(chosen: Fields): HTMLElement {
  const used = [...new Set(Object.values(chosen))].filter((one): one is Column => Boolean(one));
  return make("dl", { class: "meanings" }, ...used.flatMap((one) => [make("dt", {}, one.name), make("dd", {}, one.meaning, one.unit ? ` (${one.unit})` : "")]));
}

function table(columns: Column[], rows: number[], chosen: Fields, view: URLSearchParams): HTMLElement {
  const sort = view.get("sort") ?? "";
  const down = sort.startsWith("-");
  const by = columns.find((one) => one.name === sort.replace(/^-/, ""));
  const drawn = [...new Set([...PLACE, ...Object.values(chosen).map((one) => (one as Column | undefined)?.name ?? "")])];
  const wanted = drawn.map((name) => columns.find((one) => one.name === name)).filter((one) => one !== undefined);
  const order = by ? sorted(rows, by, down) : rows;
  const heads = wanted.map((one) => {
    const isBy = one === by;
    const head = make("th", { scope: "col", "aria-sort": !isBy ? "none" : down ? "descending" : "ascending" });
    if (one.number) head.className = "n";
    const title = one.meaning + (one.unit ? ` (${one.unit})` : "");
    head.append(button(`${one.name}${isBy ? (down ? " ↓" : " ↑") : ""}`, () => { go({ sort: isBy && !down ? `-${one.name}` : one.name }); }, { title, name: `sort-${one.name}` }));
    return head;
  });
  const groupOf = columns.find((one) => one.name === "group");
  const body = order.slice(0, MOST_ROWS).map((row) => make("tr", {}, ...wanted.map((one) => cell(one, row, String(groupOf?.values[row]), view))));
  const count = order.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${order.length} rows` : `${order.length} rows`;
  const all = button("CSV of all columns", () => {
    save("explore.csv", csv(columns.map((one) => one.name), order.map((row) => columns.map((one) => one.values[row] ?? null))), "text/csv");
  });
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "The points as a table" },
    make("table", {}, make("caption", {}, `${count}. A heading sorts${hovers() ? "; the pointer on it says what it means" : ""}. `, all), make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body)),
  );
}

function cell(column: Column, row: number, group: string, view: URLSearchParams): HTMLElement {
  const value = column.values[row] ?? null;
  const text = value === null ? "–" : String(value);
  const inner = column.name === "trial" ? make("a", { href: write(changed(view, { open: group, trial: text })) }, text) : text;
  return make("td", column.number ? { class: "n" } : {}, inner);
}

/** Rows in order of a column; rows without a value come last. */
function sorted(rows: number[], { values }: Column, down: boolean): number[] {
  const sign = down ? -1 : 1;
  return [...rows].sort((one, two) => {
    const [a, b] = [values[one] ?? null, values[two] ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return a < b ? -sign : a > b ? sign : 0;
  });
}
