import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import type { Include, Selection } from '../../query/model/selection.ts';
import type { Field, FieldType } from '../../schema/model.ts';

/** A column of CSV. */
export interface Column {
  /** Name of a field, or dotted path into an Object or through a Pointer. */
  readonly name: string;
  /** Type of the values; `null` if it varies. */
  readonly type: FieldType | null;
}

/** These come first; the others follow in schema order. */
const first = ['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'ACL'];

/**
 * Returns the columns of an export: those of `keys` in their order, or all visible fields except Relations, which have no value of their own; then
 * those of
 * `include`: for a dotted name that column, for a Pointer all fields of its table. Reference: export.md#formats.
 * @param selection visible fields of the table, with the Pointers to expand
 * @throws badParameterValue (102) for a name that cannot be a column
 */
export function columnsOf(selection: Selection, keys: readonly string[], include: readonly string[]): readonly Column[] {
  const columns = new Map<string, Column>();
  const add = (name: string, parameter: string) => columns.set(name, columns.get(name) ?? columnOf(selection, name, parameter));
  if (keys.length === 0) for (const name of inOrder(selection.fields)) add(name, 'keys');
  for (const name of keys) add(name, 'keys');
  for (const name of include)
    if (name.includes('.')) add(name, 'include');
    else
      for (const [below, target] of expanded(selection, name)) for (const column of target) add(`${below}.${column}`, 'include');
  return [...columns.values()];
}

/**
 * Returns the keys to read for the columns. A Pointer that is expanded in part is replaced by these parts.
 * @param columns as from `columnsOf`
 */
export function keysOf(columns: readonly Column[]): readonly string[] {
  return columns.map(({ name }) => name).filter((name) => !columns.some((other) => other.name.startsWith(`${name}.`)));
}

function inOrder(fields: readonly Field[]): readonly string[] {
  const names = fields.filter(({ type }) => type !== 'Relation').map(({ name }) => name);
  return [...first.filter((name) => names.includes(name)), ...names.filter((name) => !first.includes(name))];
}

function columnOf(selection: Selection, name: string, parameter: string): Column {
  const refuse = (why: string): never => fail('badParameterValue', parameter, why);
  let from = selection;
  let path = name.split('.');
  for (;;) {
    const [head = '', ...rest] = path;
    const field = from.fields.find((one) => one.name === head);
    if (!field) return refuse(`${from.table.className} has no field ${head.slice(0, limits.nameLength)}`);
    if (field.type === 'Relation') return refuse(`${head} is a Relation, which csv has no form of`);
    if (rest.length === 0) return { name, type: field.type };
    if (field.type === 'Object') return { name, type: null };
    if (field.type !== 'Pointer') return refuse(`${head} is neither a Pointer nor an Object`);
    const target = targetOf(from, field);
    // The caller may not read the records of the target table.
    if (!target) return { name, type: null };
    from = target;
    path = rest;
  }
}

/** Returns the Pointers that a name of `include` stands for, each with the visible fields of its target. */
function expanded(selection: Selection, name: string): ReadonlyArray<readonly [string, readonly string[]]> {
  const fields = selection.fields.filter((field) => field.name === name || name === '*');
  if (fields.length === 0 && name !== '*') columnOf(selection, name, 'include');
  return fields.map((field) => [
    field.name,
    inOrder(targetOf(selection, field)?.fields ?? []).filter((one) => one !== 'objectId'),
  ]);
}

function targetOf(selection: Selection, field: Field): Selection | null {
  const include = selection.includes.find((one: Include) => one.field.name === field.name);
  return include && 'target' in include ? include.target : null;
}
