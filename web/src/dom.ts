// Small helpers around the document.

/** All elements that a selector finds. */
export function all<T extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): T[] {
  return [...within.querySelectorAll<T>(selector)];
}

/** The data of a <script type="application/json">; null if the page has none of this name. */
export function embedded(id: string): unknown {
  const text = document.getElementById(id)?.textContent;
  return text ? JSON.parse(text) : null;
}

/** A new element with attributes and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A button with its work. */
export function button(text: string, work: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", work);
  return made;
}

/** A colour of the page's theme, such as --ink. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Has the reader's main pointer a place without a press, as a mouse has? The drag of a finger scrolls the page. */
export const hovers = (): boolean => window.matchMedia("(hover: hover)").matches;
