import { type ServiceError, serviceError } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { similarTo } from '../../../kernel/similar.ts';
import { type CheckedRecords, checkRecords, type NamedRecord, type RecordFault } from '../../../records/index.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { isHidden } from '../../../schema/system-tables.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { advise } from '../../errors/advice.ts';
import { describeError } from '../../errors/describe.ts';
import { bytesOf } from '../answers/bytes.ts';
import { headOf, LIST_BYTES } from '../answers/page.ts';
import { type Ids, presentIds } from '../reading/present.ts';
import { tableIfAny } from '../reading/tables.ts';
import { fieldText, newFields } from './added.ts';
import { strangersIn } from './multi-select.ts';

/** A record may bring more new fields than an answer holds. */
const MOST_ADDS = 100;

/** What is wrong with a field, or with a record as a whole. */
type Fault = JsonObject & { code: number; error: string };

/** What is to be told: a fault, or a Pointer to a record that is not there. */
type Found = RecordFault | NamedRecord;

/** The name that is perhaps meant. */
type Suggest = (name: string) => string | undefined;

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
  const suggest = suggesterOf(known);
  const taken = new Set<string>();
  const faults = checked.records.map(({ faults: wrong, pointers, objectId }, index): Found[] => {
    const strangers = strangersIn(checked.table, data[index] ?? {});
    const isTaken = objectId !== undefined && (ids.present.get(className)?.has(objectId) || taken.has(objectId));
    if (objectId !== undefined) taken.add(objectId);
    return [
      ...wrong,
      ...(isTaken ? [{ field: 'objectId', error: serviceError('duplicateValue') }] : []),
      ...[...strangers].map(([field, error]) => ({ field, error })),
      ...pointers.filter((one) => !strangers.has(one.field) && dangles(one, ids)),
    ];
  });
  const wrong = faults.flatMap((found, index) => (found.length > 0 ? [{ index, faults: found }] : []));
  const adds = addsOf(before, checked.table, suggest);
  return {
    checked: data.length,
    valid: data.length - wrong.length,
    ...headOf(toldOf(wrong, suggest), wrong.length, undefined, LIST_BYTES),
    ...(adds.length > 0 && { adds }),
    ...(checked.refusal && { refused: checked.refusal.message }),
    ...(ids.hidden.length > 0 && { hidden: [...ids.hidden] }),
    ...(!isRuled && { hint: 'Names and passwords of users are checked when they are written.' }),
  };
}

/** As many of the wrong records as an answer takes, and a part of the next: a body may hold far more, and to tell each takes its time. */
function toldOf(wrong: readonly { readonly index: number; readonly faults: readonly Found[] }[], suggest: Suggest): JsonObject[] {
  const told: JsonObject[] = [];
  let left = LIST_BYTES;
  for (const { index, faults } of wrong) {
    if (left < 0) break;
    const some: Fault[] = [];
    for (const found of faults) {
      if (left < 0) break;
      const fault = 'error' in found ? shown(found.field, suggesting(found, suggest)) : dangling(found);
      left -= bytesOf(fault);
      some.push(fault);
    }
    told.push({ index, faults: some });
  }
  return told;
}

const shown = (field: string | undefined, error: ServiceError): Fault => ({
  ...(field !== undefined && { field }),
  ...describeError(error),
});

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
function dangles({ className, objectId }: NamedRecord, { present, hidden }: Awaited<ReturnType<typeof presentIds>>): boolean {
  if (hidden.includes(className) || present.get(className)?.has(objectId)) return false;
  // Of tables that exist for nobody, and of the dummy user of keys, there is nothing to say.
  return !isHidden(className) && !(className === '_User' && objectId === 'master');
}

function dangling({ field, className, objectId }: NamedRecord): Fault {
  const error = advise(serviceError('objectNotFound'), {
    expected: `There is no ${className} with the objectId ${objectId.slice(0, 100)}, or you may not see it`,
    next: 'Get-Lookup-Values',
  });
  return shown(field, error);
}

/** Many records have the same wrong name. */
function suggesterOf(known: readonly string[]): Suggest {
  const meant = new Map<string, string | undefined>();
  return (name) => {
    if (!meant.has(name)) meant.set(name, similarTo(name, known));
    return meant.get(name);
  };
}

/** A refusal to add a field is told with the field that is meant. */
function suggesting({ error, field }: RecordFault, suggest: Suggest): ServiceError {
  if (field === undefined || error.key !== 'permissionDenied') return error;
  const meant = suggest(field);
  const expected = `There is no field ${field}${meant === undefined ? '' : `; is ${meant} meant?`}`;
  return advise(error, { expected, next: 'Get-Schema' });
}

function addsOf(before: TableSchema | undefined, after: TableSchema, suggest: Suggest): string[] {
  const added = newFields(before, after).slice(0, MOST_ADDS);
  const told = added.map((field) => {
    const meant = suggest(field.name);
    return `${fieldText(field)}${meant === undefined ? '' : `; is ${meant} meant?`}`;
  });
  return (before ? told : [`table ${after.className}`, ...told]).slice(0, MOST_ADDS);
}
