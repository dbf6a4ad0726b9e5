// The dialog of a matrix cell: the group's envelopes, one trial over time, and all seeds.
import { changed, read, write } from "./address.ts";
import { all, button, embedded, hovers, make } from "./dom.ts";
import { draw } from "./figures.ts";
import { load } from "./load.ts";
import { unpacked, type Kind, type Packed, type Rows } from "./pack.ts";
import { Panel, type Flow, type Spread } from "./panel.ts";
import { asked as secondsOf, duration, windowOfGroups, within, type Window } from "./steps.ts";

interface Trial {
  id: string;
  seed: number;
  end_s: number;
}

interface Group {
  file: string;
  title: string;
  network: string;
  /** The page's section about the network. */
  section: string;
  flows: Flow[];
  trials: Trial[];
  limits: Record<string, { value: number; words: string }>;
  /** The command that runs it, if none of its trials has run. */
  run?: string;
}

/** Key → group. Without a prototype: an address may ask for any name, such as constructor. */
export const groups = Object.assign(Object.create(null), embedded("groups")) as Record<string, Group>;
const kinds = (embedded("kinds") ?? []) as Kind[];

const THROUGHPUT = "throughput_mbps";
/** Bits of ten packets: the least in a step of throughput, if the view then has enough points. */
const STEP_BITS = 10 * 1500 * 8;
const LEAST_POINTS = 40;

/** Order of a seed's trials: a, b, c… z, aa, ab… */
const letter = (number: number): string => (number < 26 ? "" : letter(Math.floor(number / 26) - 1)) + String.fromCharCode(97 + (number % 26));

