import { setImmediate as nextTurn } from 'node:timers/promises';
import { grantFor, holdsKey, visibilityOf } from '../../../access/index.ts';
import { fail, isInDoubt, isRefusal, isUnavailable, ServiceError, serviceError } from '../../../errors/fail.ts';
import { Contention } from '../../../kernel/contention.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { refuseFormerName } from '../../../schema/former-names.ts';
import { type Field, fieldOf, type TableSchema, type UniqueIndex } from '../../../schema/model.ts';
import { uniqueKey } from '../../../schema/unique-key.ts';
import type { KeyedRecord } from '../../../storage/by-key.ts';
import { DuplicateKey } from '../../../storage/constraints.ts';
import { SchemaChanged } from '../../../storage/port.ts';
import { isOperator, type StoredValue, valueTypeOf } from '../../../values/index.ts';
import { errorToReport, type Progress, type RecordContext } from '../../context/context.ts';
import { createRecord } from '../create.ts';
import type { OnlyIf } from '../precondition.ts';
import { storedVersion } from '../precondition.ts';
import { updateRecord } from '../update.ts';
import { currentTarget, readMatchOn, type Target, targetOf } from './target.ts';

/** Maximum number of records of a request. */
export const MAX_UPSERT_RECORDS = 1_000;

/** Limits of the records that are written at the same time, as of a batch. */
const MAX_CONCURRENT_LENGTH = 2_000_000;
const MAX_CONCURRENT_EDITS = 25;
/** Maximum characters of records whose keys are computed in one turn of the event loop. */
const MAX_TURN_LENGTH = 500_000;

/** What became of a record. */
export type Upserted =
  | { readonly objectId: string; readonly created: boolean; readonly updatedAt: string }
  | { readonly error: unknown };

/** A record with its key. */
interface Item {
  readonly at: number;
  readonly body: JsonObject;
  /** Of the fields of the index. */
  readonly values: readonly StoredValue[];
  /** Equal for records that the index compares as equal. */
  readonly key: string;
}

/**
 * Updates the records that have the values of a unique index, and creates those that no record has. Each is written by itself, like by a create or an
 * update; its commit decides which. Reference: records.md#upsert.
 * @param matchOn the fields of a unique index
 * @returns in the order of the bodies
 * @throws noUniqueIndex (102), invalidUpsert (107), permissionDenied, fieldDenied, captcha (119); unavailable if nothing was done
 */
export async function upsertRecords(
  context: RecordContext,
  className: string,
  matchOn: JsonValue | undefined,
  bodies: JsonValue | undefined,
): Promise<readonly Upserted[]> {
  const names = readMatchOn(matchOn);
  if (!Array.isArray(bodies)) return fail('invalidUpsert', 'records must be an array');
  if (bodies.length > MAX_UPSERT_RECORDS) fail('invalidUpsert', `a request may have ${MAX_UPSERT_RECORDS} records`);
  const target = await currentTarget(context, className, names);
  const results = new Array<Upserted>(bodies.length);
  const items: Item[] = [];
  let characters = 0;
  for (const [at, body] of bodies.entries()) {
    characters += charactersOf(body as JsonValue);
    if (characters > MAX_TURN_LENGTH) {
      await nextTurn();
      characters = 0;
    }
    try {
      items.push(itemOf(context, target, at, body as JsonValue));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      results[at] = { error };
    }
  }
  for (let start = 0, end = 0; start < items.length; start = end) {
    if (start > 0) await nextTurn();
    end = endOfChunk(items, start);
    for (const turn of turnsOf(items.slice(start, end))) await upsertAll(context, className, names, turn, results);
    // The remaining records would meet the same fault.
    if (isNothingDone(results)) fail('unavailable');
  }
  return results;
}

function itemOf({ principal }: RecordContext, { table, index }: Target, at: number, body: JsonValue): Item {
  if (!isJsonObject(body)) return fail('invalidUpsert', 'a record must be an object');
  const { hiddenFields } = visibilityOf(principal, table);
  for (const name of Object.keys(body)) refuseFormerName(table, name, hiddenFields);
  const values = index.fields.map((name) => keyValue(table, fieldOf(table, name), own(body, name)));
  const keys = values.map((value, nth) => {
    const key = uniqueKey(index.as ?? 'text', value);
    return key === null ? fail('fieldRequired', index.fields[nth] as string) : key;
  });
  return { at, body, values, key: JSON.stringify(keys) };
}

function keyValue({ className }: TableSchema, field: Field, value: JsonValue | undefined): StoredValue {
  if (value === undefined || value === null) return null;
  if (isOperator(value)) return fail('invalidUpsert', `${field.name} must be a value, since records are found by it`);
  return valueTypeOf(field).decode(value, field, className);
}

function endOfChunk(items: readonly Item[], start: number): number {
  let characters = 0;
  let edits = 0;
  for (let at = start; at < items.length; at++) {
    const { body } = items[at] as Item;
    characters += charactersOf(body);
    if (Object.entries(body).some(([name, value]) => isOperator(value) || name.includes('.'))) edits++;
    if (at > start && (characters > MAX_CONCURRENT_LENGTH || edits > MAX_CONCURRENT_EDITS)) return at;
  }
  return items.length;
}

/** Returns the characters of the texts of a record. */
function charactersOf(body: JsonValue): number {
  let characters = 0;
  if (isJsonObject(body)) for (const value of Object.values(body)) if (typeof value === 'string') characters += value.length;
  return characters;
}

