import { fail, ServiceError } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { AggregateParameters } from '../../query/aggregate/index.ts';
import { FindParameters, type NamedParameters, ReadParameters } from '../../query/index.ts';
import {
  aggregateRows,
  configFlag,
  createAtomically,
  createRecord,
  deleteRecord,
  findRecords,
  findRows,
  getRow,
  getSchema,
  type RecordContext,
  type Row,
  updatedRow,
  updateRecord,
} from '../../records/index.ts';
import { parseRequestJson } from '../../values/index.ts';
import { wireDate } from '../../values/json/wire.ts';
import type { FunctionSystem } from './model.ts';
import type { SystemRecords } from './system.ts';

/**
 * Wraps each access to records: checks that the run may still work, and hides faults.
 * @param read converts the arguments; executes code of the function (getters, iterators, `toJSON`)
 * @param work executes no code of the function
 * @param isWrite whether it writes
 */
export type Guarded = <Given, Done>(
  read: () => Given,
  work: (given: Given) => Done | Promise<Done>,
  isWrite?: boolean,
) => Promise<Done>;

/**
 * Returns the records of a system for one run of a function.
 * @param context the master's rights, under the function's name
 * @param files collects the files that the function was given
 */
export function systemRecords(system: FunctionSystem, context: RecordContext, files: OwnFiles, guarded: Guarded): SystemRecords {
  // The type parameters are chosen by the function.
  const given = (record: Row) => files.give(record) as never;
  const find = async ([table, parameters]: FindArguments) =>
    (await findRows(context, table, new FindParameters(parameters))).map(given);
  const writing = (ownFiles: ReadonlySet<string>): RecordContext => ({ ...context, ownFiles });
  return {
    appId: system.appId,
    name: system.name,
    get: (table, objectId, options) =>
      guarded(
        () => [nameOf(table), idOf(objectId), parametersOf(options)] as const,
        ([name, id, parameters]) =>
          orNull('objectNotFound', async () =>
            given(await getRow(context, name, id, parameters.size > 0 ? new ReadParameters(parameters) : undefined)),
          ),
      ),
    find: (table, options) => guarded(() => [nameOf(table), parametersOf(options)] as const, find),
    first: (table, options) =>
      guarded(
        () => [nameOf(table), parametersOf({ ...options, limit: 1 })] as const,
        async (asked) => (await find(asked))[0] ?? null,
      ),
    count: (table, where) =>
      guarded(
        () => [nameOf(table), new Map<string, JsonValue>([...parametersOf({ where }), ['limit', 0], ['count', 1]])] as const,
        async ([name, parameters]) => (await findRecords(context, name, new FindParameters(parameters))).count ?? 0,
      ),
    aggregate: (table, pipeline) =>
      guarded(
        () => [nameOf(table), new Map([['pipeline', wireText(pipeline)]])] as const,
        async ([name, parameters]) => (await aggregateRows(context, name, new AggregateParameters(parameters))) as never,
      ),
    create: (table, fields) =>
      guarded(
        () => [files.namesIn(fields), nameOf(table), fieldsOf(fields)] as const,
        ([own, ...asked]) => createRecord(writing(own), ...asked),
        true,
      ),
    createAll: (records) =>
      guarded(
        () => {
          const own = new Set<string>();
          const all = Array.from(records, ({ table, fields }) => {
            for (const name of files.namesIn(fields)) own.add(name);
            return { className: nameOf(table), body: fieldsOf(fields) };
          });
          return { own, all };
        },
        ({ own, all }) => createAtomically(writing(own), all),
        true,
      ),
    update: (table, objectId, fields) =>
      guarded(
        () => [files.namesIn(fields), nameOf(table), idOf(objectId), fieldsOf(fields)] as const,
        async ([own, ...asked]) => updatedRow(await updateRecord(writing(own), ...asked)),
        true,
      ),
    delete: (table, objectId) =>
      guarded(
        () => [nameOf(table), idOf(objectId)] as const,
        (asked) => deleteRecord(context, ...asked, {}),
        true,
      ),
    config: (name) =>
      guarded(
        () => nameOf(name),
        // A copy, because the service caches its own.
        async (asked) => structuredClone(await configFlag(context.store, asked)),
      ),
    schema: (table) =>
      guarded(
        () => nameOf(table),
        (name) => orNull('classMissing', async () => structuredClone(await getSchema(context, name, false))),
      ),
    newId: newObjectId,
  };
}

