import pLimit from 'p-limit';
import { getRow } from '../../crm/queries/records.ts';
import { newestReferring, pointingAt, type Referrer, referrersOf } from '../../crm/queries/references.ts';
import { accessErrors, unless } from '../../crm/refusals.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { ApiEndpoint } from '../protocol/api-endpoint.ts';
import type { RelatedAnswer, RelatedTable } from '../protocol/protocol.ts';
import { idOf, tableOf } from './wire/parameters.ts';

/** Number of newest records returned per table. */
const NEWEST_COUNT = 5;
/** Number of tables read concurrently. */
const CONCURRENCY = 3;
/** Time after which no further table is read. */
const TIMEOUT_MS = 8 * SECOND_MS;

/** Returns the records that point at a record, of the tables that the caller may find in. */
export const getRelated: ApiEndpoint = {
  method: 'GET',
  path: '/related/:table/:id',
  async run(context, request): Promise<RelatedAnswer> {
    const { className } = tableOf(context, request, 'get');
    const objectId = idOf(request);
    await getRow(context, className, objectId, { keys: ['objectId'] });
    const deadline = performance.now() + TIMEOUT_MS;
    const turn = pLimit(CONCURRENCY);
    const tookTooLong: string[] = [];
    const read = async (referrer: Referrer): Promise<RelatedTable | null> => {
      const late = context.signal.aborted || performance.now() > deadline;
      const where = pointingAt(referrer, className, objectId);
      const read = () => unless(accessErrors, null, () => newestReferring(context, referrer, where, NEWEST_COUNT));
      const found = late ? 'late' : await unless(['timeout', 'resultTooLarge'], 'late' as const, read);
      if (found === 'late') tookTooLong.push(referrer.className);
      if (found === 'late' || !found) return null;
      const rows = found.newest.map(({ title = '', ...row }) => ({ ...row, title }));
      return { table: referrer.className, fields: referrer.fields, count: found.count, rows, where };
    };
    const tables = await Promise.all(referrersOf(context, className).map((referrer) => turn(() => read(referrer))));
    return { tables: tables.filter((table) => table !== null), tookTooLong };
  },
};
