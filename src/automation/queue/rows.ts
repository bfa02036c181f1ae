import { newRowId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { Cause } from '../../records/index.ts';
import { type Field, fieldOf, type Schema } from '../../schema/model.ts';
import { columnsOf, type OwnValues } from '../../storage/column-values.ts';
import type { Mutation, Snapshot } from '../../storage/port.ts';
import type { StoredValue } from '../../values/index.ts';
import type { TriggerEvent } from '../model/model.ts';
import { type QueueField, queueTable } from './table.ts';

/** What a row of the queue holds; the id and the time are made where they are not given. */
export type RowValues = Readonly<Partial<Record<QueueField | 'objectId' | 'createdAt', StoredValue>>>;

/** The names of a snapshot's fields, as JSON. */
const fieldNames = memoByObject((fields: readonly Field[]) => JSON.stringify(fields.map(({ name }) => name)));

/**
 * Adds a row to the queue. Many of them should have the same keys, so that they are one statement.
 * @param snapshot of a record, to be taken in the commit: it becomes `fields` and `record`. Nothing is added where the record is not there
 * @returns the step; none where the system has no queue
 */
export function jobRow(schema: Schema, given: RowValues, snapshot?: Omit<Snapshot, 'to' | 'kind'>): readonly Mutation[] {
  const table = schema.tables.get(queueTable);
  if (!table) return [];
  const { objectId, createdAt, ...rest } = given;
  const at = typeof createdAt === 'number' ? createdAt : Date.now();
  const row: OwnValues = {
    objectId: objectId ?? newRowId(at),
    createdAt: at,
    updatedAt: at,
    ...(rest as OwnValues),
    ...(snapshot ? { fields: fieldNames(snapshot.fields) } : {}),
  };
  const values = columnsOf(table, Object.fromEntries(Object.entries(row).filter(([name]) => table.fields.has(name))));
  const note = { kind: 'insert', table, values, isNote: true } as const;
  return [snapshot ? { ...note, source: { kind: 'snapshot', ...snapshot, to: fieldOf(table, 'record') } } : note];
}

/** Work that is to be tried until it succeeds. */
export interface RetryableRow {
  readonly kind: 'mail' | 'code';
  /** The kind's own. */
  readonly state: JsonObject;
  readonly triggerId: string;
  readonly event: TriggerEvent;
  /** Of the record that fired the trigger. */
  readonly className: string;
  readonly objectId: string;
  /** Of whatever it writes. */
  readonly cause: Cause;
  /** `Cluster.processId` */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Not before, in milliseconds since 1970; left out: at once. Those that are due for longest come first. */
  readonly dueAt?: number;
}

/** Queues such work. */
export function queueJob(schema: Schema, row: RetryableRow): readonly Mutation[] {
  return jobRow(schema, {
    createdAt: row.at,
    kind: row.kind,
    triggers: row.triggerId,
    event: row.event,
    objectClass: row.className,
    objectIdValue: row.objectId,
    level: row.cause.level,
    source: row.cause.source,
    chain: row.cause.chain,
    state: JSON.stringify(row.state),
    dueAt: row.dueAt ?? row.at,
    owner: row.owner,
  });
}
