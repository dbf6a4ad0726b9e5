// Draws each panel when it comes near the screen, the rest when the browser has time, and all
// anew when the reader switches between light and dark.
const themes = JSON.parse(document.getElementById("themes").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const panels = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".panel")]);
const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
const drawn = new Map();
let theme = dark.matches ? "dark" : "light";

async function draw(panel) {
  // a closed section has no width to draw in
  if (drawn.get(panel) === theme || panel.clientWidth === 0) return;
  drawn.set(panel, theme);
  const spec = JSON.parse(panel.querySelector("script").textContent);
  spec.width = "container";
  spec.autosize = { type: "fit-x", contains: "padding" };
  let chart = panel.querySelector(".chart");
  if (!chart) {
    chart = document.createElement("div");
    chart.className = "chart";
    // the panel's own words say what it shows
    chart.setAttribute("aria-hidden", "true");
    panel.append(chart);
  }
  await vegaEmbed(chart, spec, { actions: false, renderer: "svg", config: themes[theme] });
}

const near = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
  { rootMargin: "400px" },
);
panels.forEach((panel) => near.observe(panel));

function drawRest() {
  const next = panels.find((panel) => drawn.get(panel) !== theme && panel.clientWidth > 0);
  if (next) draw(next).then(() => idle(drawRest));
}
idle(drawRest);
document.querySelectorAll("details").forEach((section) => section.addEventListener("toggle", () => idle(drawRest)));

dark.addEventListener("change", () => {
  theme = dark.matches ? "dark" : "light";
  idle(drawRest);
});

// paper is white, and shows everything that the reader has opened
window.addEventListener("beforeprint", () => {
  theme = "light";
  panels.forEach(draw);
});
window.addEventListener("afterprint", () => {
  theme = dark.matches ? "dark" : "light";
  idle(drawRest);
});

// filters: the view is in the address (#stack=quinn&seed=2&at=network-1), so that a link shows the same
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form.filters"));
const contestants = JSON.parse(document.getElementById("contestants")?.textContent ?? "{}");
// the longest names first: one may begin like another
const names = Object.keys(contestants).sort((one, two) => two.length - one.length);
const named = new RegExp(names.map((name) => name.replace(/[^\w ]/g, "\\$&")).join("|") || "$^", "g");
/** @type {(selector: string) => any[]} */
const all = (selector) => [...document.querySelectorAll(selector)];

/** What the address asks for; a plain link such as #network-1 asks for no filter. */
function view() {
  const hash = location.hash.slice(1);
  return new URLSearchParams(hash.includes("=") ? hash : { at: hash });
}

function filter() {
  // a suite's page has no filters
  if (!form) return;
  /** @type {Record<string, string>} */
  const asked = {};
  for (const select of all(".filters select")) {
    select.value = view().get(select.name) ?? "";
    if (select.selectedIndex < 0) select.value = "";
    asked[select.name] = select.value;
  }
  const kept = names.filter((name) => {
    const [stack, cca] = contestants[name];
    return (!asked.stack || asked.stack === stack) && (!asked.cca || asked.cca === cca);
  });
  /** @param {string} text what names no contestant is about all of them */
  const about = (text) => text.match(named)?.some((name) => kept.includes(name)) ?? true;
  for (const one of all("[data-network]")) {
    one.hidden = Boolean(asked.network) && one.dataset.network !== asked.network;
  }
  for (const one of all(".findings li")) one.hidden ||= !about(one.textContent);
  for (const row of all(".matrix tbody tr, .network tbody tr")) row.hidden = !about(row.cells[0].textContent);
  for (const one of all("details.verdict")) one.hidden = !about(one.querySelector("summary").textContent);
  for (const panel of panels) panel.hidden = !about(panel.getAttribute("aria-label"));
  for (const table of all("#invalid table, #traces table")) {
    const [head, ...rows] = table.rows;
    const column = [...head.cells].findIndex((cell) => cell.textContent === "Seed");
    for (const row of rows) row.hidden = Boolean(asked.seed) && row.cells[column].textContent !== asked.seed;
  }
  for (const figure of all(".figure")) {
    figure.dataset.mean ??= figure.textContent;
    figure.textContent = asked.seed ? (JSON.parse(figure.dataset.seeds)[asked.seed] ?? "–") : figure.dataset.mean;
  }
  const rows = all(".matrix tbody tr");
  const shown = `${rows.filter((row) => !row.hidden).length} of ${rows.length} row${rows.length === 1 ? "" : "s"}`;
  form.querySelector("output").textContent =
    (Object.values(asked).some(Boolean) ? shown : "") + (asked.seed ? "; glyphs and findings are of all seeds" : "");
}

/** @param {string} name @param {string} value go to a view with one change; "at" is a place on the page */
function go(name, value) {
  const next = view();
  next.delete("at");
  if (name !== "at") value ? next.set(name, value) : next.delete(name);
  const plain = name === "at" ? value : "all";
  const filters = next.toString();
  location.hash = !filters ? plain : name === "at" ? `${filters}&at=${value}` : filters;
}

if (form) form.hidden = !form.querySelector("select");
all(".filters select").forEach((select) => select.addEventListener("change", () => go(select.name, select.value)));
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const at = link.getAttribute("href").slice(1);
  // a second click on the same link must lead there again
  view().get("at") === at ? openTarget() : go("at", at);
});

// a link into closed sections opens them
function openTarget() {
  const target = document.getElementById(view().get("at") ?? "");
  for (let one = target?.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
  target?.scrollIntoView();
  target?.querySelector("summary")?.focus({ preventScroll: true });
}
window.addEventListener("hashchange", () => {
  filter();
  openTarget();
});
filter();
openTarget();
