import { authorize, type Grant, type RowGuard } from '../access/index.ts';
import { fail, ServiceError } from '../errors/fail.ts';
import type { Field, FieldType, TableSchema } from '../schema/model.ts';
import { secretFieldsOf } from '../schema/system-tables.ts';
import type { Filter } from './model/filter.ts';
import { namesBelow, refuseFormerNames, resolveVisible } from './model/names.ts';
import type { Include, Selection } from './model/selection.ts';
import type { QueryScope } from './where/context.ts';
import { always, guardedFilter } from './where/index.ts';

/** Maximum number of levels of included records: each is a further read. */
export const MAX_LEVELS = 10;
/** Maximum number of places that one query may expand, `a.b` and `a.c` being three of them. */
export const MAX_PLACES = 500;
const expandable: ReadonlySet<FieldType> = new Set(['Pointer', 'Array']);
const none: readonly Include[] = [];

/** The shape of the records as a query requests it; names are relative to the table, dotted names reach into included records. */
export interface Shape {
  /** `null` for all fields. */
  readonly keys: readonly string[] | null;
  readonly excludeKeys: readonly string[];
  /** Whether `keys` names all that is shown besides objectId. */
  readonly keysAlone: boolean;
  readonly include: readonly string[];
}

/**
 * Builds the selection of a table's records: fields and expansions. Reference: queries.md#keys, queries.md#include.
 * @throws fieldDenied, invalidFieldName (105) for names of this table; badQuery for an include of too many levels or places
 */
export function selectionOf(shape: Shape, filter: Filter, grant: Grant, scope: QueryScope): Selection {
  return selected(shape, filter, grant, new Targets(scope));
}

function selected(shape: Shape, filter: Filter, grant: Grant, targets: Targets): Selection {
  refuseFormerNames(shape.excludeKeys, grant);
  const projection = projectFields(grant, shape.keys, shape.excludeKeys, shape.keysAlone);
  return { table: grant.table, ...projection, filter, includes: includesOf(shape, projection.fields, grant, targets) };
}

function includesOf(shape: Shape, fields: readonly Field[], grant: Grant, targets: Targets): readonly Include[] {
  const through = shape.keys?.filter((key) => key.includes('.')) ?? [];
  if (shape.include.length === 0 && through.length === 0) return none;
  const heads = new Set([...shape.include, ...through].map((name) => head(name, grant)));
  const wanted = heads.has('*') ? fields : fields.filter((field) => heads.has(field.name));
  return wanted
    .filter((field) => expandable.has(field.type))
    .map((field) => targets.include(field, shapeBelow(shape, field.name)));
}

/** Returns how many places a shape reaches into. @throws badQuery */
export function countPlaces({ include, keys }: Shape): number {
  const places = new Set<string>();
  const reach = (place: string) => {
    places.add(place);
    if (places.size > MAX_PLACES) fail('badQuery', `include and keys reach into more than ${MAX_PLACES} places`);
  };
  const add = (name: string) => {
    for (let end = name.indexOf('.'); end >= 0; end = name.indexOf('.', end + 1)) reach(name.slice(0, end));
  };
  for (const name of include) {
    reach(name);
    add(name);
  }
  for (const name of keys ?? []) add(name);
  return places.size;
}

function head(name: string, grant: Grant): string {
  const segments = name.split('.');
  if (segments.length > MAX_LEVELS) fail('badQuery', `include reaches deeper than ${MAX_LEVELS} levels`);
  const first = segments[0] as string;
  if (first !== '*') resolveVisible(first, grant);
  return first;
}

function shapeBelow(shape: Shape, name: string): Shape {
  const keys = shape.keys === null || shape.keys.includes(name) ? [] : namesBelow(shape.keys, name);
  return {
    keys: keys.length > 0 ? keys : null,
    excludeKeys: namesBelow(shape.excludeKeys, name),
    keysAlone: false,
    include: namesBelow(shape.include, name),
  };
}

/** Creates the selections of the records that one query includes. */
class Targets {
  readonly #scope: QueryScope;
  /** Selections of classes that are read whole, as most are: a table may have a thousand Pointers to one class. */
  readonly #whole = new Map<string, Selection | null>();

