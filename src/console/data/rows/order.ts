import type { Grant } from '../../../access/index.ts';
import { fail } from '../../../errors/fail.ts';
import type { OrderKey } from '../../../query/model/filter.ts';
import { splitNames } from '../../../query/model/names.ts';
import { parseOrder } from '../../../query/order.ts';
import type { QueryScope } from '../../../query/where/context.ts';
import { type Storage, storageOf } from '../../../values/index.ts';

/** A field of an order. */
export interface SeekKey {
  readonly name: string;
  readonly storage: Ordered;
  readonly isDescending: boolean;
  /** Whether every record has a value. */
  readonly isRequired: boolean;
}

/** Types whose comparison in a `where` agrees with the order of rows. */
type Ordered = Extract<Storage, 'text' | 'number' | 'boolean' | 'date'>;

const ordered: ReadonlySet<Storage> = new Set<Ordered>(['text', 'number', 'boolean', 'date']);

/** A total order of the rows of a table. */
export interface RowOrder {
  /** In the syntax of the option `order`. */
  readonly text: string;
  /** Ends in objectId; `null` if no `where` can express what follows a row: then rows are addressed by offset. */
  readonly keys: readonly SeekKey[] | null;
}

/** Maximum number of fields: a page may need one query per field. */
const MAX_KEYS = 8;
const NEWEST_FIRST = ['-createdAt'];
const required: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt']);

/**
 * Parses an order in REST syntax; the default is newest first. Appends objectId in the direction of the last key, so that an index on that key can be
 * read in both directions.
 * @throws errors of `parseOrder`, e.g. fieldDenied (119) for a hidden field; invalidArguments (107) for too many fields
 */
export function readOrder(text: string | undefined, grant: Grant, scope: QueryScope): RowOrder {
  const names = splitNames('order', text);
  const requestedKeys = parseOrder(names, grant, scope, true).filter(isRequestedKey(names));
  if (requestedKeys.length > MAX_KEYS) fail('invalidArguments', `order has more than ${MAX_KEYS} fields`);
  const parsed =
    requestedKeys.length > 0 ? requestedKeys : parseOrder(NEWEST_FIRST, grant, scope, false).filter(isRequestedKey(NEWEST_FIRST));
  const parts = parsed.map(textOf);
  const idAt = parsed.findIndex((key) => key.kind === 'field' && key.ref.field.name === 'objectId');
  const keys = parsed.flatMap((key) => seekKey(key) ?? []);
  if (idAt >= 0) return { text: parts.join(), keys: keys.length === parsed.length ? keys.slice(0, idAt + 1) : null };
  const isDescending = parsed.at(-1)?.descending === true;
  const objectId: SeekKey = { name: 'objectId', storage: 'text', isDescending, isRequired: true };
  const whole = [...parts, isDescending ? '-objectId' : 'objectId'].join();
  return { text: whole, keys: keys.length === parsed.length ? [...keys, objectId] : null };
}

/** Filters out the objectId that `parseOrder` appends. */
const isRequestedKey = (names: readonly string[]) => (key: OrderKey) =>
  key.kind !== 'field' || key.ref.field.name !== 'objectId' || names.some((name) => name.replace('-', '') === 'objectId');

function textOf(key: OrderKey): string {
  const name = key.kind === 'score' ? '$score' : [...pointersOf(key), key.ref.field.name, ...key.ref.path].join('.');
  return key.descending ? `-${name}` : name;
}

const pointersOf = (key: Exclude<OrderKey, { kind: 'score' }>): readonly string[] =>
  key.kind === 'pointed' ? key.steps.map(({ pointer }) => pointer.name) : [];

function seekKey(key: OrderKey): SeekKey | null {
  if (key.kind !== 'field' || key.ref.path.length > 0) return null;
  const { name } = key.ref.field;
  const storage = storageOf(key.ref.field);
  if (!ordered.has(storage)) return null;
  return { name, storage: storage as Ordered, isDescending: key.descending, isRequired: required.has(name) };
}

/** Reverses an order. */
export const reversed = (keys: readonly SeekKey[]): SeekKey[] => keys.map((key) => ({ ...key, isDescending: !key.isDescending }));

/** Formats keys in the syntax of the option `order`. */
export const orderText = (keys: readonly SeekKey[]): string =>
  keys.map(({ name, isDescending }) => (isDescending ? `-${name}` : name)).join();
