import type { Grant, RowGuard } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { checkFieldName, type Field, type FieldType, forbiddenKeys, rootOf, type TableSchema } from '../schema/model.ts';
import { secretFieldsOf } from '../schema/system-tables.ts';
import type { FieldRef } from './filter.ts';
import type { Selection } from './selection.ts';

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

const nested: ReadonlySet<FieldType> = new Set(['Object', 'Array', 'File', 'PrivateFile']);
const wholeField: readonly string[] = [];

/**
 * What a name of a query stands for. The only place, with `resolveShown`, where query names meet the schema and the caller's hidden fields.
 * @param name a field name, or a dotted place inside an Object, Array or File field
 * @returns `null` for a name that no record has: an unknown field, or a place in a field that has none inside
 * @throws fieldDenied for a hidden field, invalidFieldName (105) for an ill-formed name
 */
export function resolveName(name: string, grant: Grant): FieldRef | null {
  if (grant.hiddenFields.has(rootOf(name))) fail('fieldDenied', name, grant.table.className);
  return find(name, grant);
}

/** The same for a name that is to be shown, not asked about: a hidden field counts where some records show it (`Grant.reveals`). */
export function resolveShown(name: string, grant: Grant): FieldRef | null {
  return grant.reveals.has(rootOf(name)) ? find(name, grant) : resolveName(name, grant);
}

function find(name: string, grant: Grant): FieldRef | null {
  const dot = name.indexOf('.');
  const first = rootOf(name);
  const field = grant.table.fields.get(first);
  if (!field) checkFieldName(first);
  if (dot < 0) return field ? { field, path: wholeField } : null;
  const path = name.slice(dot + 1).split('.');
  if (path.length > limits.jsonDepth || path.some(isBadSegment)) fail('invalidFieldName', name.slice(0, limits.nameLength));
  return field && nested.has(field.type) ? { field, path } : null;
}

const isBadSegment = (segment: string) =>
  segment === '' || segment.length > limits.nameLength || segment.startsWith('$') || forbiddenKeys.has(segment);

const maxNames = 2_000;
/** Characters of one list: more than the names of all columns of a table. */
const maxLength = 256 * 1024;
const empty: readonly string[] = [];

/**
 * The names of a comma list, each once; empty ones are passed over. A body may bring an array of names instead.
 * @param parameter its name, for the text of the error
 * @throws badParameterValue (102)
 */
export function splitNames(parameter: string, value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === '') return empty;
  const parts = typeof value === 'string' ? value.split(',', maxNames + 1) : value;
  if (!Array.isArray(parts) || parts.length > maxNames) fail('badParameterValue', parameter, 'should be a comma list of names');
  const names = new Set<string>();
  let length = 0;
  for (const part of parts) {
    if (typeof part !== 'string') fail('badParameterValue', parameter, 'should be a comma list of names');
    length += part.length;
    if (length > maxLength) fail('badParameterValue', parameter, `should have at most ${maxLength} characters`);
    const name = part.trim();
    if (name !== '') names.add(name);
  }
  return [...names];
}

/** What the names say of places below one of them: `a.b,a.c,d` below `a` is `b,c`. */
export function namesBelow(names: readonly string[], name: string): string[] {
  const prefix = `${name}.`;
  return names.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
}
