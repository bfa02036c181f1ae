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

/** Values of a queue row; the id and the time are generated if omitted. */
export type RowValues = Readonly<Partial<Record<QueueField | 'objectId' | 'createdAt', StoredValue>>>;

/** The names of a snapshot's fields, as JSON. */
const fieldNames = memoByObject((fields: readonly Field[]) => JSON.stringify(fields.map(({ name }) => name)));

/**
 * Returns the mutation that adds a row to the queue. Rows with the same keys share one statement.
 * @param snapshot a record to read in the commit, stored as `fields` and `record`. No row is added if the record does not exist
 * @returns none if the system has no queue
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

/** A retryable job to queue. */
export interface RetryableRow {
  readonly kind: 'mail' | 'code';
  /** Specific to the kind. */
  readonly state: JsonObject;
  readonly triggerId: string;
  readonly event: TriggerEvent;
  /** The record that fired the trigger. */
  readonly className: string;
  readonly objectId: string;
  /** Recorded as the cause of its writes. */
  readonly cause: Cause;
  /** `Cluster.processId` of its owner. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Earliest start in milliseconds since 1970; default: immediately. The longest overdue job comes first. */
  readonly dueAt?: number;
}

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
