// One panel of a trial: a series over time, drawn by uPlot.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { button, colour, make } from "./dom.ts";
import { panelCsv, panelSvg, save, type Line, type Shown } from "./files.ts";
import type { Kind } from "./pack.ts";
import { events, inWords, joined, joinedGroups, largest, times, type Window } from "./steps.ts";
import { digits } from "./words.ts";

export interface Flow {
  name: string;
  colour: string;
  dash: number[];
}

/** Each flow's least, quartiles and largest throughput over all trials, in steps. */
export interface Spread {
  trials: number;
  step_s: number;
  mbps: number[][][];
}

/** What all panels of a trial share. */
export interface Scene {
  flows: Flow[];
  rows: Float64Array[];
  stepS: number;
  from: number;
  to: number;
  window: Window;
  limit: { value: number; words: string } | undefined;
  spread: Spread | null;
  /** The start of the names of saved files. */
  file: string;
  title: string;
}

const HEIGHT = 150;
/** Pixels of a flow's row of marks. */
const ROW = 16;
const LINK: Flow = { name: "all flows", colour: "#0072b2", dash: [1, 0] };

export class Panel {
  readonly element: HTMLElement;
  private readonly place = make("div", { class: "plot" });
  private readonly readout = make("span", { class: "values" });
  private readonly absent = make("span", { class: "quiet" });
  private plot: uPlot | null = null;
  private shown: Shown = { heading: "", unit: "", from: 0, to: 1, top: 1, xs: [], lines: [], ribbons: [], limit: undefined, marks: false };
  private limit: Scene["limit"];
  private single = false;
  /** What a plot is made for; another one needs a new plot. */
  private made = "";
  private file = "";
  private title = "";

  /** `zoom` gets what the reader selects, `reset` a double click. */
  constructor(private readonly kind: Kind, private readonly zoom: (from: number, to: number) => void, private readonly reset: () => void) {
    const files = make(
      "span",
      { class: "files" },
      button("SVG", () => { this.saveAs("svg"); }, { "aria-label": `${kind.heading} as SVG` }),
      button("CSV", () => { this.saveAs("csv"); }, { "aria-label": `${kind.heading} as CSV` }),
    );
    const unit = this.marks ? "" : ` (${kind.unit})`;
    this.element = make(
      "figure",
      { class: "series", "data-series": kind.name },
      make("figcaption", {}, make("h4", {}, `${kind.heading}${unit}`), make("span", { class: "quiet" }, kind.meaning), this.absent, this.readout, files),
      this.place,
    );
  }

  private get marks(): boolean {
    return this.kind.joins === "times";
  }

  private get height(): number {
    return this.marks ? 44 + ROW * this.shown.lines.length : HEIGHT;
  }

  /** Draw the scene, as wide as the panel's place is. */
  draw(scene: Scene): void {
    const flows = this.kind.flows ? scene.flows : [LINK];
    const xs = this.marks ? [scene.from, scene.to] : times(scene.window, scene.stepS);
    const lines: Line[] = scene.rows.map((row, number) => {
      const flow = flows[number] ?? LINK;
      const values = this.marks
        ? events(row, scene.from, scene.to, scene.stepS)
        : joined(row, scene.window, this.kind.joins);
      return { label: flow.name, colour: flow.colour, dash: flow.dash, values };
    });
    const ribbons = this.kind.name === "throughput_mbps" && scene.spread ? spreads(scene.spread, scene.window, scene.stepS) : [];
    const most = largest([...lines.map((line) => line.values), ...ribbons]);
    // a limit that is far above the data would flatten it
    this.limit = scene.limit && scene.limit.value <= 2 * most ? scene.limit : undefined;
    const top = 1.05 * Math.max(most, this.limit?.value ?? 0, 1e-3);
    this.shown = {
      heading: this.kind.heading,
      unit: this.kind.unit,
      from: scene.from,
      to: scene.to,
      top,
      xs,
      lines,
      ribbons: lines.flatMap((line, number) => (ribbons.length ? [{ label: line.label, colour: line.colour, edges: ribbons.slice(4 * number, 4 * number + 4) }] : [])),
      limit: this.limit,
      marks: this.marks,
    };
    // a line that is missing needs a reason
    const without = this.marks ? [] : scene.rows.flatMap((row, number) => (row.some((value) => Number.isFinite(value)) ? [] : [(flows[number] ?? LINK).name]));
    this.absent.textContent = without.length ? `Not reported: ${without.join(", ")}.` : "";
    // single steps are seen as points
    this.single = !this.marks && scene.window.size === 1 && scene.window.last - scene.window.first < 150;
    this.file = `${scene.file}-${this.kind.name}`;
    this.title = `${this.kind.heading}${this.marks ? "" : ` (${this.kind.unit})`} · ${scene.title}`;
    const counts = lines.map((line) => `${line.label}: ${line.values.length}`);
    this.readout.textContent = this.marks ? counts.join(", ") : "";
    this.place.setAttribute("role", "img");
    this.place.setAttribute("aria-label", this.alternative(lines));
    const data: uPlot.AlignedData = [xs, ...lines.map((line) => (this.marks ? xs.map(() => null) : line.values)), ...ribbons];
    const wanted = [lines.length, ribbons.length, colour("--paper")].join(" ");
    const width = Math.max(this.place.clientWidth, 200);
    if (this.plot && this.made === wanted) {
      this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      if (this.plot.width !== width) this.plot.setSize({ width, height: this.height });
      this.plot.setData(data);
      return;
    }
    this.plot?.destroy();
    this.made = wanted;
    this.plot = new uPlot(this.options(width, ribbons.length), data, this.place);
  }

