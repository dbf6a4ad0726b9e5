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

// a link into a closed section opens it
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target) target.closest("details")?.setAttribute("open", "");
}
window.addEventListener("hashchange", openTarget);
openTarget();
