import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuseFormerName } from '../../schema/former-names.ts';
import { checkFieldName, type Field, type FieldType, forbiddenKeys, rootOf, type TableSchema } from '../../schema/model.ts';
import type { FieldRef } from './filter.ts';
import type { FindOptions } from './options.ts';

const nested: ReadonlySet<FieldType> = new Set(['Object', 'Array', 'File', 'PrivateFile']);

const wholeField: readonly string[] = [];

/**
 * Resolves a name of a query. Together with `resolveVisible` the only place where query names meet the schema and the caller's hidden fields.
 * @param name a field name, or a dotted place inside an Object, Array or File field
 * @returns `null` for a name that no record has: an unknown field, or a place in a field that has none inside
 * @throws fieldDenied for a hidden field; invalidFieldName (105) for an ill-formed name, renamedField (105) for a former one
 */
export function resolveName(name: string, grant: Grant): FieldRef | null {
  if (grant.hiddenFields.has(rootOf(name))) fail('fieldDenied', name, grant.table.className);
  return find(name, grant);
}

/**
 * Returns the Pointer that a dotted name leads through, and the name that is left behind it; `null` for any other name. `resolveName` returns `null`
 * for such a name, and has checked its form. Reference: queries.md#names-through-pointers.
 */
export function pointerAt(name: string, { fields }: TableSchema): { readonly pointer: Field; readonly rest: string } | null {
  const dot = name.indexOf('.');
  const pointer = dot < 0 ? undefined : fields.get(name.slice(0, dot));
  return pointer?.type === 'Pointer' ? { pointer, rest: name.slice(dot + 1) } : null;
}

/** Resolves a name that is to be shown, not queried: a hidden field counts if some records show it (`Grant.reveals`). */
export function resolveVisible(name: string, grant: Grant): FieldRef | null {
  return grant.reveals.has(rootOf(name)) ? find(name, grant) : resolveName(name, grant);
}

function find(name: string, grant: Grant): FieldRef | null {
  const dot = name.indexOf('.');
  const first = rootOf(name);
  const field = grant.table.fields.get(first);
  if (!field) {
    refuseFormerName(grant.table, first, unnamed(grant));
    checkFieldName(first);
  }
  if (dot < 0) return field ? { field, path: wholeField } : null;
  const path = name.slice(dot + 1).split('.');
  if (path.length > limits.jsonDepth || path.some(isBadSegment)) fail('invalidFieldName', name.slice(0, limits.nameLength));
  return field && nested.has(field.type) ? { field, path } : null;
}

/** The fields whose names a caller must not learn: those that no record shows. */
const unnamed = ({ hiddenFields, reveals }: Grant): ReadonlySet<string> =>
  reveals.size === 0 ? hiddenFields : hiddenFields.difference(new Set(reveals.keys()));

/** Refuses former names of fields in a list that is otherwise ignored. @throws renamedField, invalidFieldName (105) */
export function refuseFormerNames(names: readonly string[], grant: Grant): void {
  if (grant.table.formerNames.size === 0) return;
  for (const name of names) refuseFormerName(grant.table, rootOf(name), unnamed(grant));
}

const isBadSegment = (segment: string) =>
  segment === '' || segment.length > limits.nameLength || segment.startsWith('$') || forbiddenKeys.has(segment);

export const MAX_NAMES = 2_000;

/** Maximum number of characters of one list: more than the names of all columns of a table. */
export const MAX_LIST_CHARACTERS = 256 * 1024;

const empty: readonly string[] = [];

/**
 * Splits a comma list into its names, each once; empty ones are ignored. A body may bring an array of names instead.
 * @param parameter its name, for the text of the error
 * @throws badParameterValue (102)
 */
export function splitNames(parameter: string, value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === '') return empty;
  const parts = typeof value === 'string' ? value.split(',', MAX_NAMES + 1) : value;
  if (!Array.isArray(parts) || parts.length > MAX_NAMES) fail('badParameterValue', parameter, 'should be a comma list of names');
  const names = new Set<string>();
  let length = 0;
  for (const part of parts) {
    if (typeof part !== 'string') fail('badParameterValue', parameter, 'should be a comma list of names');
    length += part.length;
    if (length > MAX_LIST_CHARACTERS)
      fail('badParameterValue', parameter, `should have at most ${MAX_LIST_CHARACTERS} characters`);
    const name = part.trim();
    if (name !== '') names.add(name);
  }
  return [...names];
}

/** The options of a query whose lists of names are not yet split and checked. */
export interface UnsplitOptions extends Pick<FindOptions, 'where' | 'within' | 'limit' | 'skip' | 'stride' | 'keysAlone'> {
  readonly keys?: readonly string[] | undefined;
  readonly include?: readonly string[] | undefined;
  readonly order?: string | undefined;
}

/**
 * Options of a query that split their lists of names when each is read, so that of several errors the first in the order of the core is
 * reported. The getters throw badParameterValue (102).
 */
export class SplitOptions implements FindOptions {
  readonly where: FindOptions['where'];
  readonly within: FindOptions['within'];
  readonly limit: FindOptions['limit'];
  readonly skip: FindOptions['skip'];
  readonly stride: FindOptions['stride'];
  readonly keysAlone: FindOptions['keysAlone'];
  readonly #unsplit: UnsplitOptions;

  constructor(unsplit: UnsplitOptions) {
    this.where = unsplit.where;
    this.within = unsplit.within;
    this.limit = unsplit.limit;
    this.skip = unsplit.skip;
    this.stride = unsplit.stride;
    this.keysAlone = unsplit.keysAlone;
    this.#unsplit = unsplit;
  }

  get keys(): readonly string[] {
    return splitNames('keys', this.#unsplit.keys?.join());
  }

  get include(): readonly string[] {
    return splitNames('include', this.#unsplit.include?.join());
  }

  get order(): readonly string[] {
    return splitNames('order', this.#unsplit.order);
  }
}

/** Returns the names below one of them: of `a.b,a.c,d` below `a`, `b,c`. */
export function namesBelow(names: readonly string[], name: string): string[] {
  const prefix = `${name}.`;
  return names.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
}
