// Numbers in words.

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** A time in its largest unit. */
export function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** A number with three digits and no exponent: 0.123, 12.3, 1230. */
export const digits = (value: number): string => String(Number(value.toPrecision(3)));
