// The view is in the address (#stack=quinn&seed=2&at=network-1), so that a link shows the same.

/** Filters stay when the reader goes to another place of the page. */
export const FILTERS = ["stack", "cca", "network", "seed"];

/** What a hash asks for; a plain one such as #network-1 is a place and asks for no filter. */
export function read(hash: string): URLSearchParams {
  const text = hash.replace(/^#(all$)?/, "");
  return new URLSearchParams(text.includes("=") ? text : text ? { at: text } : {});
}

/** The hash of a view; one that is a place alone is plain, and the empty view is #all. */
export function write(view: URLSearchParams): string {
  const names = [...view.keys()];
  if (!names.length) return "#all";
  const at = view.get("at");
  return names.length === 1 && at !== null ? `#${at}` : `#${view.toString()}`;
}

/** The view with some changes; an empty value removes a name. */
export function changed(view: URLSearchParams, changes: Record<string, string>): URLSearchParams {
  const next = new URLSearchParams(view);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next;
}

/** The view without the filters that have no such value among their `options`. */
export function offered(view: URLSearchParams, options: Map<string, string[]>): URLSearchParams {
  const unknown = FILTERS.filter((name) => !options.get(name)?.includes(view.get(name) ?? ""));
  return changed(view, Object.fromEntries(unknown.map((name) => [name, ""])));
}

/** The view after a click on a link: the filters stay, all else is the link's. */
export function followed(view: URLSearchParams, link: string): URLSearchParams {
  const kept = new URLSearchParams([...view].filter(([name]) => FILTERS.includes(name)));
  return changed(kept, Object.fromEntries(read(link)));
}
