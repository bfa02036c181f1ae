import { readRows, remembering } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { storageOf } from '../../values/index.ts';

/**
 * The objectId of the status that a new lead has, or a duplicate one: the first created row of `LeadStatuses` with the `SystemKey`; `null`
 * where there is none. SPEC "States and transitions". Remembered until anybody writes to the table.
 */
export const leadStatus: (store: Store, key: 'new' | 'duplicate') => Promise<string | null> = remembering(
  'LeadStatuses',
  async (store, key) => {
    const [row] = await readRows<{ readonly objectId: string }>(store, {
      className: 'LeadStatuses',
      fields: ['objectId'],
      filter: (table) => {
        const field = table.fields.get('SystemKey');
        return field && storageOf(field) === 'text' ? { kind: 'compare', field, op: 'eq', value: key } : null;
      },
      limit: 1,
    });
    return row?.objectId ?? null;
  },
);
