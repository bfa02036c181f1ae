import { fail } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { SchemaChange } from './change.ts';
import type { TableSchema } from './model.ts';

type Named = Pick<TableSchema, 'fields' | 'formerNames'>;

/** Returns the present name of a field: for a former name that of the renamed field, for all others the name itself. */
export function presentName({ fields, formerNames }: Named, name: string): string {
  return fields.has(name) ? name : (formerNames.get(name) ?? name);
}

/**
 * Returns the name by which a record holds a field: its present name, or a former one if the record was read before the field was renamed.
 * @param record by field name, in wire form
 * @param present the present name
 */
export function nameIn(record: JsonObject, { formerNames }: Pick<Named, 'formerNames'>, present: string): string {
  if (Object.hasOwn(record, present)) return present;
  for (const [former, to] of formerNames) if (to === present && Object.hasOwn(record, former)) return former;
  return present;
}

/** Returns the former names of a table without some of them. */
export function withoutFormer(
  { formerNames }: Pick<TableSchema, 'formerNames'>,
  isGone: (former: string, name: string) => boolean,
): ReadonlyMap<string, string> {
  if (formerNames.size === 0) return formerNames;
  return new Map([...formerNames].filter(([former, name]) => !isGone(former, name)));
}

/** Returns the change of the former names of a table whose fields, now of their new names, were renamed. */
export function recordRenames(
  { className, fields, formerNames, loggedNames }: TableSchema,
  renames: ReadonlyMap<string, string>,
): Extract<SchemaChange, { kind: 'setFormerNames' }> {
  const names = [...new Map([...formerNames, ...renames])].filter(([former]) => !fields.has(former));
  const logged = new Map(loggedNames);
  for (const [name, to] of renames) {
    const all = new Set([name, ...(loggedNames.get(name) ?? []), ...(loggedNames.get(to) ?? [])]);
    all.delete(to);
    logged.delete(name);
    logged.set(to, [...all]);
  }
  return { kind: 'setFormerNames', className, names, logged: [...logged] };
}

/**
 * Refuses the former name of a field. A caller from whom the field is hidden does not learn its name.
 * Reference: schemas.md#rename-a-field.
 * @throws renamedField, invalidFieldName (105)
 */
export function refuseFormerName({ fields, formerNames }: Named, name: string, hidden: ReadonlySet<string>): void {
  if (formerNames.size === 0 || fields.has(name)) return;
  const present = formerNames.get(name);
  if (present === undefined) return;
  if (hidden.has(present)) fail('invalidFieldName', name);
  fail('renamedField', name, present);
}