/** Splits records so that those with one key are written one after the other, in their order. */
function turnsOf(items: readonly Item[]): Item[][] {
  const seen = new Map<string, number>();
  const turns: Item[][] = [];
  for (const item of items) {
    const turn = seen.get(item.key) ?? 0;
    seen.set(item.key, turn + 1);
    turns[turn] ??= [];
    turns[turn].push(item);
  }
  return turns;
}

/** Writes records with different keys, again and again until it is decided for each whether it is there. */
async function upsertAll(
  context: RecordContext,
  className: string,
  names: readonly string[],
  items: readonly Item[],
  results: Upserted[],
): Promise<void> {
  const contention = new Contention();
  /** What a record was last found as, if its update has failed since. */
  const failed = new Map<Item, string>();
  for (let open = items; open.length > 0; ) {
    let decided: Found;
    try {
      decided = await findAll(context, className, names, open);
    } catch (error) {
      for (const { at } of open) results[at] = { error };
      return;
    }
    const answers = await Promise.all(
      open.map((item, nth) => upsertOne(context, className, item, decided.found[nth] ?? null, decided.target, failed)),
    );
    const again: Item[] = [];
    for (const [nth, answer] of answers.entries()) {
      const item = open[nth] as Item;
      if (answer !== 'again') results[item.at] = answer;
      else if (contention.isOver) results[item.at] = { error: serviceError('unavailable') };
      else again.push(item);
    }
    open = again;
    if (open.length > 0) await contention.next();
  }
}

interface Found {
  readonly target: Target;
  /** By record. */
  readonly found: readonly (KeyedRecord | null)[];
}

/** Finds the records that have the keys. @throws noUniqueIndex if the index is gone */
async function findAll(
  context: RecordContext,
  className: string,
  names: readonly string[],
  items: readonly Item[],
): Promise<Found> {
  const keys = items.map(({ values }) => values);
  for (const contention = new Contention(); ; )
    try {
      const target = targetOf(context, className, names);
      return { target, found: await context.store.reader.findByKey(target.table, target.index, keys) };
    } catch (error) {
      if (!(error instanceof SchemaChanged) || contention.isOver) throw error;
      await contention.next();
      await context.store.whenCurrent();
    }
}

/** Errors of an update that another writer may have caused, or that would show that the record exists. */
const unclear: ReadonlySet<string> = new Set([
  ...['objectNotFound', 'changedMeanwhile', 'permissionDenied', 'otherUser', 'needsAuthentication'],
]);

/**
 * Creates or updates a record, as it was found.
 * @param failed what records were found as when their update failed; found the same again, no other writer was faster: the caller may not update them
 * @returns `again` if another writer was faster
 */
async function upsertOne(
  context: RecordContext,
  className: string,
  item: Item,
  found: KeyedRecord | null,
  { index, table }: Target,
  failed: Map<Item, string>,
): Promise<Upserted | 'again'> {
  const progress: Progress = { hasWritten: false };
  const own = { ...context, progress };
  const { body } = item;
  const create = async () => {
    const { objectId, createdAt } = await createRecord(own, className, body);
    return { objectId, created: true, updatedAt: createdAt };
  };
  const report = (error: unknown) => ({ error: errorToReport(error, progress, true) });
  try {
    if (!found) return await create();
    const { objectId, updatedAt } = await updateRecord(own, className, found.objectId, body, { onlyIf: isStill(index, found) });
    return { objectId, created: false, updatedAt };
  } catch (error) {
    if (!found && error instanceof DuplicateKey && error.index.name === index.name && error.className === className)
      return 'again';
    const isAllowed = grantFor(context.principal, 'update', table, context.store.schema()) !== null;
    if (!found || !isRefusal(error) || !isAllowed) return report(error);
    try {
      if (!unclear.has(error.key) && (await mayChange(context, className, found.objectId))) return report(error);
      const now = JSON.stringify(found);
      if (failed.get(item) === now) return await create();
      failed.set(item, now);
      return 'again';
    } catch (thrown) {
      return report(thrown);
    }
  } finally {
    if (progress.hasWritten && context.progress) context.progress.hasWritten = true;
  }
}

/** Whether the caller may change the record: any other error than that of a create would show that it exists. */
async function mayChange(context: RecordContext, className: string, objectId: string): Promise<boolean> {
  return holdsKey(context.principal) || (await storedVersion(context, { className, objectId, action: 'update' })) !== null;
}

/** The record still has the values by which it was found. */
const isStill =
  ({ fields }: UniqueIndex, { values }: KeyedRecord): OnlyIf =>
  (table) => ({
    kind: 'and',
    items: fields.map((name, at) => ({
      kind: 'compare',
      field: fieldOf(table, name),
      op: 'eq',
      value: fieldOf(table, name).type === 'Boolean' ? Boolean(values[at]) : (values[at] as StoredValue),
    })),
  });

/** Whether a passing fault has prevented all that was tried so far. Reference: faults.md#passing-faults. */
function isNothingDone(results: readonly Upserted[]): boolean {
  let isMet = false;
  for (const result of results) {
    if (!result) continue;
    if (!('error' in result) || isInDoubt(result.error)) return false;
    isMet ||= isUnavailable(result.error);
  }
  return isMet;
}
