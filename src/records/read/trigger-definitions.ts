import type { Grant } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { guardedFilter } from '../../query/index.ts';
import type { Schema } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import { storageOf } from '../../values/index.ts';
import { readRows } from './system-reads.ts';

/** What of a trigger's row its definition is (SPEC "Schema record": triggers). */
export const definitionFields: readonly string[] = [
  ...['objectId', 'Name', 'table', 'events', 'criteria', 'changedFields', 'schedule', 'actions', 'Active'],
  ...['nextRun', 'lastRun'],
];

/**
 * The triggers of a table as they are stored, in the order of creation, those too that are switched off (SPEC "Schema record": triggers).
 * @param grant of `_Trigger`: what the caller may find of them
 */
export async function readDefinitions(store: Store, className: string, grant: Grant): Promise<JsonObject[]> {
  const rows = await readRows<JsonObject>(store, {
    className: '_Trigger',
    fields: definitionFields.filter((name) => !grant.hiddenFields.has(name)),
    filter(triggers) {
      const field = triggers.fields.get('table');
      if (!field || storageOf(field) !== 'text' || grant.hiddenFields.has(field.name)) return null;
      return guardedFilter(grant, { kind: 'compare', field, op: 'eq', value: className });
    },
  });
  return rows.map(({ objectId, ...definition }) => ({ _id: objectId as string, ...definition }));
}

/** The step that switches the triggers of a table off; none where `_Trigger` is not as the service made it. Pure. */
export function switchOffDefinitions(schema: Schema, className: string): readonly Mutation[] {
  const triggers = schema.tables.get('_Trigger');
  const field = triggers?.fields.get('table');
  if (!triggers || field?.type !== 'String' || !triggers.fields.has('Active') || !triggers.fields.has('nextRun')) return [];
  return [
    {
      kind: 'updateAll',
      table: triggers,
      filter: { kind: 'compare', field, op: 'eq', value: className },
      assignments: assignmentsOf(triggers, { Active: false, nextRun: null }),
    },
  ];
}
