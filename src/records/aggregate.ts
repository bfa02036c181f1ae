import { authorize, refuseOutright } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import { buildAggregation } from '../query/aggregate/index.ts';
import type { AggregateOptions } from '../query/index.ts';
import type { JsonText } from '../storage/port.ts';
import type { RecordContext } from './context.ts';
import { underSchema } from './read.ts';

/**
 * Runs an aggregation. SPEC "Aggregation"; CONTRACT "Records".
 * @returns JSON array of the result rows
 * @throws permissionDenied (119), badQuery (102), timeout (124); what the options throw
 */
export async function aggregateRecords(context: RecordContext, className: string, options: AggregateOptions): Promise<JsonText> {
  const { store, principal, patterns } = context;
  // Whatever the table would answer else (SPEC "Aggregation").
  if (principal.kind === 'anonymous') fail('permissionDenied', 'find', className);
  refuseOutright(principal, 'find', className);
  return underSchema(store, async (schema) => {
    const table = schema.tables.get(className);
    if (!table) {
      options.refuseUnknown?.();
      return '[]';
    }
    const grant = authorize(principal, 'find', table, schema);
    return store.reader.aggregate(buildAggregation(options, grant, { schema, principal, patterns }));
  });
}
