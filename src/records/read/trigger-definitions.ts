import type { Grant } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { guardedFilter } from '../../query/index.ts';
import type { Schema } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import { storageOf } from '../../values/index.ts';
import { readRows } from './system-reads.ts';

/** The fields of a trigger's row that make up its definition. Reference: schemas.md#schema-record. */
export const definitionFields: readonly string[] = [
  ...['objectId', 'Name', 'table', 'events', 'criteria', 'changedFields', 'schedule', 'actions', 'Active'],
  ...['nextRun', 'lastRun'],
];

/**
 * Returns the trigger definitions of a table in the order of creation, inactive ones included. Reference: schemas.md#schema-record.
 * @param grant of `_Trigger`: which of them the caller may find
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

/** Returns the step that switches the triggers of a table off; no step if `_Trigger` was changed and lacks the fields. Pure. */
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
