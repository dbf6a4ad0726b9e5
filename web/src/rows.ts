// A table of the page whose rows belong to cells of its matrix, and whose headings sort.
import { changed, read, write } from "./address.ts";
import { all, button, make } from "./dom.ts";
import { count } from "./words.ts";

/** The order in which the page has the rows. */
const order = new Map<HTMLTableRowElement, number>();

/** A cell's text as a number, such as 4.2 of "4.2 ± 0.1" and −3 of "−3 Mbps"; NaN without one. */
export function numberOf(text: string): number {
  return Number.parseFloat(text.replace("−", "-").replace(/^[×<+ ]+/, ""));
}

/** Sorts texts: numbers by size, others by letters; what is no number comes last. */
export function compared(one: string, two: string, isNumber: boolean): number {
  if (!isNumber) return one.localeCompare(two);
  const [a, b] = [numberOf(one), numberOf(two)];
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || (a - b || 0);
}

function sort(table: HTMLTableElement, asked: string): void {
  const down = asked.startsWith("-");
  const name = asked.replace(/^-/, "");
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const column = heads.findIndex((head) => head.dataset["sort"] === name);
  heads.forEach((head, at) => {
    head.setAttribute("aria-sort", at !== column ? "none" : down ? "descending" : "ascending");
    const shown = head.querySelector("button");
    if (shown) shown.textContent = (head.dataset["sort"] ?? "") + (at !== column ? "" : down ? " ↓" : " ↑");
  });
  const body = table.tBodies[0];
  if (!body) return;
  const isNumber = heads[column]?.classList.contains("n") ?? false;
  const place = (row: HTMLTableRowElement): number => order.get(row) ?? 0;
  const text = (row: HTMLTableRowElement): string => row.cells[column]?.textContent ?? "";
  const sign = down ? -1 : 1;
  const rows = [...body.rows].sort((one, two) => {
    const found = column < 0 ? 0 : compared(text(one), text(two), isNumber);
    const isEmpty = isNumber && (Number.isNaN(numberOf(text(one))) || Number.isNaN(numberOf(text(two))));
    return (isEmpty ? found : sign * found) || place(one) - place(two);
  });
  body.append(...rows);
}

/** Which rows are shown, and the way to all of them. */
function words(cell: string, rows: number): (Node | string)[] {
  const link = all<HTMLAnchorElement>(".matrix a").find((one) => read(one.hash).get("cell") === cell);
  const place = link?.closest("td");
  const who = place?.closest("tr")?.cells[0]?.textContent ?? "";
  const on = place?.dataset["network"] ?? "";
  return [`${count(rows, "figure")} of ${who} on ${on}. `, make("a", { href: "#figures" }, "Show all")];
}

/** Give the headings of sortable tables their buttons. */
export function start(): void {
  for (const table of all<HTMLTableElement>("table.sortable")) {
    for (const [at, row] of [...(table.tBodies[0]?.rows ?? [])].entries()) order.set(row, at);
    for (const head of table.tHead?.rows[0]?.cells ?? []) {
      const name = head.textContent;
      head.dataset["sort"] = name;
      const turn = (): void => {
        const now = read(location.hash);
        const asked = now.get("sort") ?? "";
        const next = asked === name ? `-${name}` : asked === `-${name}` ? "" : name;
        location.hash = write(changed(now, { sort: next, at: "" }));
      };
      head.replaceChildren(button(name, turn));
    }
  }
}

/** Show the rows of the cell that `view` asks for, in the order that it asks for; after the filters. */
export function showRows(view: URLSearchParams): void {
  const cell = view.get("cell") ?? "";
  for (const table of all<HTMLTableElement>("table.sortable")) {
    sort(table, view.get("sort") ?? "");
    const rows = [...(table.tBodies[0]?.rows ?? [])];
    for (const row of rows) row.hidden ||= Boolean(cell) && row.dataset["cell"] !== cell;
    const said = table.closest(".rows")?.querySelector<HTMLElement>(".only");
    said?.replaceChildren(...(cell ? words(cell, rows.filter((row) => !row.hidden).length) : []));
  }
}
