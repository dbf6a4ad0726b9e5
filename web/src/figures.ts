// Draws each panel when it comes near the screen, the rest when the browser has time, and all anew
// when the reader switches between light and dark.
import { all, embedded } from "./dom.ts";
import { load, run } from "./load.ts";

type Theme = "light" | "dark";

/** A chart that Vega has drawn. */
interface Drawn {
  view: { toSVG: () => Promise<string>; toImageURL: (kind: "png", scale: number) => Promise<string> };
  finalize: () => void;
}

declare global {
  interface Window {
    vegaEmbed: (place: HTMLElement, spec: object, options: object) => Promise<Drawn>;
  }
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const drawn = new Map<HTMLElement, Theme>();
let theme: Theme = dark.matches ? "dark" : "light";

/** The panels of figures on the page. */
export const panels = all(".panel");

// Safari has no requestIdleCallback
const idle: (work: () => void) => unknown =
  "requestIdleCallback" in window ? (work) => window.requestIdleCallback(work) : (work) => setTimeout(work, 50);

/** Draw a panel: number `data-number` of the specifications in the file `data-figure`. */
export async function draw(panel: HTMLElement): Promise<void> {
  // a closed section has no width to draw in
  if (drawn.get(panel) === theme || panel.clientWidth === 0) return;
  const wanted = theme;
  drawn.set(panel, wanted);
  const [specs] = await Promise.all([
    load<object[]>("figures", panel.dataset["figure"] ?? ""),
    run("figures/vega.js"),
  ]);
  const spec = specs[Number(panel.dataset["number"])];
  let chart = panel.querySelector<HTMLElement>(".chart");
  if (!chart) {
    chart = document.createElement("div");
    chart.className = "chart";
    // the panel's own words say what it shows
    chart.setAttribute("aria-hidden", "true");
    panel.append(chart);
  }
  await embed(chart, { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } }, "svg", wanted);
}

async function embed(place: HTMLElement, spec: object, renderer: "svg" | "canvas", wanted: Theme): Promise<void> {
  const config = (embedded("themes") as Record<Theme, object>)[wanted];
  await window.vegaEmbed(place, spec, { actions: false, renderer, config });
}

/** Draws the chart of many points again. */
let again = (): void => undefined;
dark.addEventListener("change", () => { again(); });

/** Draw a chart of many points, on a canvas, in the reader's theme. */
export async function drawSpec(place: HTMLElement, spec: object): Promise<void> {
  await run("figures/vega.js");
  again = () => { void embed(place, spec, "canvas", dark.matches ? "dark" : "light"); };
  again();
}

function drawRest(): void {
  const next = panels.find((panel) => drawn.get(panel) !== theme && panel.clientWidth > 0);
  if (next) void draw(next).then(() => idle(drawRest));
}

function drawAllIn(wanted: Theme): void {
  theme = wanted;
  idle(drawRest);
}

/** Draw the page's figures, and keep them in the reader's theme. */
export function start(): void {
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) void draw(entry.target as HTMLElement);
    },
    { rootMargin: "400px" },
  );
  for (const panel of panels) near.observe(panel);
  idle(drawRest);
  for (const section of all("details")) section.addEventListener("toggle", () => idle(drawRest));
  const current = (): Theme => (dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => { drawAllIn(current()); });
  // paper is white, and shows everything that the reader has opened
  window.addEventListener("beforeprint", () => {
    theme = "light";
    for (const panel of panels) void draw(panel);
  });
  window.addEventListener("afterprint", () => { drawAllIn(current()); });
}