/** Change the address within the dialog: no new step of Back. */
function replace(changes: Record<string, string>): void {
  history.replaceState(null, "", write(changed(read(location.hash), changes)));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

class Dialog {
  private readonly element = make("dialog", { class: "trial", "aria-labelledby": "trial-title", "aria-modal": "true" });
  /** Name of a series → its panel. */
  private readonly panels = new Map<string, Panel>();
  private readonly over = make("div");
  private readonly step = make("p", { class: "quiet", role: "status" });
  private readonly command = make("code");
  private trial: Trial | undefined;
  private rows: Rows = new Map();
  private packed: Packed | undefined;
  private spread: Spread | null = null;
  /** How often a trial was asked for: a file that arrives late must not be shown under another trial's name. */
  private asked = 0;
  private readonly dark = window.matchMedia("(prefers-color-scheme: dark)");
  private readonly redraw = (): void => {
    this.draw();
    this.drawEnvelopes(all(".panel", this.element));
  };
  private readonly escape = (event: KeyboardEvent): void => { if (event.key === "Escape") this.element.close(); };
  private readonly keepFocus = ({ target }: FocusEvent): void => {
    if (target instanceof Node && !this.element.contains(target)) this.element.querySelector<HTMLElement>(".close")?.focus();
  };
  private from = 0;
  private to = 0;

  /** `onClose` runs when the reader closes the dialog. */
  constructor(readonly key: string, private readonly group: Group, private readonly onClose: () => void) {
    this.element.append(
      make(
        "header",
        {},
        make("h2", { id: "trial-title" }, group.title, " ", make("span", { class: "quiet" }, "on ", make("a", { href: `#${group.section}`, title: "All tables and figures of this network" }, group.network))),
        button("Close", () => { this.element.close(); }, { class: "close", autofocus: "" }),
      ),
      ...this.envelopes(),
      ...(group.trials.length ? this.oneTrial() : this.noTrial()),
    );
    this.element.addEventListener("close", onClose);
    document.body.append(this.element);
    // showModal() would make the whole page inert, and style all of it again: most of the time to open a cell
    this.element.show();
    document.addEventListener("keydown", this.escape);
    document.addEventListener("focusin", this.keepFocus);
    let width = 0;
    new ResizeObserver(() => {
      if (width !== this.over.clientWidth) this.draw();
      width = this.over.clientWidth;
    }).observe(this.over);
    this.dark.addEventListener("change", this.redraw);
  }

  /** Close without telling; the focus goes back to where it was. */
  remove(): void {
    this.asked++;
    this.element.removeEventListener("close", this.onClose);
    this.element.close();
    this.dark.removeEventListener("change", this.redraw);
    document.removeEventListener("keydown", this.escape);
    document.removeEventListener("focusin", this.keepFocus);
    for (const panel of this.panels.values()) panel.destroy();
    this.element.remove();
  }

  /** Show what the address asks for. */
  async show(view: URLSearchParams): Promise<void> {
    const trial = chosen(this.group, view);
    if (!trial) {
      this.drawEnvelopes();
      return;
    }
    const asked = ++this.asked;
    if (trial !== this.trial) this.step.textContent = "Reading the trial…";
    try {
      const packed = trial === this.trial && this.packed ? this.packed : await load<Packed>("data", `${trial.id}.js`);
      const rows = packed === this.packed ? this.rows : await unpacked(packed, kinds);
      const spread = view.get("all") ? await load<Spread>("data", this.group.file) : null;
      if (asked !== this.asked) return;
      this.trial = trial;
      this.packed = packed;
      this.rows = rows;
      this.spread = spread;
    } catch (error) {
      if (asked !== this.asked) return;
      this.step.textContent = `This trial cannot be shown: ${String(error instanceof Error ? error.message : error)}.`;
      this.drawEnvelopes();
      return;
    }
    [this.from, this.to] = within(secondsOf(view.get("from"), 0), secondsOf(view.get("to"), trial.end_s), trial.end_s, this.least);
    for (const one of all<HTMLInputElement>("input[name=trial]", this.element)) one.checked = one.value === trial.id;
    const everySeed = this.element.querySelector<HTMLInputElement>("input[name=all]");
    if (everySeed) everySeed.checked = this.spread !== null;
    this.command.textContent = `cambrian trial trials/${trial.id}.json --out again`;
    this.draw();
    this.drawEnvelopes();
  }

  private oneTrial(): HTMLElement[] {
    return [
      make("section", { "aria-label": "One trial over time" }, make("h3", {}, "One trial over time"), this.controls(), this.legend(), this.step, this.over),
      make("section", { "aria-label": "Repeat this trial" }, make("h3", {}, "Repeat this trial"), make("p", {}, "From this page’s folder:"), make("pre", {}, this.command), this.copyButton()),
    ];
  }

  private noTrial(): HTMLElement[] {
    const { run } = this.group;
    if (!run) return [make("p", {}, "No trial of this group is valid.")];
    this.command.textContent = run;
    return [make("p", {}, "No trial of this group has run. This command runs what is missing:"), make("pre", {}, this.command), this.copyButton()];
  }

  /** Draw one envelope after the other, each after a paint: one takes longer than all panels of a trial. */
  private drawEnvelopes(waiting = all(".panel:empty", this.element)): void {
    const [next, ...rest] = waiting;
    if (next) requestAnimationFrame(() => setTimeout(() => void draw(next).then(() => { this.drawEnvelopes(rest); })));
  }

  /** Seconds of the shortest view: some steps. */
  private get least(): number {
    return (10 * (this.packed?.step_us ?? 1000)) / 1e6;
  }

  private draw(): void {
    const { trial, packed } = this;
    if (!trial || !packed || !this.over.clientWidth) return;
    const stepS = packed.step_us / 1e6;
    const most = this.over.clientWidth / 1.5;
    const part = (points: number, group = 1): Window => windowOfGroups(this.from, this.to, stepS, packed.steps, points, group);
    const window = part(most);
    // with less than some packets in a step, a flow's throughput jumps between 0 and twice the link's rate
    const rate = this.group.limits[THROUGHPUT]?.value;
    // a line in shorter steps than the ribbons' would leave them
    const group = this.spread ? Math.max(1, Math.round(this.spread.step_s / stepS)) : 1;
    const points = rate ? Math.min(most, Math.max(LEAST_POINTS, (this.to - this.from) / (STEP_BITS / (rate * 1e6)))) : most;
    const coarse = part(points, group);
    const isCoarse = coarse.size !== window.size;
    this.step.textContent =
      `Step shown: ${duration(window.size * stepS)}${isCoarse ? `, of throughput ${duration(coarse.size * stepS)}` : ""}; ` +
      `finest: ${duration(stepS)}. ${hovers() ? "Drag to zoom, double-click for all." : "The buttons + and − zoom."} ` +
      (this.spread ? `Ribbons: all ${this.spread.trials} trials; dark: the middle half, light: least to largest.` : "");
    const present = kinds.filter((kind) => this.rows.has(kind.name));
    for (const kind of present) {
      if (!this.panels.has(kind.name)) this.panels.set(kind.name, new Panel(kind, (from, to) => { this.zoom(from, to); }, () => { this.zoom(0, Infinity); }));
    }
    // trials of one group may have different series
    const elements = present.flatMap((kind) => this.panels.get(kind.name)?.element ?? []);
    if (elements.length !== this.over.children.length || elements.some((one, place) => one !== this.over.children[place])) this.over.replaceChildren(...elements);
    for (const kind of present) {
      const rows = this.rows.get(kind.name) ?? [];
      const scene = { flows: this.group.flows, rows, stepS, from: this.from, to: this.to, window: kind.name === THROUGHPUT ? coarse : window, limit: this.group.limits[kind.name], spread: this.spread };
      this.panels.get(kind.name)?.draw({ ...scene, file: trial.id, title: `${this.group.title} on ${this.group.network}, ${this.label(trial)}` });
    }
  }

  private zoom(from: number, to: number): void {
    if (!this.trial) return;
    const [start, end] = within(from, to, this.trial.end_s, this.least);
    const isAll = end - start >= this.trial.end_s;
    replace({ from: isAll ? "" : start.toFixed(5), to: isAll ? "" : end.toFixed(5) });
  }

  private label(trial: Trial): string {
    const mine = this.group.trials.filter((one) => one.seed === trial.seed);
    return `seed ${trial.seed}${mine.length > 1 ? letter(mine.indexOf(trial)) : ""}`;
  }

  private envelopes(): HTMLElement[] {
    const mine = all(".panel[data-figure^=envelope]").filter((panel) => panel.dataset["group"] === this.key);
    if (!mine.length) return [];
    const figures = mine.map((panel) => {
      const copy = panel.cloneNode() as HTMLElement;
      copy.hidden = false;
      return make("figure", {}, make("figcaption", {}, panel.closest("figure")?.querySelector("h3")?.textContent ?? ""), copy);
    });
    return [make("section", { class: "envelopes", tabindex: "0", role: "region", "aria-label": "Performance envelopes" }, ...figures)];
  }

  private controls(): HTMLElement {
    const seeds = make("fieldset", { class: "seeds" }, make("legend", {}, "Seed"));
    for (const trial of this.group.trials) {
      const choice = make("input", { type: "radio", name: "trial", value: trial.id });
      choice.addEventListener("change", () => { replace({ trial: trial.id }); });
      seeds.append(make("label", {}, choice, this.label(trial).replace("seed ", "")));
    }
    const every = make("input", { type: "checkbox", name: "all" });
    every.addEventListener("change", () => { replace({ all: every.checked ? "1" : "" }); });
    const move = (text: string, name: string, scale: number, shift: number): HTMLElement =>
      button(text, () => {
        const [middle, half] = [(this.from + this.to) / 2, (this.to - this.from) / 2];
        const at = middle + shift * half;
        this.zoom(at - half * scale, at + half * scale);
      }, { "aria-label": name, title: name });
    return make(
      "div",
      { class: "controls" },
      seeds,
      make("label", {}, every, "All seeds as ribbons"),
      make("span", { class: "zoom" }, move("+", "Zoom in", 0.5, 0), move("−", "Zoom out", 2, 0), move("◀", "Earlier", 1, -1), move("▶", "Later", 1, 1), button("Whole trial", () => { this.zoom(0, Infinity); })),
    );
  }

  private legend(): HTMLElement {
    const items = this.group.flows.map((flow) => {
      const line = make("span", { class: "line", "aria-hidden": "true" });
      line.style.borderTop = `2px ${flow.dash[1] ? "dashed" : "solid"} ${flow.colour}`;
      return make("li", {}, line, flow.name);
    });
    return make("ul", { class: "flows" }, ...items);
  }

  private copyButton(): HTMLButtonElement {
    const copy = button("Copy the command", () => {
      const text = this.command.textContent;
      navigator.clipboard.writeText(text).then(
        () => { copy.textContent = "Copied"; },
        () => { getSelection()?.selectAllChildren(this.command); },
      );
    });
    return copy;
  }
}

let open: Dialog | null = null;
/** Did a click on this page open the dialog? Then Back leads to the page without it. */
let clicked = false;

/** Open, change or close the dialog as the address asks. */
export function showTrial(view: URLSearchParams): void {
  const key = view.get("open") ?? "";
  const group = groups[key];
  if (open && open.key !== key) {
    open.remove();
    open = null;
    clicked = false;
  }
  if (!group) return;
  open ??= new Dialog(key, group, () => {
    // closed by Back, there is nothing to change
    if (!read(location.hash).get("open")) return;
    if (clicked) history.back();
    else replace({ open: "", trial: "", from: "", to: "", all: "" });
  });
  void open.show(view);
}

/** The trial of a group that the address asks for: by name, by seed, or the first. */
function chosen({ trials }: Group, view: URLSearchParams): Trial | undefined {
  const wanted = trials.find((one) => one.id === view.get("trial"));
  return wanted ?? trials.find((one) => String(one.seed) === view.get("seed")) ?? trials[0];
}

/** Load what a cell's dialog shows first; an error is shown when the dialog opens. */
function loadAhead(key: string): void {
  const group = groups[key];
  const trial = group && chosen(group, read(location.hash));
  if (trial) load<Packed>("data", `${trial.id}.js`).catch(() => undefined);
}

/** Let the cells of the matrix lead to their dialogs; load a cell's data when a reader is about to open it. */
export function start(): void {
  for (const link of all<HTMLAnchorElement>("a[data-open]")) {
    const key = link.dataset["open"] ?? "";
    link.href = `#${new URLSearchParams({ open: key }).toString()}`;
    link.addEventListener("click", () => { clicked = true; });
    for (const event of ["pointerenter", "focus"]) link.addEventListener(event, () => { loadAhead(key); });
  }
}
