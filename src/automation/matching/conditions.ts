import { authorize, master, type Principal, unseenIn } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { evaluate } from '../../query/evaluate/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import type { RecordContext } from '../../records/index.ts';
import { underSchema } from '../../records/read/find.ts';
import { type Field, fieldOf, rootOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { type Store, wholeText } from '../../storage/port.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
import { criteriaAsSeenBy, criteriaOf } from '../definition/index.ts';
import type { AutomationSystem } from '../model/action.ts';
import { workingOff } from '../model/loop-share.ts';
import type { Trigger, TriggerEvent } from '../model/model.ts';

/** A record at one moment, by its stored values. */
export interface SnapshotRecord {
  readonly className: string;
  readonly objectId: string;
  /** `null` where the value is absent, or the field was not there. */
  valueOf(field: Field): StoredValue;
}

/**
 * Whether a trigger fires (CONTRACT "Triggers": `criteria`, `changedFields`; docs/decisions.md "Triggers"). A schedule has looked at the criteria
 * when it chose the record.
 * @param record after the write; before it for a delete
 * @param before the write; `null` where no trigger of it asks what has changed
 * @param sentRelations names of the Relations that the write changed
 * @param principal with whose rights the trigger acts: what he may not see has no say
 * @throws fieldDenied, permissionDenied (119) where it would have; where the table no longer fits the definition: invalidTrigger (107) for a field of `changedFields` that is gone, what `criteriaOf` throws,
 *   classMissing (103); timeout, unavailable
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
  return trigger.criteria === null || underSchema(store, async () => matches(store, trigger, record, principal));
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
  const hidden = unseenIn(authorize(principal, 'get', table, schema));
  for (const name of changedFields) if (hidden.has(rootOf(name))) fail('fieldDenied', name, className);
  return changedFields
    .map((name) => fields.get(rootOf(name)) ?? fail('invalidTrigger', `changedFields names no field of ${className}: ${name}`))
    .some((field) => (field.type === 'Relation' ? sentRelations.includes(field.name) : differs(field, record, before)));
}

/** By the record after a write: which fields have changed. Many triggers ask of one, whose JSON may be long. */
const compared = new WeakMap<SnapshotRecord, { readonly before: SnapshotRecord; readonly fields: Map<Field, boolean> }>();

function differs(field: Field, record: SnapshotRecord, before: SnapshotRecord): boolean {
  let known = compared.get(record);
  if (known?.before !== before) {
    known = { before, fields: new Map() };
    compared.set(record, known);
  }
  let isOther = known.fields.get(field);
  if (isOther === undefined) {
    isOther = workingOff.spend(() => !isSame(field, record.valueOf(field), before.valueOf(field)));
    known.fields.set(field, isOther);
  }
  return isOther;
}

const tableOfRecord = ({ className }: SnapshotRecord, { tables }: Schema): TableSchema =>
  tables.get(className) ?? fail('classMissing', className);

/** JSON is the same where its content is, whatever the order of keys. */
function isSame(field: Field, one: StoredValue, other: StoredValue): boolean {
  if (one === other) return true;
  if (storageOf(field) !== 'json' || one === null || other === null) return false;
  return canonicalJson(JSON.parse(one as string)) === canonicalJson(JSON.parse(other as string));
}

async function matches(store: Store, trigger: Trigger, record: SnapshotRecord, principal: Principal): Promise<boolean> {
  const schema = store.schema();
  const table = tableOfRecord(record, schema);
  return workingOff.spend(() =>
    evaluate(
      criteriaOf(trigger, table, schema, principal),
      (field) => record.valueOf(field),
      (part) => (pointsInto(part, record) ?? asks(table, record.objectId, part))(store),
    ),
  );
}

/**
 * Whether a record that a caller may read meets a trigger's criteria as it is now, as far as he sees. What has changed is known of a write alone.
 * @throws what `criteriaAsSeenBy` throws where the table no longer fits them; classMissing (103); timeout, unavailable
 */
export async function meetsCriteria({ store, principal }: RecordContext, trigger: Trigger, objectId: string): Promise<boolean> {
  return underSchema(store, async (schema) => {
    const table = schema.tables.get(trigger.table) ?? fail('classMissing', trigger.table);
    return asks(table, objectId, criteriaAsSeenBy(principal, trigger, table, schema))(store);
  });
}

type Ask = (store: Store) => Promise<boolean>;

/** Whether the record, as it is now, matches. */
export const asks =
  (table: TableSchema, objectId: string, part: Filter): Ask =>
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

/** A Pointer of the record is asked for as it was, so that a record that is deleted meanwhile can match; `null` for other parts. */
function pointsInto(part: Filter, record: SnapshotRecord): Ask | null {
  if (part.kind !== 'inQuery' || part.ref.field.type !== 'Pointer') return null;
  const { table, filter, limit, skip } = part.target;
  if (limit !== undefined || skip) return null;
  const objectId = record.valueOf(part.ref.field);
  return objectId === null ? async () => false : asks(table, objectId as string, filter);
}
