import { readFirst, remembering } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';

/**
 * The objectId of the status that a new lead has, or a duplicate one: the first created row of `LeadStatuses` with the `SystemKey`; `null`
 * where there is none. SPEC "States and transitions". Remembered until anybody writes to the table.
 */
export const leadStatus: (store: Store, key: 'new' | 'duplicate') => Promise<string | null> = remembering(
  'LeadStatuses',
  async (store, value) => {
    const query = { className: 'LeadStatuses', field: 'SystemKey', value, fields: ['objectId'] };
    return (await readFirst<{ readonly objectId: string }>(store, query))?.objectId ?? null;
  },
);
