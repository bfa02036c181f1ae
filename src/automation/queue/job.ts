import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { type TriggerEvent, triggerEvents } from '../model/model.ts';
import type { JobKind, QueueField } from './table.ts';

/** A snapshot of a record as a row of the queue has it. */
export interface StoredSnapshot {
  /** JSON array: the names of its fields. */
  readonly fields: string;
  /** JSON array of their values (`Snapshot` in storage/column-values.ts). */
  readonly record: string;
  /** Why there is none. */
  readonly fault?: string;
}

/** Stands for a snapshot that cannot be read. */
export const tooLarge: StoredSnapshot = { fields: '[]', record: '[]', fault: 'The record is too large for triggers.' };

/** Of `write` silencing flags, those that leave out actions of a type. */
export type SilencedActions = 'createActions' | 'updateActions';

/** What `flags` says of a later job while an attempt is under way. */
export const startedFlag = 'started';

/** A row of the queue. */
export interface Job {
  /** objectId of the row. */
  readonly id: string;
  readonly kind: JobKind;
  /** Ids, in the order in which they run. */
  readonly triggers: readonly string[];
  readonly event: TriggerEvent;
  readonly className: string;
  /** Of a schedule: the trigger's. */
  readonly objectId: string;
  /** `null` where the row has none. */
  readonly snapshot: StoredSnapshot | null;
  /** The objectId of the row that has the snapshot before the write. */
  readonly beforeId: string | null;
  readonly level: number;
  /** The trigger of level 1; `null` on level 1. */
  readonly source: string | null;
  readonly silenced: ReadonlySet<SilencedActions>;
  /** Names of Relations that the write changed. */
  readonly relations: readonly string[];
  /** JSON: how far the job is; `stateOf` reads it. */
  readonly state: string | null;
  readonly attempts: number;
  /** Of `code`: whether an attempt was under way when the row was read. */
  readonly isStarted: boolean;
  /** Not before, in milliseconds since 1970; `null`: at once. */
  readonly dueAt: number | null;
  /** When it was queued, in milliseconds since 1970. */
  readonly queuedAt: number;
  /** When an attempt was last noted, likewise. */
  readonly notedAt: number;
  /** `Cluster.processId` of the process that runs it. */
  readonly owner: string;
  /** The job of level 1 that it came of; its own id on level 1. */
  readonly chain: string;
}

/** A row of the queue in wire form. */
export interface QueueRow extends Readonly<Partial<Record<Exclude<QueueField, 'level' | 'attempts' | 'dueAt'>, string>>> {
  readonly objectId: string;
  readonly createdAt: string;
  readonly updatedAt?: string;
  readonly level?: number;
  readonly attempts?: number;
  readonly dueAt?: { readonly iso: string };
}

/** A row as a job. What cannot be read is empty: whoever writes the table by other means than the service's own harms nobody else. */
export function jobOf(row: QueueRow): Job {
  const event = triggerEvents.find((one) => one === row.event) ?? 'update';
  return {
    id: row.objectId,
    kind: (row.kind ?? 'write') as JobKind,
    triggers: listed(row.triggers),
    event,
    className: row.objectClass ?? '',
    objectId: row.objectIdValue ?? '',
    snapshot: snapshotOf(row),
    beforeId: row.before ?? null,
    level: row.level ?? 1,
    source: row.source ?? null,
    silenced: new Set(listed(row.flags) as SilencedActions[]),
    relations: listed(row.relations),
    state: row.state ?? null,
    attempts: row.attempts ?? 0,
    isStarted: row.flags === startedFlag,
    dueAt: row.dueAt ? Date.parse(row.dueAt.iso) : null,
    queuedAt: Date.parse(row.createdAt),
    notedAt: Date.parse(row.updatedAt ?? row.createdAt),
    owner: row.owner ?? '',
    chain: row.chain ?? row.objectId,
  };
}

/** The snapshot that a row has. */
export function snapshotOf({ fields, record }: QueueRow): StoredSnapshot | null {
  return fields === undefined || record === undefined ? null : { fields, record };
}

/** What names the record of a job, by which jobs take turns; a schedule takes turns with itself. */
export function recordKey({ kind, className, objectId, triggers }: Job): string {
  return kind === 'schedule' ? `schedule ${triggers.join()}` : `${className}\n${objectId}`;
}

/** Whether a job is tried again by itself, on its own, instead of in the order of its record. */
export function isRetryable({ kind }: Job): boolean {
  return kind === 'mail' || kind === 'code';
}

const listed = (text: string | undefined): string[] => (text ? text.split(',') : []);

/** How far a job is; empty where that cannot be read. */
export function stateOf({ state: text }: Pick<Job, 'state'>): JsonObject {
  if (text === null) return {};
  try {
    const state: unknown = JSON.parse(text);
    return isJsonObject(state) ? state : {};
  } catch {
    return {};
  }
}
