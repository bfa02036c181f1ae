import { type ServiceError, serviceError } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type CheckedRecords, checkRecords, type NamedRecord } from '../../../records/index.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { isHidden } from '../../../schema/system-tables.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { advise } from '../../errors/advice.ts';
import { describeError } from '../../errors/describe.ts';
import { oneMore, pageOf } from '../answers/page.ts';
import { type Ids, presentIds } from '../reading/present.ts';
import { tableIfAny } from '../reading/tables.ts';
import { similarTo } from '../schema/similar.ts';
import { fieldText, newFields } from './added.ts';
import { strangersIn } from './multi-select.ts';

/** A record may bring more new fields than an answer holds. */
const MOST_ADDS = 100;

/** What is wrong with a field, or with a record as a whole. */
type Fault = JsonObject & { code: number; error: string };

/**
 * Checks records to be, and writes nothing: fields, types, Pointers to records that are not there, ids that are taken.
 * @returns the records that something is wrong with, by their places, and what creating them would add
 * @throws what `checkRecords` throws
 */
export async function validate(call: ToolCall, className: string, data: readonly JsonObject[]): Promise<JsonObject> {
  const before = tableIfAny(call, className);
  // The rules of users hash passwords, which takes its time.
  const isRuled = className !== '_User';
  const checked = await checkRecords(call.context, className, data, isRuled);
  const ids = await presentIds(call, idsIn(checked, className));
  const known = [...(before?.fields.keys() ?? [])].filter((name) => !checked.hiddenFields.has(name));
  const taken = new Set<string>();
  const faults = checked.records.map(({ faults: wrong, pointers, objectId }, index): Fault[] => {
    const strangers = strangersIn(checked.table, data[index] ?? {});
    const isTaken = objectId !== undefined && (ids.present.get(className)?.has(objectId) || taken.has(objectId));
    if (objectId !== undefined) taken.add(objectId);
    return [
      ...wrong.map(({ field, error }) => shown(field, { ...describeError(suggesting(error, field, known)) })),
      ...(isTaken ? [shown('objectId', { ...describeError(serviceError('duplicateValue')) })] : []),
      ...[...strangers].map(([field, error]) => shown(field, { ...describeError(error) })),
      ...pointers.filter(({ field }) => !strangers.has(field)).flatMap((pointer) => dangling(pointer, ids)),
    ];
  });
  const wrong = faults.flatMap((found, index) => (found.length > 0 ? [{ index, faults: found }] : []));
  const adds = addsOf(before, checked.table, known);
  const { results, truncated } = pageOf(wrong, { limit: oneMore(wrong.length) });
  return {
    checked: data.length,
    valid: data.length - wrong.length,
    results,
    ...(truncated === true && { truncated }),
    ...(adds.length > 0 && { adds: adds.slice(0, MOST_ADDS) }),
    ...(checked.refusal && { refused: checked.refusal.message }),
    ...(ids.hidden.length > 0 && { hidden: [...ids.hidden] }),
    ...(!isRuled && { hint: 'Names and passwords of users are checked when they are written.' }),
  };
}

const shown = (field: string | undefined, error: JsonObject): Fault =>
  ({ ...(field !== undefined && { field }), ...error }) as Fault;

function idsIn({ records }: CheckedRecords, className: string): Ids {
  const ids = new Map<string, Set<string>>();
  const add = (table: string, id: string) => ids.set(table, (ids.get(table) ?? new Set()).add(id));
  for (const { pointers, objectId } of records) {
    for (const pointer of pointers) add(pointer.className, pointer.objectId);
    if (objectId !== undefined) add(className, objectId);
  }
  return ids;
}

/** A Pointer to no record is stored as it is (SPEC "Server-side functions"), so that nobody would hear of it else. */
function dangling(
  { field, className, objectId }: NamedRecord,
  { present, hidden }: Awaited<ReturnType<typeof presentIds>>,
): Fault[] {
  if (hidden.includes(className) || present.get(className)?.has(objectId)) return [];
  // Of tables that exist for nobody, and of the dummy user of keys, there is nothing to say.
  if (isHidden(className) || (className === '_User' && objectId === 'master')) return [];
  const error = advise(serviceError('objectNotFound'), {
    expected: `There is no ${className} with the objectId ${objectId.slice(0, 100)}, or you may not see it`,
    next: 'Get-Lookup-Values',
  });
  return [shown(field, { ...describeError(error) })];
}

/** A refusal to add a field is told with the field that is meant. */
function suggesting(error: ServiceError, field: string | undefined, known: readonly string[]): ServiceError {
  if (field === undefined || error.key !== 'permissionDenied') return error;
  const meant = similarTo(field, known);
  const expected = `There is no field ${field}${meant === undefined ? '' : `; is ${meant} meant?`}`;
  return advise(error, { expected, next: 'Get-Schema' });
}

function addsOf(before: TableSchema | undefined, after: TableSchema, known: readonly string[]): string[] {
  const told = newFields(before, after).map((field) => {
    const meant = similarTo(field.name, known);
    return `${fieldText(field)}${meant === undefined ? '' : `; is ${meant} meant?`}`;
  });
  return before ? told : [`table ${after.className}`, ...told];
}
