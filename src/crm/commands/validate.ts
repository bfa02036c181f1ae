import { type ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { similarTo } from '../../kernel/similar.ts';
import { type CheckedRecords, checkRecords, type NamedRecord, type RecordFault } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { isHidden } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { type Ids, presentIds } from '../queries/existing-ids.ts';
import { tableIfAny } from '../queries/records.ts';
import { advise } from '../refusals.ts';
import { foreignElementsIn } from '../wire/multi-select.ts';
import { fieldText, newFields } from './schema-additions.ts';

/** Maximum number of added fields listed; a record may bring more. */
const MAX_ADDS = 100;

/** A fault of a record: an error, or a Pointer to a record that does not exist. */
type Found = RecordFault | NamedRecord;

/** Returns the existing name that was probably meant. */
type Suggest = (name: string) => string | undefined;

/** Result of validating new records. */
export interface Validation {
  /** Faulty records by index. */
  readonly wrong: readonly { readonly index: number; readonly faults: readonly Found[] }[];
  /** What creating the records would add to the schema. */
  readonly adds: readonly string[];
  readonly refusal: ServiceError | null;
  /** Tables in which the caller may not find: Pointers to them were not looked up. */
  readonly hidden: readonly string[];
  /** Whether the table's own rules were applied. */
  readonly isRuled: boolean;
  readonly errorOf: (found: Found) => RecordFault;
}

/**
 * Validates new records without writing: fields, types, Pointers to records that do not exist, ids that are taken.
 * @throws what `checkRecords` throws
 */
export async function validate(context: CrmContext, className: string, data: readonly JsonObject[]): Promise<Validation> {
  const before = tableIfAny(context, className);
  // The rules of `_User` hash passwords, which is slow.
  const isRuled = className !== '_User';
  const checked = await checkRecords(context, className, data, isRuled);
  const ids = await presentIds(context, idsIn(checked, className));
  const known = [...(before?.fields.keys() ?? [])].filter((name) => !checked.hiddenFields.has(name));
  const suggest = suggesterOf(known);
  const taken = new Set<string>();
  const faults = checked.records.map(({ faults: wrong, pointers, objectId }, index): Found[] => {
    const foreign = foreignElementsIn(checked.table, data[index] ?? {});
    const isTaken = objectId !== undefined && (ids.present.get(className)?.has(objectId) || taken.has(objectId));
    if (objectId !== undefined) taken.add(objectId);
    return [
      ...wrong,
      ...(isTaken ? [{ field: 'objectId', error: serviceError('duplicateValue') }] : []),
      ...[...foreign].map(([field, error]) => ({ field, error })),
      ...pointers.filter((one) => !foreign.has(one.field) && dangles(one, ids)),
    ];
  });
  const wrong = faults.flatMap((found, index) => (found.length > 0 ? [{ index, faults: found }] : []));
  return {
    wrong,
    adds: addsOf(before, checked.table, suggest),
    refusal: checked.refusal,
    hidden: ids.hidden,
    isRuled,
    errorOf: (found) => ('error' in found ? { ...found, error: suggesting(found, suggest) } : dangling(found)),
  };
}

function idsIn({ records }: CheckedRecords, className: string): Ids {
  const ids = new Map<string, Set<string>>();
  const add = (table: string, id: string) => ids.set(table, (ids.get(table) ?? new Set()).add(id));
  for (const { pointers, objectId } of records) {
    for (const pointer of pointers) add(pointer.className, pointer.objectId);
    if (objectId !== undefined) add(className, objectId);
  }
  return ids;
}

/** Whether a Pointer leads to no record. It would be stored as it is (types.md#pointer), so nothing else would report it. */
function dangles({ className, objectId }: NamedRecord, { present, hidden }: Awaited<ReturnType<typeof presentIds>>): boolean {
  if (hidden.includes(className) || present.get(className)?.has(objectId)) return false;
  // Hidden tables cannot be looked up, and `master` is the pseudo user of keys.
  return !isHidden(className) && !(className === '_User' && objectId === 'master');
}

function dangling({ field, className, objectId }: NamedRecord): RecordFault {
  const error = advise(serviceError('objectNotFound'), {
    expected: `There is no ${className} with the objectId ${objectId.slice(0, 100)}, or you may not see it`,
    next: 'Get-Lookup-Values',
  });
  return { field, error };
}

/** Memoised: many records have the same wrong name. */
function suggesterOf(known: readonly string[]): Suggest {
  const meant = new Map<string, string | undefined>();
  return (name) => {
    if (!meant.has(name)) meant.set(name, similarTo(name, known));
    return meant.get(name);
  };
}

/** Adds the name that was probably meant to a refusal to add a field. */
function suggesting({ error, field }: RecordFault, suggest: Suggest): ServiceError {
  if (field === undefined || error.key !== 'permissionDenied') return error;
  const meant = suggest(field);
  const expected = `There is no field ${field}${meant === undefined ? '' : `; is ${meant} meant?`}`;
  return advise(error, { expected, next: 'Get-Schema' });
}

function addsOf(before: TableSchema | undefined, after: TableSchema, suggest: Suggest): string[] {
  const added = newFields(before, after).slice(0, MAX_ADDS);
  const lines = added.map((field) => {
    const meant = suggest(field.name);
    return `${fieldText(field)}${meant === undefined ? '' : `; is ${meant} meant?`}`;
  });
  return (before ? lines : [`table ${after.className}`, ...lines]).slice(0, MAX_ADDS);
}
