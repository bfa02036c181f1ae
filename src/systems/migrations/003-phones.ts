import { ServiceError } from '../../errors/fail.ts';
import { Contention } from '../../kernel/contention.ts';
import { limits } from '../../kernel/limits.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import type { SchemaChange } from '../../schema/change.ts';
import { type Field, fieldOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { derivedFieldsOf } from '../../schema/system-tables.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation, Store, WritePlan } from '../../storage/port.ts';
import { storageOf } from '../../values/index.ts';
import { nothing, type SystemMigration } from './migration.ts';

/**
 * Systems from before there were forms get the field by which accounts are found by phone, filled for existing accounts. An interrupted run
 * starts again and skips accounts that have their key.
 */
export const phones: SystemMigration = { number: 3, what: 'the keys of telephone numbers', prepare };

/** Accounts that are read, and written in one commit: few enough that requests of other systems get their turn. */
const PAGE_SIZE = 1_000;
/** Time limit of retrying a page whose accounts others write to, and the pauses in between, in milliseconds. */
const RETRY_LIMIT_MS = MINUTE_MS;
const RETRY_DELAY_STEP_MS = 10;
const MAX_RETRY_DELAY_MS = 100;

async function prepare(store: Store): Promise<() => WritePlan> {
  await addField(store);
  for (let after: number | null = 0; after !== null; ) after = await fillPage(store, after);
  return () => nothing;
}

/** The fields of the accounts, in a system that can have keys. */
interface Accounts {
  readonly table: TableSchema;
  readonly phone: Field;
  readonly keyName: string;
  readonly key: (text: string) => string | null;
}

/** Returns `null` if there are no accounts, or if their phone is no text. */
function accountsOf({ tables }: Schema): Accounts | null {
  const table = tables.get('Accounts');
  const phone = table?.fields.get('PhoneNumber');
  const derived = derivedFieldsOf('Accounts').get('PhoneNumber');
  if (!table || !phone || !derived || storageOf(phone) !== 'text') return null;
  return { table, phone, keyName: derived.field, key: derived.key };
}

/** A full table stays without the field: forms then find its accounts by e-mail alone. */
async function addField(store: Store): Promise<void> {
  try {
    await store.write({ plan: (schema) => ({ changes: missingField(schema), mutations: [] }) });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.key !== 'fieldCannotBeAdded') throw error;
  }
}

function missingField(schema: Schema): SchemaChange[] {
  const accounts = accountsOf(schema);
  if (!accounts) return [];
  const { fields, className } = accounts.table;
  const known = fields.get(accounts.keyName);
  if (known?.type === 'String' || (!known && fields.size >= limits.fieldsPerTable)) return [];
  const add: SchemaChange = { kind: 'addField', className, name: accounts.keyName, type: 'String' };
  return known ? [{ kind: 'dropField', className, name: known.name }, add] : [add];
}

/** An account as read. */
interface Account {
  readonly objectId: string;
  readonly phone: string | null;
  /** The key that it should have. */
  readonly wanted: string | null;
}

/**
 * Sets the keys of one page of accounts. @param after a place in the order of creation @returns the place of the last account; `null` if there was
 * none
 */
async function fillPage(store: Store, after: number): Promise<number | null> {
  const contention = new Contention(RETRY_LIMIT_MS);
  for (;;) {
    const accounts = accountsOf(store.schema());
    const field = accounts?.table.fields.get(accounts.keyName);
    if (!accounts || !field) return null;
    const { table, phone, key } = accounts;
    const fields = [fieldOf(table, 'objectId'), phone, field].map((one) => [one.name, one] as const);
    const rows = await store.raw.rows({ ...table, fields: new Map(fields) }, after, PAGE_SIZE);
    const outdated: Account[] = [];
    for (const row of rows) {
      const [, objectId, text, kept] = row as unknown as [number, string, string | null, string | null];
      const wanted = text === null ? null : key(text);
      if (wanted !== kept) outdated.push({ objectId, phone: text, wanted });
    }
    // Other processes lock the same records in the same order.
    outdated.sort((a, b) => (a.objectId < b.objectId ? -1 : 1));
    try {
      if (outdated.length > 0) await store.write({ plan: (schema) => ({ changes: [], mutations: updates(schema, outdated) }) });
      return rows.at(-1)?.[0] ?? null;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.key !== 'objectNotFound' || contention.isOver) throw error;
      await contention.next(RETRY_DELAY_STEP_MS, MAX_RETRY_DELAY_MS);
    }
  }
}

/** All updates fail together if one of the phones has changed, or its account is gone. */
function updates(schema: Schema, outdated: readonly Account[]): Mutation[] {
  const accounts = accountsOf(schema);
  if (!accounts?.table.fields.has(accounts.keyName)) return [];
  const { table, phone, keyName } = accounts;
  return outdated.map(({ objectId, phone: text, wanted }) => ({
    kind: 'update',
    table,
    objectId,
    guard: null,
    condition: holds(phone, text),
    assignments: assignmentsOf(table, { [keyName]: wanted }),
    returning: [],
  }));
}

function holds(field: Field, text: string | null): Filter {
  if (text !== null) return { kind: 'compare', field, op: 'eq', value: text };
  return { kind: 'not', item: { kind: 'exists', ref: { field, path: [] } } };
}
