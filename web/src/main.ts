// The script of a report's page.
import { changed, FILTERS, followed, read, write } from "./address.ts";
import { all } from "./dom.ts";
import * as explore from "./explore.ts";
import * as figures from "./figures.ts";
import { filter, form } from "./filters.ts";
import * as rows from "./rows.ts";
import * as saving from "./save.ts";
import * as trial from "./trial.ts";

const view = (): URLSearchParams => read(location.hash);

/** A link into closed sections opens them. */
function openTarget(): void {
  const target = document.getElementById(view().get("at") ?? "");
  for (let one = target?.closest("details"); one; one = one.parentElement?.closest("details")) one.open = true;
  target?.scrollIntoView();
  target?.querySelector("summary")?.focus({ preventScroll: true });
}

/** The place of the page to which the address led last: the close of a dialog must not lead there again. */
let placeShown: string | null = null;

/** What the address asked of the page's rows when they were last shown. */
let rowsShown: string | undefined;

function show(): void {
  const asked = [...FILTERS, "cell", "sort"].map((name) => view().get(name) ?? "").join("\n");
  if (asked !== rowsShown) {
    filter(view());
    rows.showRows(view());
    rowsShown = asked;
  }
  void explore.showExplore(view());
  trial.showTrial(view());
  if (view().has("open")) return;
  const at = view().get("at");
  if (at !== placeShown) openTarget();
  placeShown = at;
}

figures.start();
saving.start();
trial.start();
explore.start();
rows.start();
if (form) form.hidden = !form.querySelector("select");
for (const select of all<HTMLSelectElement>(".filters select")) {
  select.addEventListener("change", () => {
    location.hash = write(changed(view(), { at: "", [select.name]: select.value }));
  });
}
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const next = write(followed(view(), link.getAttribute("href") ?? ""));
  // a second click on the same link must lead there again
  if (next === location.hash) openTarget();
  else location.hash = next;
});
window.addEventListener("hashchange", show);
show();
