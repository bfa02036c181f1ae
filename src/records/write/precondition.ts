import { authorize } from '../../access/index.ts';
import type { ErrorKey } from '../../errors/catalogue.ts';
import { type ServiceError, serviceError } from '../../errors/fail.ts';
import { isoText } from '../../kernel/time.ts';
import { guardedFilter } from '../../query/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';
import type { RecordContext } from '../context/context.ts';
import { readViewed, wholeView } from '../read/find.ts';
import { readRows } from '../read/system-reads.ts';

/** Versions of a record: values of its `updatedAt`, in milliseconds since 1970. `any`: whatever the record is like. */
export type Versions = 'any' | readonly number[];

/** What must hold for a write of a record to be executed. Decided in its commit. Reference: records.md#conditional-writes. */
export interface Precondition {
  /** The record has one of these versions. */
  readonly ifMatch?: Versions;
  /** The record has none of these versions; of a create: `any`, no record has the objectId. */
  readonly ifNoneMatch?: Versions;
}

/** The version of a record, and how the caller sees it (`viewOf`). */
export interface Version {
  readonly updatedAt: number;
  readonly view: string | null;
}

/** The present versions of records whose preconditions failed, as far as the caller may know them, by the error. */
const presentVersions = new WeakMap<ServiceError, Version>();

/** Returns the present version of the record whose precondition failed; `undefined` for other errors, and if the caller may not read it. */
export const presentVersionOf = (error: unknown): Version | undefined => presentVersions.get(error as ServiceError);

/** Returns what a precondition requires of the stored record; `null` for nothing. */
export function conditionOn(table: TableSchema, { ifMatch = 'any', ifNoneMatch }: Precondition): Filter | null {
  const field = fieldOf(table, 'updatedAt');
  const items: Filter[] = [];
  if (ifMatch !== 'any') items.push({ kind: 'in', field, values: ifMatch });
  if (ifNoneMatch === 'any') items.push({ kind: 'never' });
  else if (ifNoneMatch) items.push({ kind: 'not', item: { kind: 'in', field, values: ifNoneMatch } });
  const [first, ...others] = items;
  if (!first) return null;
  return others.length > 0 ? { kind: 'and', items } : first;
}

/** A condition on the record that the commit checks. Pure. */
export type OnlyIf = (table: TableSchema) => Filter;

/** Returns the condition that the commit checks: the caller's, and that the record is as it was read before the write (`version`). */
export function conditionOf(
  table: TableSchema,
  onlyIf: OnlyIf | undefined,
  precondition: Precondition | undefined,
  version: number | undefined,
): { readonly condition?: Filter } {
  const items: Filter[] = onlyIf ? [onlyIf(table)] : [];
  const required = precondition && conditionOn(table, precondition);
  if (required) items.push(required);
  if (version !== undefined) items.push({ kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'eq', value: version });
  const [first, ...others] = items;
  if (!first) return {};
  return { condition: others.length > 0 ? { kind: 'and', items } : first };
}

/** The errors of commits that may mean a failed precondition. */
const missing: ReadonlySet<ErrorKey> = new Set(['objectNotFound']);
const taken: ReadonlySet<ErrorKey> = new Set(['duplicateValue', 'usernameTaken', 'emailTaken']);

const includes = (versions: Versions, updatedAt: number): boolean => versions === 'any' || versions.includes(updatedAt);

/** A write with a precondition. */
export interface ConditionalWrite {
  readonly className: string;
  readonly objectId: string;
  readonly action: 'create' | 'update' | 'delete';
  readonly precondition: Precondition;
}

/**
 * Returns the error of a conditional write that its commit refused: preconditionFailed (412) if the precondition does not hold for a record that the
 * caller could write, else the error itself.
 */
export async function explained(context: RecordContext, write: ConditionalWrite, error: unknown): Promise<unknown> {
  const { key } = error as Partial<ServiceError>;
  if (key === undefined || !(write.action === 'create' ? taken : missing).has(key)) return error;
  const { className, objectId, action, precondition } = write;
  const updatedAt = await storedVersion(context, write);
  if (updatedAt === null) return error;
  const { ifMatch = 'any', ifNoneMatch = [] } = precondition;
  if (action !== 'create' && includes(ifMatch, updatedAt) && !includes(ifNoneMatch, updatedAt)) return error;
  const failed = serviceError(action === 'create' ? 'recordExists' : 'preconditionFailed');
  failed.item = (error as ServiceError).item;
  if (await isReadable(context, className, objectId)) {
    failed.details = { updatedAt: isoText(updatedAt) };
    presentVersions.set(failed, { updatedAt, view: wholeView(context, className) });
  }
  return failed;
}

/** Returns the version of the record, if the caller may write it; an existing one of a create, whose caller has a key. */
export async function storedVersion(
  { store, principal }: RecordContext,
  { className, objectId, action }: Omit<ConditionalWrite, 'precondition'>,
): Promise<number | null> {
  const filter = (table: TableSchema): Filter => {
    const isRecord: Filter = { kind: 'compare', field: fieldOf(table, 'objectId'), op: 'eq', value: objectId };
    return action === 'create' ? isRecord : guardedFilter(authorize(principal, action, table, store.schema()), isRecord);
  };
  const [row] = await readRows<{ updatedAt: string }>(store, { className, fields: ['updatedAt'], filter, limit: 1 });
  return row ? Date.parse(row.updatedAt) : null;
}

async function isReadable(context: RecordContext, className: string, objectId: string): Promise<boolean> {
  try {
    const { text } = await readViewed(context, className, objectId, { keys: ['updatedAt'] });
    if (typeof text !== 'string') await text[Symbol.asyncIterator]().return?.();
    return true;
  } catch {
    return false;
  }
}
