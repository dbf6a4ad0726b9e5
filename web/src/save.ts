// Saves a figure: SVG and PNG drawn by Vega on white, and the data of its charts as CSV.
import { csvFormatRows, csvParseRows } from "d3-dsv";
import { all, button, embedded, make } from "./dom.ts";
import { save, saveFrom } from "./files.ts";
import { load, run } from "./load.ts";

/** Pixels of a panel, the panels in a row, and the pixels between two, as in the files of `cambrian report --figures`. */
const [WIDTH, COLUMNS, SPACE] = [320, 3, 28];
const PNG_SCALE = 2;
/** Data within a chart: CSV text, or the name of one of its data sets. */
interface Data { values?: string; name?: string }
/** A panel of a figure: what its file has, in words and as Vega-Lite. */
interface Panel { label: string; chart: object; datasets: Record<string, string>; csv: string | undefined }
/** A panel's Vega-Lite. A chart that draws shapes has the CSV of what they stand for. */
interface Spec { datasets?: Record<string, string>; usermeta?: { csv?: string } }

/** The panels of a figure that the page shows. */
async function panels(figure: HTMLElement): Promise<Panel[]> {
  const specs = await load<Spec[]>("figures", `${figure.dataset["name"] ?? ""}.js`);
  const width = WIDTH * (figure.classList.contains("wide") ? 2 : 1);
  const shown = all(".panel", figure).filter((panel) => !panel.hidden);
  return shown.map((panel) => {
    const { datasets = {}, usermeta, ...chart } = specs[Number(panel.dataset["number"])] ?? {};
    const height = parseFloat(panel.style.getPropertyValue("--height"));
    return { label: panel.getAttribute("aria-label") ?? "", chart: { ...chart, width, height }, datasets, csv: usermeta?.csv };
  });
}

async function picture(figure: HTMLElement, kind: "svg" | "png"): Promise<void> {
  const name = figure.dataset["name"] ?? "figure";
  const [shown] = await Promise.all([panels(figure), run("figures/vega.js")]);
  const spec = {
    concat: shown.map((panel) => panel.chart),
    datasets: Object.assign({}, ...shown.map((panel) => panel.datasets)) as object,
    columns: figure.classList.contains("wide") ? 1 : COLUMNS,
    spacing: SPACE,
    // each panel has its own contestants; equal domains make the axes equal
    resolve: { scale: { color: "independent", shape: "independent", strokeDash: "independent" } },
  };
  const config = { ...(embedded("themes") as Record<string, object>)["light"], background: "white" };
  const drawn = await window.vegaEmbed(document.createElement("div"), spec, { mode: "vega-lite", actions: false, renderer: "svg", config });
  if (kind === "svg") save(`${name}.svg`, await drawn.view.toSVG(), "image/svg+xml");
  else saveFrom(`${name}.png`, await drawn.view.toImageURL("png", PNG_SCALE));
  drawn.finalize();
}

/** The tables of CSV within a panel, each once. */
function tables({ chart, datasets, csv }: Panel): Set<string> {
  if (csv !== undefined) return new Set([csv]);
  const found = new Set<string>();
  const search = (part: unknown): void => {
    if (part === null || typeof part !== "object") return;
    const { values, name = "" } = (part as { data?: Data }).data ?? {};
    const text = values ?? datasets[name];
    if (typeof text === "string") found.add(text);
    Object.values(part).forEach(search);
  };
  search(chart);
  return found;
}

async function values(figure: HTMLElement): Promise<void> {
  const rows = (await panels(figure)).flatMap((panel) =>
    [...tables(panel)].flatMap((text) => {
      const [head = [], ...lines] = csvParseRows(text);
      return lines.map((line) => new Map([["panel", panel.label], ...head.map((name, at): [string, string] => [name, line[at] ?? ""])]));
    }),
  );
  const head = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  save(`${figure.dataset["name"] ?? "figure"}.csv`, csvFormatRows([head, ...rows.map((row) => head.map((name) => row.get(name) ?? ""))]), "text/csv");
}

/** Give each figure of the page its buttons. */
export function start(): void {
  for (const figure of all("figure[data-name]")) {
    const title = figure.querySelector("h3")?.textContent ?? "";
    const one = (text: string, work: () => Promise<void>): HTMLElement =>
      button(text, () => void work(), { "aria-label": `${title}: ${text}` });
    figure.querySelector("figcaption")?.append(
      make("span", { class: "files" }, "Save: ", one("SVG", () => picture(figure, "svg")), one("PNG", () => picture(figure, "png")), one("CSV", () => values(figure))),
    );
  }
}
