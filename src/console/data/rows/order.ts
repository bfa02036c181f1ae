import type { Grant } from '../../../access/index.ts';
import { fail } from '../../../errors/fail.ts';
import { parseOrder } from '../../../query/build.ts';
import type { OrderKey } from '../../../query/model/filter.ts';
import { splitNames } from '../../../query/model/names.ts';
import { type Storage, storageOf } from '../../../values/index.ts';

/** A field by which rows are ordered. */
export interface SeekKey {
  readonly name: string;
  readonly storage: Ordered;
  readonly isDescending: boolean;
  /** Whether every record has a value. */
  readonly isRequired: boolean;
}

/** Storages of values that a `where` can hold against each other in the order of the rows. */
type Ordered = Extract<Storage, 'text' | 'number' | 'boolean' | 'date'>;

const ordered: ReadonlySet<Storage> = new Set<Ordered>(['text', 'number', 'boolean', 'date']);

/** A total order of the rows of a table. */
export interface RowOrder {
  /** As of the option `order`. */
  readonly text: string;
  /** Ends in objectId; `null` where no `where` can say what comes after a row: then rows are counted off. */
  readonly keys: readonly SeekKey[] | null;
}

/** Orders by more fields are refused: each may cost a page a query. */
const MAX_KEYS = 8;
const NEWEST_FIRST = ['-createdAt'];
const required: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt']);

/**
 * Reads an order as REST takes it; the newest first where there is none. It ends in objectId, in the direction of the last key, so that an
 * index by that key serves it backwards too.
 * @throws what `parseOrder` throws: fieldDenied (119) for a field that is hidden from the caller; invalidArguments (107) for too many
 */
export function readOrder(text: string | undefined, grant: Grant): RowOrder {
  const names = splitNames('order', text);
  const asked = parseOrder(names, grant, true).filter(isWanted(names));
  if (asked.length > MAX_KEYS) fail('invalidArguments', `order has more than ${MAX_KEYS} fields`);
  const parsed = asked.length > 0 ? asked : parseOrder(NEWEST_FIRST, grant, false).filter(isWanted(NEWEST_FIRST));
  const parts = parsed.map(textOf);
  const idAt = parsed.findIndex((key) => key.kind === 'field' && key.ref.field.name === 'objectId');
  const keys = parsed.flatMap((key) => seekKey(key) ?? []);
  if (idAt >= 0) return { text: parts.join(), keys: keys.length === parsed.length ? keys.slice(0, idAt + 1) : null };
  const isDescending = parsed.at(-1)?.descending === true;
  const objectId: SeekKey = { name: 'objectId', storage: 'text', isDescending, isRequired: true };
  const whole = [...parts, isDescending ? '-objectId' : 'objectId'].join();
  return { text: whole, keys: keys.length === parsed.length ? [...keys, objectId] : null };
}

/** What `parseOrder` adds at the end is no wish of the caller's. */
const isWanted = (names: readonly string[]) => (key: OrderKey) =>
  key.kind === 'score' || key.ref.field.name !== 'objectId' || names.some((name) => name.replace('-', '') === 'objectId');

function textOf(key: OrderKey): string {
  const name = key.kind === 'score' ? '$score' : [key.ref.field.name, ...key.ref.path].join('.');
  return key.descending ? `-${name}` : name;
}

function seekKey(key: OrderKey): SeekKey | null {
  if (key.kind === 'score' || key.ref.path.length > 0) return null;
  const { name } = key.ref.field;
  const storage = storageOf(key.ref.field);
  if (!ordered.has(storage)) return null;
  return { name, storage: storage as Ordered, isDescending: key.descending, isRequired: required.has(name) };
}

/** The same order, from the end. */
export const turned = (keys: readonly SeekKey[]): SeekKey[] => keys.map((key) => ({ ...key, isDescending: !key.isDescending }));

/** As of the option `order`. */
export const orderText = (keys: readonly SeekKey[]): string =>
  keys.map(({ name, isDescending }) => (isDescending ? `-${name}` : name)).join();
