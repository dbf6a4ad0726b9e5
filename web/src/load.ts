// Loads data from files beside the page. A page from disk may not fetch, but it may load scripts: each of
// these calls `cambrian(NAME, DATA)`.

declare global {
  interface Window {
    cambrian: (name: string, data: unknown) => void;
  }
}

const arrived = new Map<string, unknown>();
const scripts = new Map<string, Promise<void>>();

window.cambrian = (name, data) => {
  arrived.set(name, data);
};

/** Run a script beside the page, once. */
export function run(path: string): Promise<void> {
  const known = scripts.get(path);
  if (known) return known;
  const loading = new Promise<void>((resolve, reject) => {
    const script = document.createElement("script");
    script.addEventListener("load", () => { resolve(); });
    script.addEventListener("error", () => { reject(new Error(`${path} is missing beside this page`)); });
    script.src = path;
    document.head.append(script);
  });
  scripts.set(path, loading);
  return loading;
}

/** The data of a file in a folder beside the page. */
export async function load<T>(folder: string, name: string): Promise<T> {
  await run(`${folder}/${name}`);
  return arrived.get(name) as T;
}
