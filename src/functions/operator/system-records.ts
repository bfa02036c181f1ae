import { fail, ServiceError } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import {
  aggregateRecords,
  configFlag,
  createRecord,
  createTogether,
  deleteRecord,
  findRecords,
  getRecord,
  getSchema,
  type RecordContext,
  updateRecord,
} from '../../records/index.ts';
import { wholeText } from '../../storage/port.ts';
import type { FunctionSystem } from '../model.ts';
import type { FindOptions, ReadOptions, SystemRecords } from './system.ts';
import { toWire, toWireObject, wireText } from './wire.ts';

/** What every call goes through: whether the run may still work, and what it hears of faults. */
export type Guarded = <T>(work: () => T | Promise<T>) => Promise<T>;

/**
 * The records of a system for one run of a function.
 * @param context the system's master, under the function's name
 */
export function systemRecords(system: FunctionSystem, context: RecordContext, guarded: Guarded): SystemRecords {
  const read = (table: string, objectId: string, options: ReadOptions | undefined) =>
    orNull('objectNotFound', async () => {
      const text = await getRecord(context, nameOf(table), idOf(objectId), parametersOf(options));
      return JSON.parse(text);
    });
  const find = async (table: string, options: FindOptions | undefined) => {
    const { results } = await findRecords(context, nameOf(table), parametersOf(options));
    return JSON.parse(await wholeText(results));
  };
  return {
    appId: system.appId,
    name: system.name,
    get: (table, objectId, options) => guarded(() => read(table, objectId, options)),
    find: (table, options) => guarded(() => find(table, options)),
    first: (table, options) => guarded(async () => (await find(table, { ...options, limit: 1 }))[0] ?? null),
    count: (table, where) =>
      guarded(async () => {
        const parameters = new Map<string, JsonValue>([...parametersOf({ where }), ['limit', 0], ['count', 1]]);
        return (await findRecords(context, nameOf(table), parameters)).count ?? 0;
      }),
    aggregate: (table, pipeline) =>
      guarded(async () => {
        const results = await aggregateRecords(context, nameOf(table), new Map([['pipeline', wireText(pipeline)]]));
        return JSON.parse(await wholeText(results));
      }),
    create: (table, fields) => guarded(() => createRecord(context, nameOf(table), fieldsOf(fields))),
    createAll: (records) =>
      guarded(() =>
        createTogether(
          context,
          records.map(({ table, fields }) => ({ className: nameOf(table), body: fieldsOf(fields) })),
        ),
      ),
    update: (table, objectId, fields) =>
      guarded(async () => JSON.parse(await updateRecord(context, nameOf(table), idOf(objectId), fieldsOf(fields)))),
    delete: (table, objectId) => guarded(() => deleteRecord(context, nameOf(table), idOf(objectId), {})),
    // The service's own copy is remembered.
    config: (name) => guarded(async () => structuredClone(await configFlag(context.store, nameOf(name)))),
    schema: (table) =>
      guarded(() => orNull('classMissing', async () => JSON.parse(await getSchema(context, nameOf(table), false)))),
    newId: newObjectId,
  };
}

const fieldsOf = (fields: unknown): JsonObject => toWireObject(fields, 'the fields of a record');

/** JavaScript calls without types. */
function nameOf(table: unknown): string {
  return typeof table === 'string' ? table : fail('invalidClassName', String(table).slice(0, 100));
}

const idOf = (objectId: unknown): string =>
  typeof objectId === 'string' && objectId !== '' ? objectId : fail('invalidObjectId');

/** The parameters that the data endpoints have, where they were given. */
function parametersOf(options: object | undefined): Map<string, JsonValue> {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return new Map(given.map(([name, value]) => [name, name === 'where' ? wireText(value) : parameterOf(value)]));
}

const parameterOf = (value: unknown): JsonValue => toWire(Array.isArray(value) ? value.join(',') : value);

/** What `read` gives; `null` where it fails with this error. */
async function orNull<T>(key: 'objectNotFound' | 'classMissing', read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && error.key === key) return null;
    throw error;
  }
}
