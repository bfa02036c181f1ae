import type { JsonObject } from '../kernel/json.ts';
import type { Store } from '../storage/port.ts';
import { remembering } from './remembered.ts';
import { readFirst } from './rows.ts';

/**
 * The `Value` of a row of `Config`; `null` where there is none. SPEC "`Config`": of several rows of a name the one created first counts.
 * Remembered until anybody writes to the table.
 * @param name a flag that the service knows, such as `AcceptWebLeads`
 */
export const configFlag: (store: Store, name: string) => Promise<JsonObject | null> = remembering(
  'Config',
  async (store, value) => {
    const query = { className: 'Config', field: 'Name', value, fields: ['Value'] };
    return (await readFirst<{ readonly Value?: JsonObject }>(store, query))?.Value ?? null;
  },
);
