// Which contestants a text is about.

/** Contestant → its stack and its CCA. */
export type Contestants = Record<string, [string, string]>;

/** A test of texts: is it about a contestant of this stack and CCA (empty: any)? A text that names none is. */
export function about(contestants: Contestants, stack: string, cca: string): (text: string) => boolean {
  // the longest names first: one may begin like another
  const names = Object.keys(contestants).sort((one, two) => two.length - one.length);
  const any = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|") || "(?!)";
  // whole words: a label may be as short as a letter
  const named = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${any})(?![\\p{L}\\p{N}_])`, "gu");
  const kept = new Set(
    names.filter((name) => {
      const [its, controller] = contestants[name] ?? ["", ""];
      return (!stack || stack === its) && (!cca || cca === controller);
    }),
  );
  return (text) => text.match(named)?.some((name) => kept.has(name)) ?? true;
}

/** The cells that say whom a row is about; a pair's second contestant has a cell of its own. */
export function naming<Cell extends Pick<HTMLElement, "dataset">>(cells: Iterable<Cell>): Cell[] {
  return [...cells].filter((cell, at) => !at || cell.dataset["label"]?.startsWith("Against"));
}

/** What a card says, without its command, which has other names, such as a file's. */
export function said<Part extends Pick<Node, "nodeName">>(parts: Iterable<Part>): Part[] {
  return [...parts].filter((one) => one.nodeName !== "DETAILS");
}
