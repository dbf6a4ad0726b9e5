// Unpacks a trial's series (report/series.py packs them).

/** How the steps of a series join to a longer one; "times" are events, each in the middle of its step. */
export type Joins = "mean" | "max" | "last" | "times";

/** A series as the page knows it. */
export interface Kind {
  name: string;
  heading: string;
  unit: string;
  meaning: string;
  joins: Joins;
  /** A row for each flow, or one for the link. */
  flows: boolean;
}

export interface Packed {
  step_us: number;
  steps: number;
  kinds: { name: string; scale: number; lengths: number[] }[];
  data: string;
}

/** Name of a series → its rows in the series' unit; NaN where there is no value. */
export type Rows = Map<string, Float64Array[]>;

/** The whole numbers of bytes with seven bits each, the lowest first. */
export function varints(bytes: Uint8Array): Float64Array {
  const numbers = new Float64Array(bytes.length);
  let count = 0;
  let value = 0;
  let place = 1;
  for (const byte of bytes) {
    value += (byte & 127) * place;
    if (byte & 128) place *= 128;
    else {
      numbers[count++] = value;
      value = 0;
      place = 1;
    }
  }
  return numbers.subarray(0, count);
}

async function inflated(base64: string): Promise<Uint8Array> {
  // plain loops here and below: a call for each of 100,000 values took a third of the time to open a cell
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Values in steps → values in the series' unit. */
function scaled(steps: Float64Array, scale: number): Float64Array {
  const values = new Float64Array(steps.length);
  for (let at = 0; at < steps.length; at++) values[at] = (steps[at] ?? 0) * scale;
  return values;
}

/** Differences, with the sign in the lowest bit → values, each `more` larger; below 0 there is none. */
function summed(differences: Float64Array, scale: number, more: number): Float64Array {
  const values = new Float64Array(differences.length);
  let sum = -1;
  for (let at = 0; at < differences.length; at++) {
    const coded = differences[at] ?? 0;
    const half = Math.floor(coded / 2);
    sum += coded === 2 * half ? half : -half - 1;
    values[at] = sum < 0 ? NaN : (sum + more) * scale;
  }
  return values;
}

/** The series of a trial. */
export async function unpacked(packed: Packed, kinds: Kind[]): Promise<Rows> {
  const numbers = varints(await inflated(packed.data));
  const rows: Rows = new Map();
  let start = 0;
  for (const { name, scale, lengths } of packed.kinds) {
    const joins = kinds.find((kind) => kind.name === name)?.joins;
    rows.set(
      name,
      lengths.map((length) => {
        const mine = numbers.subarray(start, (start += length));
        // an event is known to be in its step: the middle is nearest on average
        return joins === "mean" ? scaled(mine, scale) : summed(mine, scale, joins === "times" ? 0.5 : 0);
      }),
    );
  }
  return rows;
}