  destroy(): void {
    this.plot?.destroy();
  }

  private alternative(lines: Line[]): string {
    const words = lines.map((line) => {
      if (this.marks) return `${line.label}: ${line.values.length}`;
      return `${line.label}: ${inWords(line.values, this.kind.joins, this.kind.unit)}`;
    });
    return `${this.kind.heading} over time. ${words.join("; ")}.`;
  }

  private options(width: number, ribbons: number): uPlot.Options {
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "11px system-ui, sans-serif" };
    const { lines } = this.shown;
    const series: uPlot.Series[] = [{}];
    for (const line of lines) {
      const points = { show: () => this.single, size: 4 };
      series.push({ label: line.label, stroke: line.colour, width: 1.5, dash: line.dash[1] ? line.dash : [], points, spanGaps: false });
    }
    const bands: uPlot.Band[] = [];
    for (let number = 0; number < ribbons; number += 4) {
      const [least, low, high, most] = [0, 1, 2, 3].map((place) => lines.length + 1 + number + place) as [number, number, number, number];
      const ink = lines[number / 4]?.colour ?? "";
      bands.push({ series: [most, least], fill: `${ink}22` }, { series: [high, low], fill: `${ink}44` });
      for (let place = 0; place < 4; place++) series.push({ width: 0, points: { show: false } });
    }
    return {
      width,
      height: this.height,
      padding: [8, 28, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => [this.shown.from, this.shown.to] }, y: { range: () => [0, this.marks ? lines.length : this.shown.top] } },
      axes: [
        { ...axis, size: 28, values: (_, ticks) => ticks.map((tick) => `${Number(tick.toFixed(6))} s`) },
        { ...axis, size: 52, show: true, ...(this.marks ? { values: () => [], grid: { show: false }, ticks: { show: false } } : {}) },
      ],
      series,
      bands,
      cursor: {
        sync: { key: "trial" },
        drag: { x: true, y: false, setScale: false },
        points: { show: !this.marks },
        bind: { dblclick: () => () => { this.reset(); return null; } },
      },
      hooks: {
        setSelect: [
          (plot) => {
            const { left, width: length } = plot.select;
            if (length <= 3) return;
            const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + length, "x")];
            // uPlot must end its own work on the drag first
            setTimeout(() => { this.zoom(from, to); });
          },
        ],
        setCursor: [(plot) => { this.tell(plot.cursor.idx); }],
        draw: [
          (plot) => {
            if (this.marks) marks(plot, this.shown);
            if (this.limit) rule(plot, this.limit);
          },
        ],
      },
    };
  }

  /** The values below the cursor. */
  private tell(at: number | null | undefined): void {
    if (this.marks) return;
    const time = at == null ? undefined : this.shown.xs[at];
    const words = this.shown.lines.map((line) => {
      const value = line.values[at ?? 0] ?? null;
      return `${line.label} ${value === null ? "–" : `${digits(value)} ${this.kind.unit}`}`;
    });
    this.readout.textContent = time === undefined ? "" : `${Number(time.toFixed(4))} s: ${words.join(", ")}`;
  }

  private saveAs(kind: "svg" | "csv"): void {
    if (kind === "svg") save(`${this.file}.svg`, panelSvg(this.shown, this.title), "image/svg+xml");
    else save(`${this.file}.csv`, panelCsv(this.shown), "text/csv");
  }
}

/** For each flow: least, lower and upper quartile, and largest value in each joined step. */
function spreads(spread: Spread, window: Window, stepS: number): (number | null)[][] {
  const flows = spread.mbps[0]?.length ?? 0;
  const wanted = [0, 1, 3, 4];
  return Array.from({ length: flows }, (_, flow) =>
    wanted.map((place) => joinedGroups(spread.mbps[place]?.[flow] ?? [], window, spread.step_s / stepS)),
  ).flat();
}

/** A tick for each event, a row for each flow. */
function marks(plot: uPlot, { lines, from, to }: Shown): void {
  const { ctx } = plot;
  const height = plot.bbox.height / lines.length;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([]);
  lines.forEach((line, number) => {
    ctx.strokeStyle = line.colour;
    ctx.beginPath();
    for (const time of line.values) {
      // the middle of a step that is shown in part may be outside
      const x = Math.round(plot.valToPos(Math.min(Math.max(time ?? 0, from), to), "x", true)) + 0.5;
      ctx.moveTo(x, plot.bbox.top + height * number + 2);
      ctx.lineTo(x, plot.bbox.top + height * (number + 1) - 2);
    }
    ctx.stroke();
  });
  ctx.restore();
}

/** A dashed line across the panel, with its name. */
function rule(plot: uPlot, limit: { value: number; words: string }): void {
  const { ctx } = plot;
  const y = Math.round(plot.valToPos(limit.value, "y", true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour("--quiet");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(plot.bbox.left, y);
  ctx.lineTo(plot.bbox.left + plot.bbox.width, y);
  ctx.stroke();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  // readable over any line
  ctx.setLineDash([]);
  ctx.strokeStyle = colour("--paper");
  ctx.lineWidth = 4 * devicePixelRatio;
  const at = [limit.words, plot.bbox.left + plot.bbox.width - 4, y + 13 * devicePixelRatio] as const;
  ctx.strokeText(...at);
  ctx.fillText(...at);
  ctx.restore();
}
