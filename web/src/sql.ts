// The page for SQL of `cambrian open`.
import { make } from "./dom.ts";
import { count } from "./words.ts";

/** An answer of /KEY/sql (src/cambrian/serve/sql.py). */
interface Answer {
  columns: string[];
  types: string[];
  numeric: boolean[];
  rows: (string | null)[][];
  count: number;
  took_s: number;
}

const query = document.querySelector<HTMLTextAreaElement>("#query");
const example = document.querySelector<HTMLSelectElement>("#example");
const run = document.querySelector<HTMLButtonElement>("#run");
const said = document.querySelector<HTMLElement>("#said");
const error = document.querySelector<HTMLElement>("#error");
const rows = document.querySelector<HTMLElement>("#rows");

function table(answer: Answer): HTMLTableElement {
  const side = (at: number): Record<string, string> => (answer.numeric[at] ? { class: "n" } : {});
  const heads = answer.columns.map((name, at) =>
    make("th", { scope: "col", title: answer.types[at] ?? "", ...side(at) }, name),
  );
  const body = answer.rows.map((row) =>
    make(
      "tr",
      {},
      ...row.map((cell, at) =>
        cell === null ? make("td", { class: "null" }, "NULL") : make("td", side(at), cell),
      ),
    ),
  );
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
}

async function ask(): Promise<void> {
  if (!query || !run || !said || !error || !rows) return;
  run.disabled = true;
  error.hidden = rows.hidden = true;
  said.textContent = "Running…";
  try {
    const answer = await fetch(location.pathname, {
      method: "POST",
      body: new URLSearchParams({ query: query.value }),
    });
    const found = (await answer.json()) as Answer | { error: string };
    if ("error" in found) {
      said.textContent = "";
      error.textContent = found.error;
      error.hidden = false;
    } else {
      const part = found.count > found.rows.length ? `; the first ${found.rows.length.toLocaleString("en")} are shown` : "";
      said.textContent = `${count(found.count, "row")} in ${found.took_s.toFixed(2)} s${part}`;
      rows.replaceChildren(table(found));
      rows.hidden = false;
    }
  } catch {
    said.textContent = "The server gave no answer.";
  }
  run.disabled = false;
}

example?.addEventListener("change", () => {
  if (query) query.value = example.value;
});
run?.addEventListener("click", () => void ask());
query?.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    void ask();
  }
});
// The page comes with both disabled: a choice or a press before the lines above would be lost.
if (example) example.disabled = false;
if (run) run.disabled = false;
