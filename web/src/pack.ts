// Unpacks a trial's series (report/series.py packs them).

/** How the steps of a series join to a longer one; "times" are events. */
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
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
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
        const mine = numbers.slice(start, (start += length));
        if (joins === "mean") return mine.map((value) => value * scale);
        let sum = -1;
        return mine.map((value) => {
          sum += value % 2 ? -(value + 1) / 2 : value / 2;
          return sum < 0 ? NaN : sum * scale;
        });
      }),
    );
  }
  return rows;
}