type FindArguments = readonly [table: string, parameters: NamedParameters];

const fieldsOf = (fields: unknown): JsonObject => toWireObject(fields, 'the fields of a record');

/** Checked at run time, because JavaScript callers have no types. */
function nameOf(table: unknown): string {
  return typeof table === 'string' ? table : fail('invalidClassName', String(table).slice(0, 100));
}

const idOf = (objectId: unknown): string =>
  typeof objectId === 'string' && objectId !== '' ? objectId : fail('invalidObjectId');

/** Converts options to parameters of the data endpoints; absent ones are left out. */
function parametersOf(options: object | undefined): Map<string, JsonValue> {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return new Map(given.map(([name, value]) => [name, name === 'where' ? wireText(value) : parameterOf(value)]));
}

const parameterOf = (value: unknown): JsonValue => toWire(Array.isArray(value) ? value.join(',') : value);

/** Returns the result of `read`; `null` if it fails with this error. */
async function orNull<T>(key: 'objectNotFound' | 'classMissing', read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && error.key === key) return null;
    throw error;
  }
}

/**
 * Converts a value of a function as if it came in a request: a copy, with the limits of request bodies. A Date becomes a wire Date.
 * @throws invalidJson (107) for values that JSON cannot represent
 */
export function toWire(value: unknown): JsonValue {
  return parseRequestJson(wireText(value), limits.jsonDepth, Number.POSITIVE_INFINITY);
}

/** As `toWire`, for a value that must be an object. @throws invalidJson (107) */
export function toWireObject(value: unknown, what: string): JsonObject {
  const wire = toWire(value);
  return isJsonObject(wire) ? wire : fail('invalidJson', `${what} should be an object`);
}

/** Returns the JSON text of a value of a function, for a parser that checks it. @throws invalidJson (107) for values that JSON cannot represent */
export function wireText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, wireForm);
  } catch (error) {
    return fail('invalidJson', error instanceof RangeError ? 'nested too deep' : 'a value cannot be written as JSON');
  }
  return text ?? fail('invalidJson', 'a value cannot be written as JSON');
}

/** A replacer for JSON.stringify, which converts Dates to text before calling it, and non-finite numbers to null after. */
function wireForm(this: unknown, key: string, value: unknown): unknown {
  const held = (this as Record<string, unknown>)[key];
  if (held instanceof Date) return wireDate(held.toISOString());
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('a number is not finite');
  return value;
}

/**
 * The File objects that a function received from the service, by reading records with full rights. They are known by identity, so nothing that a
 * caller sends can be one of them.
 */
export class OwnFiles {
  readonly #given = new WeakSet<object>();

  /** Adds the files of a record that is passed to the function, and of records included in it. @returns the record */
  give<Given extends JsonObject>(record: Given): Given {
    for (const value of Object.values(record)) {
      if (!isJsonObject(value)) continue;
      const type = own(value, '__type');
      if (type === 'File') this.#given.add(value);
      else if (type === 'Object') this.give(value);
    }
    return record;
  }

  /** Returns the names of those files, among the fields to write, that the function received. */
  namesIn(fields: unknown): ReadonlySet<string> {
    const names = new Set<string>();
    for (const value of Object.values((fields ?? {}) as object)) {
      const file = (value as { readonly __op?: unknown } | null)?.__op === 'SetOnInsert' ? (value as JsonObject).amount : value;
      if (typeof file === 'object' && file !== null && this.#given.has(file)) names.add(String((file as JsonObject).name));
    }
    return names;
  }
}
