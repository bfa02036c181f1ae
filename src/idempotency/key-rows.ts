import { DAY_MS } from '../kernel/time.ts';
import { readRow } from '../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../schema/model.ts';
import { assignmentsOf, columnsOf, type OwnValues, setColumns } from '../storage/column-values.ts';
import type { Mutation, Store } from '../storage/port.ts';
import type { RequestKey } from './key.ts';

/** The hidden table of keys: a row is written in the commit of the write that it is about. Reference: system-tables.md#hidden-tables. */
export const className = '_IdempotencyKey';

/** How long a key is known. Reference: requests.md#repeated-requests. */
export const KEPT_MS = DAY_MS;

const fields = [
  ...['objectId', 'createdAt', 'fingerprint', 'state', 'owner', 'answer', 'sealed', 'record', 'at', 'fields', 'snapshot'],
] as const;

/** A row. */
export interface KeyRow {
  readonly objectId: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly fingerprint: string;
  /** Of a request of several commits that has begun; absent once it was carried out. */
  readonly state?: 'started';
  /** Process that executes it. */
  readonly owner?: string;
  /** JSON text of the answer, if it was known before the commit or kept after it. */
  readonly answer?: string;
  /** As `seal` returns it. */
  readonly sealed?: string;
  /** ObjectId of the record that was written. */
  readonly record?: string;
  /** `updatedAt` of that record, or when it was deleted, in milliseconds since 1970; absent if it is in the snapshot. */
  readonly at?: number;
  /** JSON array: whether the snapshot is only shown to callers who may read the record; name, type and target table of each of its fields after
   *  `updatedAt`, as they were. */
  readonly fields?: string;
  /** Of the updated record (`Snapshot`). */
  readonly snapshot?: string;
}

/** Reads the row of a key; `null` if there is none. */
export const readKey = (store: Store, id: string): Promise<KeyRow | null> => readRow<KeyRow>(store, className, fields, id);

/** Whether a row counts as absent. */
export const isExpired = ({ createdAt }: KeyRow): boolean => Date.parse(createdAt) < Date.now() - KEPT_MS;

type Insert = Extract<Mutation, { kind: 'insert' }>;

/** Returns the step that keeps a key. Fails with duplicateValue (137) if the key is known. */
export function keep(schema: Schema, key: RequestKey, id: string, values: OwnValues, source?: Insert['source']): Insert {
  const table = tableOf(schema, className);
  const at = Date.now();
  const columns = columnsOf(table, { objectId: id, createdAt: at, updatedAt: at, fingerprint: key.fingerprint });
  setColumns(columns, table, values);
  return { kind: 'insert', table, values: columns, source, isJoined: true };
}

const isOf = (table: TableSchema, field: string, value: string) =>
  ({ kind: 'compare', field: fieldOf(table, field), op: 'eq', value }) as const;

/** Changes the row of a started request. @returns whether it was still there, and owned by the process */
export async function changeStarted(store: Store, id: string, owner: string, set: OwnValues): Promise<boolean> {
  try {
    await store.write({
      plan(schema) {
        const table = tableOf(schema, className);
        const condition = { kind: 'and', items: [isOf(table, 'owner', owner), isOf(table, 'state', 'started')] } as const;
        const assignments = assignmentsOf(table, set);
        return {
          changes: [],
          mutations: [{ kind: 'update', table, objectId: id, guard: null, condition, assignments, returning: [] }],
        };
      },
    });
    return true;
  } catch (error) {
    if ((error as { key?: unknown }).key === 'objectNotFound') return false;
    throw error;
  }
}

/** Deletes a row, unless another one has taken its place. */
export async function forget(store: Store, { objectId, createdAt }: Pick<KeyRow, 'objectId' | 'createdAt'>): Promise<void> {
  await store.write({
    plan(schema) {
      const table = tableOf(schema, className);
      const isSame = { kind: 'compare', field: fieldOf(table, 'createdAt'), op: 'eq', value: Date.parse(createdAt) } as const;
      const filter = { kind: 'and', items: [isOf(table, 'objectId', objectId), isSame] } as const;
      return { changes: [], mutations: [{ kind: 'deleteAll', table, filter }] };
    },
  });
}
