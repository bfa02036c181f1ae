import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, WEEK_MS } from '../../kernel/time.ts';

const units: ReadonlyMap<string, number> = new Map(
  (
    [
      [365 * DAY_MS, 'yr yrs year years'],
      [WEEK_MS, 'wk wks week weeks'],
      [DAY_MS, 'd day days'],
      [HOUR_MS, 'hr hrs hour hours'],
      [MINUTE_MS, 'min mins minute minutes'],
      [SECOND_MS, 'sec secs second seconds'],
    ] as const
  ).flatMap(([length, names]) => names.split(' ').map((name) => [name, length] as const)),
);

/** Whether an operand is `{$relativeTime: ...}`. */
export function isRelativeTime(value: JsonValue): boolean {
  return isJsonObject(value) && Object.hasOwn(value, '$relativeTime');
}

/** `$relativeTime` stands with `$lt $lte $gt $gte` on Date fields only. @throws badConstraint (107) */
export function refuseRelativeTime(value: JsonValue): void {
  if (isRelativeTime(value)) fail('badConstraint', '$relativeTime can only be used with $lt, $lte, $gt and $gte on a Date field');
}

/**
 * The instant that `"now"`, `"3 days 2 hours ago"` or `"in 2 weeks"` names.
 * @param now milliseconds since 1970
 * @throws badConstraint (107) for any other text
 */
export function relativeInstant(text: JsonValue | undefined, now: number): number {
  if (typeof text !== 'string' || text.length > 200) refuse('should be a short text');
  const words = text.trim().toLowerCase().split(/\s+/);
  if (words.length === 1 && words[0] === 'now') return now;
  const future = words[0] === 'in';
  const past = words[words.length - 1] === 'ago';
  if (future === past) refuse("should either start with 'in' or end with 'ago'");
  const parts = future ? words.slice(1) : words.slice(0, -1);
  if (parts.length === 0 || parts.length % 2 !== 0) refuse('should be pairs of a number and a unit');
  let length = 0;
  for (let at = 0; at < parts.length; at += 2) {
    const unit = units.get(parts[at + 1] as string);
    if (unit === undefined || !/^\d{1,9}$/.test(parts[at] as string)) refuse('should be pairs of a number and a unit');
    length += Number(parts[at]) * unit;
  }
  const instant = future ? now + length : now - length;
  if (Math.abs(instant) > 8.64e15) refuse('is out of range');
  return instant;
}

function refuse(why: string): never {
  fail('badConstraint', `bad $relativeTime: ${why}`);
}
