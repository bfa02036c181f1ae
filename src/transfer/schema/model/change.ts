import type { Part } from './snapshot.ts';

/** A difference as it is shown: added, changed, renamed, or destructive. Reference: schema-as-code.md#changes. */
export interface Change {
  readonly sign: '+' | '~' | '>' | '!';
  readonly part: Part;
  readonly table?: string;
  /** The field, index, role, trigger … */
  readonly name?: string;
  /** In words, without the sign. */
  readonly text: string;
  readonly destructive: boolean;
  /** Of a destructive one: how many records hold a value, or how many a table or role has. */
  readonly records?: number;
}

/** `1,204 records have a value`. @param records `null` if they were not counted. @param none what is said of no record */
export function recordsText(records: number | null, one: string, many: string, none: string): string {
  if (records === null) return `too many to count in time: ${many}`;
  if (records === 0) return none;
  return records === 1 ? `1 ${one}` : `${records.toLocaleString('en')} ${many}`;
}
