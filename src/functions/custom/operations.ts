import { fail, ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { AggregateParameters } from '../../query/aggregate/index.ts';
import { FindParameters, ReadParameters } from '../../query/index.ts';
import {
  aggregateRecords,
  configFlag,
  createAtomically,
  createRecord,
  deleteRecord,
  findRecords,
  getSchema,
  type RecordContext,
  readRecord,
  updatedText,
  updateRecord,
} from '../../records/index.ts';
import { wholeText } from '../../storage/port.ts';
import { parseRequestJson } from '../../values/index.ts';
import type { OperationRequest, OwnFileNames, SentOptions } from './thread/protocol.ts';

/** Whether an operation writes records. */
export const isWrite = ({ method }: OperationRequest): boolean =>
  method === 'create' || method === 'createAll' || method === 'update' || method === 'delete';

/**
 * Executes an operation that a function has begun on its thread.
 * @param context the master's rights, under the function's name
 * @param request values in it are checked here, as those of a request
 * @returns the result as JSON text; `undefined` if there is none
 * @throws errors of the operation; invalidJson (107) for values that a request may not have
 */
export async function executeOperation(context: RecordContext, request: OperationRequest): Promise<string | undefined> {
  switch (request.method) {
    case 'get': {
      const parameters = parametersOf(request.options);
      const options = parameters.size > 0 ? new ReadParameters(parameters) : undefined;
      const read = async () => wholeText(await readRecord(context, request.table, request.objectId, options));
      return (await orNull('objectNotFound', read)) ?? 'null';
    }
    case 'find':
      return wholeText((await findRecords(context, request.table, new FindParameters(parametersOf(request.options)))).results);
    case 'count': {
      const parameters = parametersOf(request.options).set('limit', 0).set('count', 1);
      return String((await findRecords(context, request.table, new FindParameters(parameters))).count ?? 0);
    }
    case 'aggregate': {
      const parameters = new AggregateParameters(new Map([['pipeline', request.pipeline]]));
      return wholeText(await aggregateRecords(context, request.table, parameters));
    }
    case 'create':
      return JSON.stringify(await createRecord(writing(context, request.ownFiles), request.table, fieldsOf(request.fields)));
    case 'createAll': {
      const all = request.records.map(({ table, fields }) => ({ className: table, body: fieldsOf(fields) }));
      return JSON.stringify(await createAtomically(writing(context, request.ownFiles), all));
    }
    case 'update': {
      const { table, objectId, fields, ownFiles } = request;
      return updatedText(await updateRecord(writing(context, ownFiles), table, objectId, fieldsOf(fields)));
    }
    case 'delete':
      await deleteRecord(context, request.table, request.objectId, {});
      return undefined;
    case 'config':
      return JSON.stringify(await configFlag(context.store, request.name));
    case 'schema': {
      const schema = await orNull('classMissing', () => getSchema(context, request.table, false));
      return JSON.stringify(schema);
    }
  }
}

const writing = (context: RecordContext, ownFiles: OwnFileNames): RecordContext => ({
  ...context,
  ownFiles: new Set(ownFiles),
});

/** Parses a value of a function with the limits of request bodies. */
const parsed = (text: string): JsonValue => parseRequestJson(text, limits.jsonDepth, Number.POSITIVE_INFINITY);

function fieldsOf(text: string): JsonObject {
  const fields = parsed(text);
  return isJsonObject(fields) ? fields : fail('invalidJson', 'the fields of a record should be an object');
}

/** Returns options as parameters of the data endpoints; `where` stays a text. */
const parametersOf = (options: SentOptions): Map<string, JsonValue> =>
  new Map(options.map(([name, value]) => [name, name === 'where' ? value : parsed(value)]));

/** Returns the result of `read`; `null` if it fails with this error. */
async function orNull<T>(key: 'objectNotFound' | 'classMissing', read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && error.key === key) return null;
    throw error;
  }
}
