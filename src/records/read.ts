import { authorize, type Grant, master, refuseOutright } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import {
  checkParameters,
  countsAlone,
  guardedFilter,
  parseQuery,
  parseSelection,
  redirected,
  redirectKey,
} from '../query/index.ts';
import type { QueryParameters, QueryScope } from '../query/scope.ts';
import type { Selection } from '../query/selection.ts';
import { newTable } from '../schema/defaults.ts';
import type { TableSchema } from '../schema/model.ts';
import { type FindResult, type JsonText, SchemaChanged, wholeText } from '../storage/port.ts';
import type { RecordContext } from './context.ts';
import { underSchema } from './replan.ts';

/** Whole records as a grant shows them. Grants are remembered, so that the engine compiles them once for each. */
const wholeRecords = new WeakMap<Grant, Selection>();

/**
 * Reads one record. SPEC "Records: Read one".
 * @returns JSON text of the record, piece by piece where it is large
 * @throws objectNotFound (101), invalidParameter (102), permissionDenied (119)
 */
export function readRecord(
  context: RecordContext,
  className: string,
  objectId: string,
  parameters: QueryParameters,
): string | Promise<JsonText> {
  const { store, principal } = context;
  refuseOutright(principal, 'get', className);
  const schema = store.schema();
  const table = schema.tables.get(className);
  if (!table) return fail('objectNotFound');
  const grant = authorize(principal, 'get', table, schema);
  let selection = parameters.size === 0 ? wholeRecords.get(grant) : undefined;
  if (!selection) {
    selection = parseSelection(parameters, grant, { schema, principal });
    if (parameters.size === 0) wholeRecords.set(grant, selection);
  }
  const found = store.reader.get(selection, objectId);
  if (typeof found === 'string') return found;
  if (found === null) return fail('objectNotFound');
  return found.then(
    (text) => text ?? fail('objectNotFound'),
    (error) => {
      if (error instanceof SchemaChanged) return readRecord(context, className, objectId, parameters);
      throw error;
    },
  );
}

/** The same in one piece. @throws what `readRecord` throws, resultTooLarge (116) */
export function getRecord(...asked: Parameters<typeof readRecord>): string | Promise<string> {
  const found = readRecord(...asked);
  return typeof found === 'string' ? found : found.then((text) => wholeText(text));
}

/** Records that were found, and their class where the query was led to it. */
export interface FoundRecords extends FindResult {
  readonly className?: string;
}

/**
 * Runs a query. SPEC "Records: Query"; a table that does not exist has no records.
 * @param className what the query is sent to; `redirectClassNameForKey` leads it to the table of a Relation
 * @throws invalidParameter, badParameterValue, badQuery (102), invalidWhere (500), permissionDenied (119), timeout (124)
 */
export async function findRecords(context: RecordContext, className: string, parameters: QueryParameters): Promise<FoundRecords> {
  const { store, principal, patterns } = context;
  refuseOutright(principal, 'find', className);
  return underSchema(store, async (schema) => {
    const scope = { schema, principal, patterns };
    const key = redirectKey(parameters);
    const asked = schema.tables.get(className);
    const table = asked && key !== null ? redirected(asked, key, scope) : asked;
    if (!table) return findNothing(className, parameters, scope);
    if (key === null) return findIn(table, context, parameters, scope);
    refuseOutright(principal, 'find', table.className);
    return { ...(await findIn(table, context, parameters, scope)), className: table.className };
  });
}

async function findIn(
  table: TableSchema,
  { store, principal }: RecordContext,
  parameters: QueryParameters,
  scope: QueryScope,
): Promise<FindResult> {
  const alone = countsAlone(parameters);
  const grant = authorize(principal, alone ? 'count' : 'find', table, scope.schema);
  const query = parseQuery(parameters, grant, scope);
  const counting = query.count && !alone ? authorize(principal, 'count', table, scope.schema) : grant;
  if (counting === grant) return store.reader.find(query);
  // Who may count fewer records than he may find gets those in both.
  return store.reader.find({ ...query, filter: guardedFilter(counting, query.filter) });
}

/**
 * SPEC "Query": a table that does not exist has no records. The parameters are checked as for any other; of what nobody in particular sends,
 * only what costs nothing: the names, and the form of each by itself.
 */
function findNothing(className: string, parameters: QueryParameters, scope: QueryScope): FindResult {
  const { count } =
    scope.principal.kind === 'anonymous'
      ? checkParameters(parameters)
      : parseQuery(parameters, authorize(master, 'find', newTable(className, className)), scope);
  return count ? { results: '[]', count: 0 } : { results: '[]' };
}
