import { grantFor, refuseOutright, visibilityOf } from '../../../access/index.ts';
import { fail, ServiceError } from '../../../errors/fail.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { refuseFormerName } from '../../../schema/former-names.ts';
import type { TableSchema, UniqueIndex } from '../../../schema/model.ts';
import { MAX_UNIQUE_FIELDS } from '../../../schema/unique-key.ts';
import type { RecordContext } from '../../context/context.ts';

/** Reads the names of the fields that records are found by. @throws invalidUpsert (107) */
export function readMatchOn(matchOn: JsonValue | undefined): string[] {
  if (!Array.isArray(matchOn) || matchOn.length === 0) return fail('invalidUpsert', 'matchOn must be an array of field names');
  if (matchOn.length > MAX_UNIQUE_FIELDS) return fail('invalidUpsert', `matchOn may have ${MAX_UNIQUE_FIELDS} fields`);
  for (const name of matchOn)
    if (typeof name !== 'string' || name.length > limits.nameLength)
      fail('invalidUpsert', 'matchOn must be an array of field names');
  return [...new Set(matchOn as string[])];
}

/** A table and its unique index. */
export interface Target {
  readonly table: TableSchema;
  readonly index: UniqueIndex;
}

/** Returns the unique index of these fields, also one that another process has just made. @throws as `targetOf` */
export async function currentTarget(context: RecordContext, className: string, names: readonly string[]): Promise<Target> {
  try {
    return targetOf(context, className, names);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.key !== 'noUniqueIndex') throw error;
    // Another process may have just made it.
    await context.store.keyVersions([className]);
    return targetOf(context, className, names);
  }
}

/** Returns the unique index of these fields. @throws noUniqueIndex (102), permissionDenied, fieldDenied (119) */
export function targetOf({ store, principal }: RecordContext, className: string, names: readonly string[]): Target {
  refuseOutright(principal, 'create', className);
  const schema = store.schema();
  const table = schema.tables.get(className);
  if (table) {
    if (!grantFor(principal, 'create', table, schema) && !grantFor(principal, 'update', table, schema))
      fail('permissionDenied', 'create', className);
    const { hiddenFields } = visibilityOf(principal, table);
    for (const name of names) {
      refuseFormerName(table, name, hiddenFields);
      if (hiddenFields.has(name)) fail('fieldDenied', name, className);
    }
  }
  const index = table && indexOf(table, names);
  return index ? { table, index } : fail('noUniqueIndex', className, names.join(', '), callFor(className, names, table));
}

/** Returns the unique index of these fields. The form that compares most loosely comes first: under it a record is one that all of them refuse. */
function indexOf({ uniqueIndexes }: TableSchema, names: readonly string[]): UniqueIndex | undefined {
  const wanted = new Set(names);
  const found = [...uniqueIndexes.values()].filter(
    ({ fields }) => fields.length === wanted.size && fields.every((name) => wanted.has(name)),
  );
  return found.find(({ as }) => as !== undefined) ?? found[0];
}

function callFor(className: string, names: readonly string[], table: TableSchema | undefined): string {
  const body = { uniqueIndexes: { [`by_${names.join('_')}`.slice(0, 100)]: { fields: names } } };
  return `${table ? 'PUT' : 'POST'} schemas/${className} ${JSON.stringify(body)}`;
}
