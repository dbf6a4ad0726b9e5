// The bar that `cambrian open` adds to a report: the run's progress, and the report with the new trials.
import { count, span } from "./words.ts";

/** /KEY/progress.json (src/cambrian/serve/progress.py). */
interface Progress {
  asked: number;
  finished: number;
  invalid: number;
  new: number;
  since_last_s: number | null;
  running: boolean;
  eta_s: number | null;
  stale: boolean;
  report: number;
  remaking: boolean;
  busy: boolean;
  error: string;
}

const EVERY_MS = 2000;
const bar = document.getElementById("cambrian-bar");
const status = bar?.querySelector("p");
const meter = bar?.querySelector("progress");
const again = bar?.querySelector("button");
const what = bar?.dataset["what"] ?? "report";
let shown: number | null = null;
/** A page that is missing is made without a click, once. */
let isWanted = bar?.dataset["make"] !== undefined;

function words(now: Progress): string {
  const parts = [`${now.finished.toLocaleString("en")} of ${count(now.asked, "trial")} finished`];
  if (now.invalid) parts.push(`${now.invalid} invalid`);
  if (now.running) {
    parts.push("running");
    if (now.since_last_s !== null) parts.push(`last trial ${span(now.since_last_s)} ago`);
    if (now.eta_s !== null) parts.push(`about ${span(now.eta_s)} left`);
  }
  if (now.remaking) parts.push(`making the ${what}…`);
  else if (now.error) parts.push(`no new ${what}: ${now.error}`);
  return parts.join(" · ");
}

function show(now: Progress): void {
  if (!status || !meter || !again) return;
  const text = words(now);
  // a screen reader says it only when it changes
  if (status.textContent !== text) status.textContent = text;
  meter.hidden = now.finished >= now.asked;
  meter.max = Math.max(now.asked, 1);
  meter.value = now.finished;
  again.hidden = !now.stale || now.finished === 0;
  again.disabled = now.busy;
  again.textContent = now.new ? `Show the ${now.new === 1 ? "new trial" : `${now.new} new trials`}` : `Make the ${what} again`;
}

async function look(): Promise<void> {
  let why = "The server has ended";
  try {
    const answer = await fetch(`${bar?.dataset["at"] ?? "/"}progress.json`, { cache: "no-store" });
    if (!answer.ok) {
      // the server says why: such as that the results were moved or removed
      why = answer.statusText;
      throw new Error(why);
    }
    const now = (await answer.json()) as Progress;
    // the address keeps the reader's view; while a report is written its page is missing
    if (shown !== null && now.report && shown !== now.report && !now.remaking) location.reload();
    if (shown === null || !now.remaking) shown = now.report;
    show(now);
    if (isWanted && now.finished && !now.busy) remake();
  } catch {
    if (status) status.textContent = `${why}; this page stays as it is.`;
  }
  setTimeout(() => void look(), EVERY_MS);
}

function remake(): void {
  isWanted = false;
  if (again) again.disabled = true;
  // if the server has ended, look() says so
  fetch(`${bar?.dataset["at"] ?? "/"}remake`, { method: "POST" }).catch(() => undefined);
}

again?.addEventListener("click", remake);
void look();
