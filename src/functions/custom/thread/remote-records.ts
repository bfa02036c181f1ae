import { fail } from '../../../errors/fail.ts';
import { newObjectId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { SystemRecords } from '../api/system.ts';
import type { OwnFiles } from './own-files.ts';
import type { OperationRequest, SentOptions } from './protocol.ts';
import { wireText } from './wire-text.ts';

/**
 * Has an operation executed by the service.
 * @param read converts the arguments; executes code of the function (getters, iterators, `toJSON`)
 * @returns the result
 */
export type Perform = (read: () => OperationRequest) => Promise<unknown>;

/** Returns the records of a system for one call of a function. @param files collects the files that the function was given */
export function remoteRecords(appId: string, name: string, files: OwnFiles, perform: Perform): SystemRecords {
  // The type parameters are chosen by the function.
  const given = (record: unknown) => (record === null ? null : files.give(record as JsonObject)) as never;
  const find = async (read: () => OperationRequest) => ((await perform(read)) as JsonObject[]).map(given);
  return {
    appId,
    name,
    get: async (table, objectId, options) =>
      given(
        await perform(() => ({
          method: 'get',
          table: nameOf(table),
          objectId: idOf(objectId),
          options: optionsOf(options),
        })),
      ),
    find: (table, options) => find(() => ({ method: 'find', table: nameOf(table), options: optionsOf(options) })),
    first: async (table, options) => {
      const read = () => ({ method: 'find', table: nameOf(table), options: optionsOf({ ...options, limit: 1 }) }) as const;
      return (await find(read))[0] ?? (null as never);
    },
    count: (table, where) =>
      perform(() => ({ method: 'count', table: nameOf(table), options: optionsOf({ where }) })) as Promise<number>,
    aggregate: (table, pipeline) =>
      perform(() => ({ method: 'aggregate', table: nameOf(table), pipeline: wireText(pipeline) })) as Promise<never[]>,
    create: (table, fields) =>
      perform(() => {
        const ownFiles = [...files.namesIn(fields)];
        return { method: 'create', table: nameOf(table), fields: wireText(fields), ownFiles };
      }) as never,
    createAll: (records) =>
      perform(() => {
        const ownFiles = new Set<string>();
        const all = Array.from(records, ({ table, fields }) => {
          for (const file of files.namesIn(fields)) ownFiles.add(file);
          return { table: nameOf(table), fields: wireText(fields) };
        });
        return { method: 'createAll', records: all, ownFiles: [...ownFiles] };
      }) as never,
    update: (table, objectId, fields) =>
      perform(() => {
        const ownFiles = [...files.namesIn(fields)];
        return { method: 'update', table: nameOf(table), objectId: idOf(objectId), fields: wireText(fields), ownFiles };
      }) as never,
    delete: (table, objectId) =>
      perform(() => ({ method: 'delete', table: nameOf(table), objectId: idOf(objectId) })) as Promise<never>,
    config: (flag) => perform(() => ({ method: 'config', name: nameOf(flag) })) as never,
    schema: (table) => perform(() => ({ method: 'schema', table: nameOf(table) })) as never,
    newId: newObjectId,
  };
}

/** Checked at run time, because JavaScript callers have no types. */
function nameOf(table: unknown): string {
  return typeof table === 'string' ? table : fail('invalidClassName', String(table).slice(0, 100));
}

const idOf = (objectId: unknown): string =>
  typeof objectId === 'string' && objectId !== '' ? objectId : fail('invalidObjectId');

/** Converts options to parameters of the data endpoints; absent ones are left out. */
function optionsOf(options: object | undefined): SentOptions {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => [name, wireText(name !== 'where' && Array.isArray(value) ? value.join(',') : value)]);
}
