import type { JsonObject } from '../kernel/json.ts';
import type { Store } from '../storage/port.ts';
import { storageOf } from '../values/index.ts';
import { readRows } from './rows.ts';

const fields = [
  ...['objectId', 'Name', 'table', 'events', 'criteria', 'changedFields', 'schedule', 'actions', 'Active'],
  ...['nextRun', 'lastRun'],
];

/** The triggers of a table as they are stored, in the order of creation, those too that are switched off (SPEC "Schema record": triggers). */
export async function readDefinitions(store: Store, className: string): Promise<JsonObject[]> {
  const rows = await readRows<JsonObject>(store, {
    className: '_Trigger',
    fields,
    filter(triggers) {
      const field = triggers.fields.get('table');
      return field && storageOf(field) === 'text' ? { kind: 'compare', field, op: 'eq', value: className } : null;
    },
  });
  return rows.map(({ objectId, ...definition }) => ({ _id: objectId as string, ...definition }));
}
