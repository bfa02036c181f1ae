import { holdsKey } from '../access/index.ts';
import type { JsonObject, JsonValue } from '../kernel/json.ts';
import { memoByObject } from '../kernel/memo.ts';
import { isoText } from '../kernel/time.ts';
import { type RecordContext, readViewed, type TransactionResult, type WriteEvent } from '../records/index.ts';
import { type Field, type FieldType, fieldOf, type TableSchema, tableOf } from '../schema/model.ts';
import { snapshotValues } from '../storage/column-values.ts';
import type { Mutation } from '../storage/port.ts';
import type { StoredValue } from '../values/index.ts';
import { keyOfPart, type RequestKey } from './key.ts';
import { className, type KeyRow, keep } from './key-rows.ts';
import { seal } from './sealed.ts';

/** Name, type and target table of a field. */
type KeptField = readonly [string, FieldType, string | null];

type Update = Extract<Mutation, { kind: 'update' }>;

/**
 * Returns the context in which the commit of a write keeps the key with what the answer needs, one row for each record.
 * @param secrets by the position of the record: parts of the answer that are stored sealed
 */
export function keeping(context: RecordContext, key: RequestKey, secrets: readonly (string | undefined)[] = []): RecordContext {
  return {
    ...context,
    afterRecord(schema, { mutations, events }, item) {
      const [event] = events;
      if (!event) return [];
      const id = rowId(key, item);
      const secret = secrets[item];
      const row: Record<string, StoredValue> = { record: event.objectId };
      if (secret !== undefined) row.sealed = seal(key, secret);
      const update = event.event === 'update' ? mutations.find((one) => isUpdateOf(one, event)) : undefined;
      if (!update) return [keep(schema, key, id, { ...row, at: event.at })];
      const { returning, returningGuard = null } = update as Update;
      const { table: from, objectId } = event;
      const updatedAt = fieldOf(from, 'updatedAt');
      const own = tableOf(schema, className);
      if (returning.length === 0) {
        return [keep(schema, key, id, row, { kind: 'copy', from, objectId, fields: copiedFields(own)(from) })];
      }
      const kept = [returningGuard !== null, ...returning.map(({ name, type, targetClass }) => [name, type, targetClass])];
      const source = {
        kind: 'snapshot',
        from,
        objectId,
        fields: [updatedAt, ...returning],
        to: fieldOf(own, 'snapshot'),
      } as const;
      return [keep(schema, key, id, { ...row, fields: JSON.stringify(kept) }, source)];
    },
  };
}

/** Returns what a row of the table of keys copies from an updated record. One object for each table: the statement is compiled once (insert.ts). */
const copiedFields = memoByObject((keys: TableSchema) =>
  memoByObject((table: TableSchema) => [[fieldOf(keys, 'at'), fieldOf(table, 'updatedAt')] as const] as const),
);

/** Returns the context of a write whose commit keeps the key with the answer. */
export function keepingAnswer(context: RecordContext, key: RequestKey, answer: JsonValue): RecordContext {
  return {
    ...context,
    afterRecord: (schema, _steps, item) => (item === 0 ? [keep(schema, key, key.id, { answer: JSON.stringify(answer) })] : []),
  };
}

/** The rows of a write of several records: that of the first has the key itself. */
export const rowId = (key: RequestKey, item: number): string => (item === 0 ? key.id : keyOfPart(key, item).id);

const isUpdateOf = (one: Mutation, { table, objectId }: WriteEvent): boolean =>
  one.kind === 'update' && one.table.className === table.className && one.objectId === objectId;

/**
 * Returns the result of a write as its first request had it. Values that operators produced are as they were then; those that were too long for a
 * snapshot are left out, and so are all if the caller may no longer read the record.
 * @param of the table of the record
 */
export async function keptResult(context: RecordContext, of: string, row: KeyRow): Promise<TransactionResult> {
  const objectId = row.record ?? '';
  const table = context.store.schema().tables.get(of);
  if (row.snapshot === undefined || !table) return { objectId, at: isoText(row.at ?? Date.parse(row.createdAt)), returned: '' };
  const [isGuarded, ...kept] = JSON.parse(row.fields ?? '[false]') as [boolean, ...KeptField[]];
  // As they were when the record was written: the table may have changed since.
  const fields = kept.map(
    ([name, type, targetClass]): Field => ({ name, type, column: name, ...(targetClass && { targetClass }) }),
  );
  const values = snapshotValues(row.snapshot, [fieldOf(table, 'updatedAt'), ...fields]);
  const at = isoText(values[0] as number);
  if (isGuarded && !holdsKey(context.principal) && !(await isReadable(context, of, objectId)))
    return { objectId, at, returned: '' };
  const wanted = [fieldOf(table, 'objectId'), ...fields];
  const text = context.store.reader.textOf(table, wanted, [objectId, ...values.slice(1)]);
  const whole = JSON.parse(text) as JsonObject;
  const shown = Object.fromEntries(fields.flatMap(({ name }) => (Object.hasOwn(whole, name) ? [[name, whole[name]]] : [])));
  const members = JSON.stringify(shown).slice(1, -1);
  return { objectId, at, returned: members === '' ? '' : `,${members}` };
}

async function isReadable(context: RecordContext, of: string, objectId: string): Promise<boolean> {
  try {
    await readViewed(context, of, objectId, { keys: ['objectId'] });
    return true;
  } catch {
    return false;
  }
}
