import type { Reference, TableSchema } from './model.ts';
import { isGuarding } from './system-tables.ts';

/** Returns Pointer and Relation fields by target class, except Pointers of history (records.md#delete). */
export function referencesOf(tables: ReadonlyMap<string, TableSchema>): ReadonlyMap<string, readonly Reference[]> {
  const references = new Map<string, Reference[]>();
  for (const table of tables.values())
    for (const field of table.fields.values()) {
      if (field.targetClass === undefined) continue;
      if (field.type === 'Pointer' && !isGuarding(table.className, field.name)) continue;
      const known = references.get(field.targetClass);
      if (known) known.push({ table, field });
      else references.set(field.targetClass, [{ table, field }]);
    }
  return references;
}
