import { fail } from '../../errors/fail.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRow } from '../../records/index.ts';
import { fieldOf, type Schema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import type { StorageUsage } from './model.ts';

/** The hidden table with the one row of what a system's files take. The template makes both. */
const usageTable = '_StorageUsage';
const usageId = 'usage';

const fields: readonly string[] = ['objectId', 'files', 'bytes', 'quota'];

interface Row {
  readonly files?: number;
  readonly bytes?: number;
  readonly quota?: number;
}

/** What a system's files take, and what they may. */
export async function readUsage(store: Store): Promise<StorageUsage> {
  const row = await readRow<Row>(store, usageTable, fields, usageId);
  const { files = 0, bytes = 0, quota = null } = row ?? {};
  return { files, bytes, quota, outOfStorage: quota !== null && bytes >= quota };
}

/**
 * Looks whether a system takes files.
 * @param size bytes that are to come, where it is known
 * @throws outOfStorage (140) where its quota is reached, or what is left of it is less
 */
export async function admit(store: Store, size = 0): Promise<void> {
  const { bytes, quota, outOfStorage } = await readUsage(store);
  if (outOfStorage || (quota !== null && bytes + size > quota)) fail('outOfStorage');
}

/** The step that counts a file more, where its bytes are within what the quota leaves at the time of the commit; else it throws outOfStorage. */
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

/** Sets what a system's files may take. @param bytes `null` for no bound */
export async function setQuota(store: Store, bytes: number | null): Promise<void> {
  await store.write({
    plan(schema) {
      const table = tableOf(schema, usageTable);
      const assignments = assignmentsOf(table, { quota: bytes, updatedAt: Date.now() });
      return {
        changes: [],
        mutations: [{ kind: 'update', table, objectId: usageId, guard: null, assignments, returning: [] }],
      };
    },
  });
}

/** The step that counts files and bytes more, or fewer where they are negative. */
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
