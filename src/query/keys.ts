import type { Grant } from '../access/index.ts';
import type { Field, TableSchema } from '../schema/model.ts';
import { resolveName } from './names.ts';

/** Returned whatever `keys` and `excludeKeys` say. */
const alwaysShown: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'ACL']);

/** The fields that a query reads of its own table. */
export interface Projection {
  readonly fields: readonly Field[];
  readonly paths?: ReadonlyMap<string, readonly (readonly string[])[]>;
}

const wholeTables = new WeakMap<TableSchema, readonly Field[]>();

/**
 * `keys` and `excludeKeys` (SPEC "Query"): which fields, objectId first, then in the schema's order. Unknown fields are passed over,
 * hidden ones are left out. A dotted name selects places inside an Object; through a Pointer or Array it selects the field, and `include`
 * does the rest.
 * @param keys `null` for all
 * @throws fieldDenied for a hidden field in `keys`, invalidFieldName (105)
 */
export function projectFields(grant: Grant, keys: readonly string[] | null, excludeKeys: readonly string[]): Projection {
  const all = fieldsOf(grant.table);
  if (keys === null && excludeKeys.length === 0 && grant.hiddenFields.size === 0) return { fields: all };
  const excluded = new Set(excludeKeys);
  const shown = (field: Field) =>
    alwaysShown.has(field.name) || !(grant.hiddenFields.has(field.name) || excluded.has(field.name));
  if (keys === null) return { fields: all.filter(shown) };
  const { whole, paths } = readKeys(keys, grant);
  const fields = all.filter(
    (field) => shown(field) && (alwaysShown.has(field.name) || whole.has(field.name) || paths.has(field.name)),
  );
  for (const name of whole) paths.delete(name);
  for (const name of excluded) paths.delete(name);
  return paths.size > 0 ? { fields, paths } : { fields };
}

function readKeys(keys: readonly string[], grant: Grant) {
  const whole = new Set<string>();
  const paths = new Map<string, string[][]>();
  for (const key of keys) {
    const first = key.split('.', 1)[0] as string;
    const ref = resolveName(key, grant);
    const field = grant.table.fields.get(first);
    if (ref?.field.type === 'Object' && ref.path.length > 0) {
      const known = paths.get(first);
      if (known) known.push([...ref.path]);
      else paths.set(first, [[...ref.path]]);
    } else if (ref || field?.type === 'Pointer') {
      whole.add(first);
    }
  }
  return { whole, paths };
}

function fieldsOf(table: TableSchema): readonly Field[] {
  let fields = wholeTables.get(table);
  if (!fields) {
    const all = [...table.fields.values()];
    fields = [...all.filter((field) => field.name === 'objectId'), ...all.filter((field) => field.name !== 'objectId')];
    wholeTables.set(table, fields);
  }
  return fields;
}