  constructor(scope: QueryScope) {
    this.#scope = scope;
  }

  /** Authorises the class of a Pointer now; that of an element of an Array when it is met, once per class. */
  include(field: Field, shape: Shape): Include {
    if (field.type === 'Pointer') return { field, target: this.#target(field.targetClass ?? '', shape) };
    const known = new Map<string, Selection | null>();
    return { field, targetOf: (className) => remembered(known, className, () => this.#target(className, shape)) };
  }

  #target(className: string, shape: Shape): Selection | null {
    const isWhole = shape.keys === null && shape.excludeKeys.length === 0 && shape.include.length === 0;
    const read = () => this.#readable(className, shape);
    return isWhole ? remembered(this.#whole, className, read) : read();
  }

  #readable(className: string, shape: Shape): Selection | null {
    const { schema, principal } = this.#scope;
    const table = schema.tables.get(className);
    if (!table) return null;
    try {
      const grant = authorize(principal, 'get', table, schema);
      return selected(shape, guardedFilter(grant, always), grant, this);
    } catch (error) {
      // The caller named a field of the included record by a former name.
      if (error instanceof ServiceError && error.key !== 'renamedField') return null;
      throw error;
    }
  }
}

function remembered<T>(known: Map<string, T>, key: string, make: () => T): T {
  let value = known.get(key);
  if (value === undefined) {
    value = make();
    known.set(key, value);
  }
  return value;
}

/** Shown whatever `keys` and `excludeKeys` say (queries.md#keys). */
const alwaysShown: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'ACL']);
/** The same, if `keys` names all that is shown. */
const shownAlone: ReadonlySet<string> = new Set(['objectId']);

/** The fields that a query reads of its own table. */
export type Projection = Pick<Selection, 'fields' | 'paths' | 'visibleIn'>;

/**
 * Applies `keys` and `excludeKeys`: objectId first, then fields in the schema's order. Unknown fields are ignored, hidden ones are left out;
 * fields hidden in some records come with the guard of the records that show them. A dotted name selects places inside an Object; through a
 * Pointer or Array it selects the field, and `include` narrows the record. Reference: queries.md#keys.
 * @param keys `null` for all
 * @param keysAlone see `Shape`
 * @throws fieldDenied for a field in `keys` that is hidden everywhere, invalidFieldName (105)
 */
export function projectFields(
  grant: Grant,
  keys: readonly string[] | null,
  excludeKeys: readonly string[],
  keysAlone = false,
): Projection {
  const whole = wholeProjection(grant);
  if (keys === null && excludeKeys.length === 0) return whole;
  const excluded = new Set(excludeKeys);
  const kept = (field: Field) => alwaysShown.has(field.name) || !excluded.has(field.name);
  if (keys === null) return project(whole.fields.filter(kept), grant);
  const { names, paths } = readKeys(keys, grant);
  const unnamed = keysAlone ? shownAlone : alwaysShown;
  const fields = whole.fields.filter(
    (field) => kept(field) && (unnamed.has(field.name) || names.has(field.name) || paths.has(field.name)),
  );
  for (const name of names) paths.delete(name);
  for (const name of excluded) paths.delete(name);
  return paths.size > 0 ? { ...project(fields, grant), paths } : project(fields, grant);
}

const wholeProjections = new WeakMap<TableSchema | Grant, Projection>();

/** Returns the projection of all visible fields; one shared object for all callers who see all fields except the secret ones. */
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
  const visibleIn = new Map<string, RowGuard>();
  for (const { name } of fields) {
    const rows = reveals.get(name);
    if (rows) visibleIn.set(name, rows);
  }
  return visibleIn.size > 0 ? { fields, visibleIn } : { fields };
}

function readKeys(keys: readonly string[], grant: Grant) {
  const names = new Set<string>();
  const paths = new Map<string, string[][]>();
  for (const key of keys) {
    const first = key.split('.', 1)[0] as string;
    const ref = resolveVisible(key, grant);
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
