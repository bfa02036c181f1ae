import { insertAct, newAct, operator } from '../../acts/index.ts';
import { fail } from '../../errors/fail.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRow } from '../../records/index.ts';
import { fieldOf, type Schema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import type { StorageUsage } from './model.ts';

/** The hidden table with one row that stores the usage of a system. The template creates both. */
const usageTable = '_StorageUsage';
const usageId = 'usage';

const fields: readonly string[] = ['objectId', 'files', 'bytes', 'quota'];

interface Row {
  readonly files?: number;
  readonly bytes?: number;
  readonly quota?: number;
}

/** Returns the storage usage and quota of a system. */
export async function readUsage(store: Store): Promise<StorageUsage> {
  const row = await readRow<Row>(store, usageTable, fields, usageId);
  const { files = 0, bytes = 0, quota = null } = row ?? {};
  return { files, bytes, quota, outOfStorage: quota !== null && bytes >= quota };
}

/**
 * Checks the storage quota before an upload.
 * @param size expected bytes, if known
 * @throws outOfStorage (140) if the quota is reached, or the remaining room is too small
 */
export async function admit(store: Store, size = 0): Promise<void> {
  const { bytes, quota, outOfStorage } = await readUsage(store);
  if (outOfStorage || (quota !== null && bytes + size > quota)) fail('outOfStorage');
}

/** Returns the mutation that counts one more file if the quota has room at the time of the commit; the commit throws outOfStorage otherwise. */
export function countWithin(schema: Schema, size: number, quota: number | null): Mutation {
  const table = tableOf(schema, usageTable);
  const quotaField = fieldOf(table, 'quota');
  const items: Filter[] =
    quota === null
      ? [{ kind: 'not', item: { kind: 'exists', ref: { field: quotaField, path: [] } } }]
      : [
          { kind: 'compare', field: quotaField, op: 'eq', value: quota },
          { kind: 'compare', field: fieldOf(table, 'bytes'), op: 'lte', value: quota - size },
        ];
  return { ...countFiles(schema, 1, size), condition: { kind: 'and', items }, missing: 'outOfStorage' };
}

/** Sets the quota of a system, as an act of the operator. @param bytes `null`: no limit */
export async function setQuota(store: Store, bytes: number | null, appId: string): Promise<void> {
  const { quota } = await readUsage(store);
  const told = (value: number | null) => (value === null ? {} : { quota: value });
  const act = newAct({ act: 'system', subject: appId, before: told(quota), after: told(bytes) }, operator);
  await store.write({
    plan(schema) {
      const table = tableOf(schema, usageTable);
      const assignments = assignmentsOf(table, { quota: bytes, updatedAt: Date.now() });
      const set: Mutation = { kind: 'update', table, objectId: usageId, guard: null, assignments, returning: [] };
      return { changes: [], mutations: quota === bytes ? [set] : [set, ...insertAct(schema, act)] };
    },
  });
}

/** Returns the mutation that adds to the number of files and bytes; negative values subtract. */
export function countFiles(schema: Schema, files: number, bytes: number): Extract<Mutation, { kind: 'update' }> {
  const table = tableOf(schema, usageTable);
  return {
    kind: 'update',
    table,
    objectId: usageId,
    guard: null,
    assignments: [
      { kind: 'increment', field: fieldOf(table, 'files'), amount: files },
      { kind: 'increment', field: fieldOf(table, 'bytes'), amount: bytes },
    ],
    returning: [],
  };
}
