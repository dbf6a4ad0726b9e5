// Shows only what the address's filters ask for.
import { about, naming, said, type Contestants } from "./about.ts";
import { offered } from "./address.ts";
import { all, embedded } from "./dom.ts";
import { panels } from "./figures.ts";

/** The form of the filters; a suite's page has none. */
export const form = document.querySelector<HTMLFormElement>("form.filters");

/** The view with the filters that the form can show: it offers what the report has. */
export function held(view: URLSearchParams): URLSearchParams {
  const selects = all<HTMLSelectElement>(".filters select");
  return offered(view, new Map(selects.map((select) => [select.name, [...select.options].map((option) => option.value)])));
}

/** Show what `view` asks for. */
export function filter(view: URLSearchParams): void {
  if (!form) return;
  const asked: Record<string, string> = {};
  const shown = held(view);
  for (const select of all<HTMLSelectElement>(".filters select")) {
    asked[select.name] = select.value = shown.get(select.name) ?? "";
  }
  const seed = asked["seed"] ?? "";
  const isKept = about((embedded("contestants") ?? {}) as Contestants, asked["stack"] ?? "", asked["cca"] ?? "");
  const keeps = (of: Pick<Node, "textContent">[]): boolean => isKept(of.map((one) => one.textContent).join("\n"));
  const isElsewhere = (one: HTMLElement): boolean =>
    Boolean(asked["network"]) && one.dataset["network"] !== undefined && one.dataset["network"] !== asked["network"];
  for (const one of all("[data-network]")) one.hidden = isElsewhere(one);
  for (const one of all(".findings li")) one.hidden ||= !keeps(said(one.childNodes));
  const isFiltered = Object.values(asked).some(Boolean);
  const findings = all(".findings li");
  const listed = document.querySelector<HTMLElement>(".findings .listed");
  if (listed && !findings.length) listed.textContent = isFiltered ? "This is about the whole study, not only about the choice." : "";
  if (listed && findings.length) {
    const left = findings.filter((one) => !one.hidden).length;
    const words = left ? "Of the study’s largest differences, these are about the choice" : "None of the study’s largest differences is about the choice";
    listed.textContent = isFiltered && left < findings.length ? `${words}; the verdicts and tables below have all.` : "";
  }
  for (const row of all<HTMLTableRowElement>(".matrix tbody tr, .network tbody tr, .rows tbody tr")) {
    row.hidden = isElsewhere(row) || !keeps(naming(row.cells));
  }
  for (const one of all("details.verdict")) one.hidden = !isKept(one.querySelector("summary")?.textContent ?? "");
  for (const panel of panels) panel.hidden = !isKept(panel.getAttribute("aria-label") ?? "");
  for (const table of all<HTMLTableElement>("#invalid table, #traces table")) {
    const [head, ...rows] = table.rows;
    const column = [...(head?.cells ?? [])].findIndex((cell) => cell.textContent === "Seed");
    for (const row of rows) row.hidden = Boolean(seed) && row.cells[column]?.textContent !== seed;
  }
  for (const figure of all(".figure")) {
    const mean = (figure.dataset["mean"] ??= figure.textContent);
    const bySeed = JSON.parse(figure.dataset["seeds"] ?? "{}") as Record<string, string>;
    figure.textContent = seed ? (bySeed[seed] ?? "–") : mean;
  }
  const rows = all(".matrix tbody tr");
  const kept = `${rows.filter((row) => !row.hidden).length} of ${rows.length} row${rows.length === 1 ? "" : "s"}`;
  const output = form.querySelector("output");
  if (!output) return;
  output.textContent =
    (isFiltered ? kept : "") + (seed ? "; of this seed: the matrix’s numbers, Explore, and lists of trials; all else is of all seeds" : "");
}
