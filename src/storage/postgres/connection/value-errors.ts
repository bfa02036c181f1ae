/** What a database's error says about the values of a statement. */
import { decisiveCodeOf, rootErrorOf } from './map-error.ts';

/** Returns the violated constraint or unique index (23505), '' if its name is not known; `undefined` for other errors. */
export function violatedConstraint(error: unknown): string | undefined {
  if (decisiveCodeOf(error) !== '23505') return undefined;
  const { constraint } = rootErrorOf(error) as { readonly constraint?: unknown };
  return typeof constraint === 'string' ? constraint : '';
}

/** The only column of a unique index in the detail of an error: `Key ("objectId")=(x) already exists.`, in any language. */
const KEY_COLUMN = /\((?:"((?:[^"]|"")+)"|([^(),"]+))\)=\(/;

/** Returns the column whose value another row has. A coordinator names the constraint of a shard, so the column tells what was violated. */
export function violatedColumn(error: unknown): string | undefined {
  const { detail } = rootErrorOf(error) as { readonly detail?: unknown };
  const [, quoted, plain] = KEY_COLUMN.exec(typeof detail === 'string' ? detail : '') ?? [];
  return quoted?.replaceAll('""', '"') ?? plain;
}

/** Whether a number is out of the range of its type (22003). */
export function isOutOfRange(error: unknown): boolean {
  return decisiveCodeOf(error) === '22003';
}

/** Whether a limit of the database was exceeded: an index entry, a statement, the columns of a table (54000, 54001, 54011, 54023). */
export function isTooLarge(error: unknown): boolean {
  return decisiveCodeOf(error)?.startsWith('54') === true;
}

/** Whether a value, or a combination of rows, is invalid for the table (classes 22 and 23). */
export function isValueError(error: unknown): boolean {
  return /^2[23]/.test(decisiveCodeOf(error) ?? '');
}
