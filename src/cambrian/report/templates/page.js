// Draws each panel when it comes near the screen, the rest when the browser has time, and all
// anew when the reader switches between light and dark.
const themes = JSON.parse(document.getElementById("themes").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const panels = [...document.querySelectorAll(".panel")];
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
const form = /** @type {HTMLFormElement} */ (document.querySelector("form.filters"));
const contestants = JSON.parse(document.getElementById("contestants")?.textContent ?? "{}");
// the longest names first: one may begin like another
const names = Object.keys(contestants).sort((one, two) => two.length - one.length);
const named = new RegExp(names.map((name) => name.replace(/[^\w ]/g, "\\$&")).join("|") || "$^", "g");

/** @returns {URLSearchParams} the view; a plain link such as #network-1 shows all of it */
function view() {
  const hash = decodeURIComponent(location.hash.slice(1));
  return new URLSearchParams(hash.includes("=") ? hash : { at: hash });
}

/** @param {string} selector @param {(element: HTMLElement) => boolean} wanted */
function keep(selector, wanted) {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector))) one.hidden = !wanted(one);
}

function filter() {
  const asked = Object.fromEntries([...form.querySelectorAll("select")].map((one) => {
    one.value = view().get(one.name) ?? "";
    if (one.selectedIndex < 0) one.value = "";
    return [one.name, one.value];
  }));
  const kept = new Set(names.filter((name) => {
    const [stack, cca] = contestants[name];
    return (!asked.stack || asked.stack === stack) && (!asked.cca || asked.cca === cca);
  }));
  // what names no contestant is about all of them
  const about = (text) => (text.match(named) ?? [...kept, ""].slice(0, 1)).some((name) => !name || kept.has(name));
  const here = (one) => !asked.network || !one.dataset.network || one.dataset.network === asked.network;
  keep("[data-network]", here);
  keep(".findings li", (one) => here(one) && about(one.textContent));
  keep(".matrix tbody tr, .network tbody tr", (one) => about(one.cells[0].textContent));
  keep("details.verdict", (one) => about(one.querySelector("summary").textContent));
  keep(".panel", (one) => about(one.getAttribute("aria-label")));
  for (const table of document.querySelectorAll("#invalid table, #traces table")) {
    const column = [...table.rows[0].cells].findIndex((cell) => cell.textContent === "Seed");
    for (const row of [...table.rows].slice(1)) row.hidden = Boolean(asked.seed) && row.cells[column].textContent !== asked.seed;
  }
  for (const figure of document.querySelectorAll(".figure")) {
    figure.dataset.mean ??= figure.textContent;
    figure.textContent = asked.seed ? (JSON.parse(figure.dataset.seeds)[asked.seed] ?? "–") : figure.dataset.mean;
  }
  const rows = [...document.querySelectorAll(".matrix tbody tr")];
  form.querySelector("output").textContent =
    (Object.values(asked).some(Boolean) ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} row${rows.length === 1 ? "" : "s"}` : "") +
    (asked.seed ? "; glyphs and findings are over all seeds" : "");
}

/** @param {Record<string, string>} changes */
function show(changes) {
  const next = view();
  next.delete("at");
  for (const [name, value] of Object.entries(changes)) value ? next.set(name, value) : next.delete(name);
  const filtered = [...next.keys()].some((name) => name !== "at");
  location.hash = filtered ? next.toString() : (next.get("at") ?? "all");
}

form.hidden = !form.querySelector("select");
form.addEventListener("change", (event) => show({ [event.target.name]: event.target.value }));
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (!link) return;
  event.preventDefault();
  const at = link.getAttribute("href").slice(1);
  // a second click on the same link must lead there again
  view().get("at") === at ? openTarget() : show({ at });
});

// a link into closed sections opens them
function openTarget() {
  const target = document.getElementById(view().get("at") ?? "");
  for (let one = target?.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
  target?.scrollIntoView();
}
window.addEventListener("hashchange", () => {
  filter();
  openTarget();
});
filter();
openTarget();
