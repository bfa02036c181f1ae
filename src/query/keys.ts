import type { Grant, RowGuard } from '../access/index.ts';
import type { Field, TableSchema } from '../schema/model.ts';
import { secretFieldsOf } from '../schema/system-tables.ts';
import { resolveShown } from './model/names.ts';
import type { Selection } from './model/selection.ts';

/** Returned whatever `keys` and `excludeKeys` say. */
const alwaysShown: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'ACL']);

/** The fields that a query reads of its own table. */
export type Projection = Pick<Selection, 'fields' | 'paths' | 'shownIn'>;

/**
 * `keys` and `excludeKeys` (SPEC "Query"): which fields, objectId first, then in the schema's order. Unknown fields are passed over,
 * hidden ones are left out; those that are hidden in some records come with the condition under which they show. A dotted name selects
 * places inside an Object; through a Pointer or Array it selects the field, and `include` does the rest.
 * @param keys `null` for all
 * @throws fieldDenied for a field in `keys` that is hidden everywhere, invalidFieldName (105)
 */
export function projectFields(grant: Grant, keys: readonly string[] | null, excludeKeys: readonly string[]): Projection {
  const whole = wholeProjection(grant);
  if (keys === null && excludeKeys.length === 0) return whole;
  const excluded = new Set(excludeKeys);
  const kept = (field: Field) => alwaysShown.has(field.name) || !excluded.has(field.name);
  if (keys === null) return project(whole.fields.filter(kept), grant);
  const { names, paths } = readKeys(keys, grant);
  const fields = whole.fields.filter(
    (field) => kept(field) && (alwaysShown.has(field.name) || names.has(field.name) || paths.has(field.name)),
  );
  for (const name of names) paths.delete(name);
  for (const name of excluded) paths.delete(name);
  return paths.size > 0 ? { ...project(fields, grant), paths } : project(fields, grant);
}

const wholeProjections = new WeakMap<TableSchema | Grant, Projection>();

/** All that the caller may see: one object for all callers from whom nothing is hidden but what exists for nobody. */
function wholeProjection(grant: Grant): Projection {
  const { table, hiddenFields, reveals } = grant;
  const holder = hiddenFields === secretFieldsOf(table.className) ? table : grant;
  let whole = wholeProjections.get(holder);
  if (!whole) {
    const shown = ({ name }: Field) => !hiddenFields.has(name) || reveals.has(name);
    whole = project(fieldsOf(table).filter(shown), grant);
    wholeProjections.set(holder, whole);
  }
  return whole;
}

function project(fields: readonly Field[], { reveals }: Grant): Projection {
  if (reveals.size === 0) return { fields };
  const shownIn = new Map<string, RowGuard>();
  for (const { name } of fields) {
    const rows = reveals.get(name);
    if (rows) shownIn.set(name, rows);
  }
  return shownIn.size > 0 ? { fields, shownIn } : { fields };
}

function readKeys(keys: readonly string[], grant: Grant) {
  const names = new Set<string>();
  const paths = new Map<string, string[][]>();
  for (const key of keys) {
    const first = key.split('.', 1)[0] as string;
    const ref = resolveShown(key, grant);
    const field = grant.table.fields.get(first);
    if (ref?.field.type === 'Object' && ref.path.length > 0) {
      const known = paths.get(first);
      if (known) known.push([...ref.path]);
      else paths.set(first, [[...ref.path]]);
    } else if (ref || field?.type === 'Pointer') {
      names.add(first);
    }
  }
  return { names, paths };
}

function fieldsOf(table: TableSchema): readonly Field[] {
  const all = [...table.fields.values()];
  return [...all.filter((field) => field.name === 'objectId'), ...all.filter((field) => field.name !== 'objectId')];
}
