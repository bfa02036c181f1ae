import { authorize, hiddenFieldsOf, master, type Principal } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { evaluate } from '../../query/evaluate/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import type { RecordContext } from '../../records/index.ts';
import { retryOnSchemaChange } from '../../records/read/find.ts';
import { presentName } from '../../schema/former-names.ts';
import { type Field, fieldOf, rootOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { type Store, wholeText } from '../../storage/port.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
import { criteriaOf, criteriaVisibleTo } from '../definition/index.ts';
import type { AutomationSystem } from '../model/action.ts';
import { runnerShare } from '../model/loop-share.ts';
import type { Trigger, TriggerEvent } from '../model/model.ts';

/** A record at one moment, by stored values. */
export interface SnapshotRecord {
  readonly className: string;
  readonly objectId: string;
  /** `null` if the value is absent or the field did not exist. */
  valueOf(field: Field): StoredValue;
}

/**
 * Returns whether a trigger fires for an event. A schedule has applied the criteria already when it chose the record.
 * Reference: triggers.md#criteria.
 * @param record after the write; before it for a delete
 * @param before the record before the write; `null` if no trigger of the write depends on changes
 * @param sentRelations names of the Relations that the write changed
 * @param principal the caller whose rights the trigger uses; fields hidden from it must not decide
 * @throws fieldDenied, permissionDenied (119) if a hidden field would decide; if the table no longer fits the definition: invalidTrigger (107) for a
 *   missing field of `changedFields`, errors of `criteriaOf`, classMissing (103); timeout, unavailable
 */
export async function fires(
  system: AutomationSystem,
  trigger: Trigger,
  event: TriggerEvent,
  record: SnapshotRecord,
  before: SnapshotRecord | null,
  sentRelations: readonly string[],
  principal: Principal = master,
): Promise<boolean> {
  if (trigger.table !== record.className || !trigger.events.has(event)) return false;
  if (event === 'schedule') return true;
  const { store } = system;
  if (event === 'update' && before && !hasChanged(trigger, store.schema(), record, before, sentRelations, principal))
    return false;
  return trigger.criteria === null || retryOnSchemaChange(store, async () => matches(store, trigger, record, principal));
}

function hasChanged(
  { changedFields }: Trigger,
  schema: Schema,
  record: SnapshotRecord,
  before: SnapshotRecord,
  sentRelations: readonly string[],
  principal: Principal,
): boolean {
  if (changedFields.length === 0) return true;
  const table = tableOfRecord(record, schema);
  const { className, fields } = table;
  const hidden = hiddenFieldsOf(authorize(principal, 'get', table, schema));
  for (const name of changedFields) if (hidden.has(presentName(table, rootOf(name)))) fail('fieldDenied', name, className);
  return changedFields
    .map(
      (name) =>
        fields.get(presentName(table, rootOf(name))) ??
        fail('invalidTrigger', `changedFields names no field of ${className}: ${name}`),
    )
    .some((field) => (field.type === 'Relation' ? isSent(table, field, sentRelations) : differs(field, record, before)));
}

/** Jobs name Relations as they were called when the job was queued. */
const isSent = (table: TableSchema, { name }: Field, sent: readonly string[]): boolean =>
  sent.some((one) => presentName(table, one) === name);

/** Comparison results by the record after the write. Cached, because many triggers may compare the same field, whose JSON may be long. */
const comparisons = new WeakMap<SnapshotRecord, { readonly before: SnapshotRecord; readonly fields: Map<Field, boolean> }>();

function differs(field: Field, record: SnapshotRecord, before: SnapshotRecord): boolean {
  let cached = comparisons.get(record);
  if (cached?.before !== before) {
    cached = { before, fields: new Map() };
    comparisons.set(record, cached);
  }
  let isChanged = cached.fields.get(field);
  if (isChanged === undefined) {
    isChanged = runnerShare.spend(() => !isSame(field, record.valueOf(field), before.valueOf(field)));
    cached.fields.set(field, isChanged);
  }
  return isChanged;
}

const tableOfRecord = ({ className }: SnapshotRecord, { tables }: Schema): TableSchema =>
  tables.get(className) ?? fail('classMissing', className);

/** JSON values are equal if their content is, regardless of the order of keys. */
function isSame(field: Field, one: StoredValue, other: StoredValue): boolean {
  if (one === other) return true;
  if (storageOf(field) !== 'json' || one === null || other === null) return false;
  return canonicalJson(JSON.parse(one as string)) === canonicalJson(JSON.parse(other as string));
}

async function matches(store: Store, trigger: Trigger, record: SnapshotRecord, principal: Principal): Promise<boolean> {
  const schema = store.schema();
  const table = tableOfRecord(record, schema);
  return runnerShare.spend(() =>
    evaluate(
      criteriaOf(trigger, table, schema, principal),
      (field) => record.valueOf(field),
      (part) => (pointsInto(part, record) ?? matchesNow(table, record.objectId, part))(store),
    ),
  );
}

/**
 * Returns whether a record, in its current state and as far as the caller may see it, meets the criteria of a trigger. Does not consider
 * `changedFields`.
 * @throws errors of `criteriaVisibleTo` if the table no longer fits; classMissing (103); timeout, unavailable
 */
export async function meetsCriteria({ store, principal }: RecordContext, trigger: Trigger, objectId: string): Promise<boolean> {
  return retryOnSchemaChange(store, async (schema) => {
    const table = schema.tables.get(trigger.table) ?? fail('classMissing', trigger.table);
    return matchesNow(table, objectId, criteriaVisibleTo(principal, trigger, table, schema))(store);
  });
}

type StoreCheck = (store: Store) => Promise<boolean>;

/** Whether the record in its current state matches the filter. */
export const matchesNow =
  (table: TableSchema, objectId: string, part: Filter): StoreCheck =>
  async (store) => {
    const field = fieldOf(table, 'objectId');
    const { results } = await store.reader.find({
      table,
      fields: [field],
      filter: { kind: 'and', items: [{ kind: 'compare', field, op: 'eq', value: objectId }, part] },
      includes: [],
      order: [],
      skip: 0,
      limit: 1,
      count: false,
      withScore: false,
    });
    return (await wholeText(results)) !== '[]';
  };

/**
 * Evaluates a condition on a Pointer by the value in the snapshot, so that a record deleted meanwhile can still match; `null` for other conditions.
 */
function pointsInto(part: Filter, record: SnapshotRecord): StoreCheck | null {
  if (part.kind !== 'inQuery' || part.ref.field.type !== 'Pointer') return null;
  const { table, filter, limit, skip } = part.target;
  if (limit !== undefined || skip) return null;
  const objectId = record.valueOf(part.ref.field);
  return objectId === null ? async () => false : matchesNow(table, objectId as string, filter);
}
