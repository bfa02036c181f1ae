/** What a database's error says about the values of a statement. */
import { UNIQUE_INDEX_PREFIX } from '../../sql/unique-key.ts';
import { decisiveCodeOf, rootErrorOf } from './map-error.ts';

/** A unique index of clients in a message, in any language and with any quotes. */
const CLIENT_INDEX = new RegExp(`${UNIQUE_INDEX_PREFIX}[A-Za-z0-9_~]+`);

/**
 * Returns the violated constraint or unique index (23505), '' if its name is not known; `undefined` for other errors. A coordinator passes on the
 * message of a node, but not the name.
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (decisiveCodeOf(error) !== '23505') return undefined;
  const { constraint, message } = rootErrorOf(error) as { readonly constraint?: unknown; readonly message?: unknown };
  if (typeof constraint === 'string') return constraint;
  return CLIENT_INDEX.exec(typeof message === 'string' ? message : '')?.[0] ?? '';
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
