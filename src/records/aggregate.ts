import { authorize, refuseOutright } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import { checkAggregationParameters, parseAggregation } from '../query/aggregate/index.ts';
import type { QueryParameters } from '../query/scope.ts';
import type { JsonText } from '../storage/port.ts';
import type { RecordContext } from './context.ts';
import { underSchema } from './replan.ts';

/**
 * Runs an aggregation. SPEC "Aggregation"; CONTRACT "Records".
 * @returns JSON array of the result rows
 * @throws permissionDenied (119), invalidParameter, badQuery (102), timeout (124)
 */
export async function aggregateRecords(
  context: RecordContext,
  className: string,
  parameters: QueryParameters,
): Promise<JsonText> {
  const { store, principal, patterns } = context;
  // Whatever the table would answer else (SPEC "Aggregation").
  if (principal.kind === 'anonymous') fail('permissionDenied', 'find', className);
  refuseOutright(principal, 'find', className);
  return underSchema(store, async (schema) => {
    const table = schema.tables.get(className);
    if (!table) {
      checkAggregationParameters(parameters);
      return '[]';
    }
    const grant = authorize(principal, 'find', table, schema);
    return store.reader.aggregate(parseAggregation(parameters, grant, { schema, principal, patterns }));
  });
}
