/** A limit that a client or an operator can meet. */
export interface Limit {
  /** What is limited. */
  readonly of: string;
  readonly value: string;
  /** What happens beyond it. */
  readonly beyond: string;
  /** The heading that explains it, such as `requests.md#bodies`. */
  readonly see: string;
}

/** Limits below one heading of limits.md. */
export interface LimitGroup {
  readonly heading: string;
  readonly limits: readonly Limit[];
}

const UNITS = ['bytes', 'KB', 'MB', 'GB'] as const;

/** `20 MB`: 1,024 KB each. */
export function bytes(value: number): string {
  const power = [3, 2, 1].find((one) => value >= 1024 ** one && Number.isInteger((value / 1024 ** one) * 4)) ?? 0;
  return `${count(value / 1024 ** power)} ${UNITS[power]}`;
}

/** `2,500,000`. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** `10,000 characters`. */
export function characters(value: number): string {
  return `${count(value)} characters`;
}

const periods = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

/** `15 minutes`: the largest unit that divides it. @param value milliseconds */
export function duration(value: number): string {
  const [length, name] = periods.find(([one]) => value % one === 0) ?? [1, 'millisecond'];
  return `${count(value / length)} ${name}${value === length ? '' : 's'}`;
}

/** The shares of one address and of one system in a resource: `2 GB; 1 GB for one address, 1.5 GB for one system`. */
export function shared(bounds: { all: number; ofCaller: number; ofSystem: number }, text: (value: number) => string): string {
  return `${text(bounds.all)}; ${text(bounds.ofCaller)} for one caller, ${text(bounds.ofSystem)} for one system`;
}

/** The lengths that a check accepts, found by trying: for checks that are written as one pattern. */
export function acceptedLengths(
  accepts: (length: number) => boolean,
  most: number,
): { readonly min: number; readonly max: number } {
  const accepted = Array.from({ length: most + 1 }, (_, length) => length).filter(accepts);
  return { min: accepted[0] ?? 0, max: accepted.at(-1) ?? 0 };
}
