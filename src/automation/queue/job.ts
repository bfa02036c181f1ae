import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { type TriggerEvent, triggerEvents } from '../model/model.ts';
import type { JobKind, QueueField } from './table.ts';

/** A snapshot of a record, as a queue row stores it. */
export interface StoredSnapshot {
  /** JSON array: the names of its fields. */
  readonly fields: string;
  /** JSON array of their values (`Snapshot` in storage/column-values.ts). */
  readonly record: string;
  /** Why the snapshot is missing. */
  readonly fault?: string;
}

/** Replaces a snapshot that cannot be read because of its size. */
export const tooLarge: StoredSnapshot = { fields: '[]', record: '[]', fault: 'The record is too large for triggers.' };

/** Silencing flags of a write that suppress actions of one type. */
export type SilencedActions = 'createActions' | 'updateActions';

/** Value of `flags` of a retryable job while an attempt is in progress. */
export const startedFlag = 'started';

export interface Job {
  /** objectId of the row. */
  readonly id: string;
  readonly kind: JobKind;
  /** Trigger ids in order of execution. */
  readonly triggers: readonly string[];
  readonly event: TriggerEvent;
  readonly className: string;
  /** For a schedule, the trigger's id. */
  readonly objectId: string;
  /** `null` if the row has none. */
  readonly snapshot: StoredSnapshot | null;
  /** objectId of the row with the snapshot before the write. */
  readonly beforeId: string | null;
  readonly level: number;
  /** The trigger of level 1; `null` on level 1. */
  readonly source: string | null;
  readonly silenced: ReadonlySet<SilencedActions>;
  /** Names of Relations that the write changed. */
  readonly relations: readonly string[];
  /** JSON: the progress of the job; parsed by `stateOf`. */
  readonly state: string | null;
  readonly attempts: number;
  /** For `code`: whether an attempt was in progress when the row was read. */
  readonly isStarted: boolean;
  /** Earliest start in milliseconds since 1970; `null`: immediately. */
  readonly dueAt: number | null;
  /** When it was queued, in milliseconds since 1970. */
  readonly queuedAt: number;
  /** When an attempt was last recorded, in milliseconds since 1970. */
  readonly recordedAt: number;
  /** `Cluster.processId` of the process that runs it. */
  readonly owner: string;
  /** The job of level 1 that began the chain; its own id on level 1. */
  readonly chain: string;
}

/** A queue row in wire form. */
export interface QueueRow extends Readonly<Partial<Record<Exclude<QueueField, 'level' | 'attempts' | 'dueAt'>, string>>> {
  readonly objectId: string;
  readonly createdAt: string;
  readonly updatedAt?: string;
  readonly level?: number;
  readonly attempts?: number;
  readonly dueAt?: { readonly iso: string };
}

/** Parses a row. Unreadable values become empty, so that a row written by other means affects no other job. */
export function jobOf(row: QueueRow): Job {
  const event = triggerEvents.find((one) => one === row.event) ?? 'update';
  return {
    id: row.objectId,
    kind: (row.kind ?? 'write') as JobKind,
    triggers: splitList(row.triggers),
    event,
    className: row.objectClass ?? '',
    objectId: row.objectIdValue ?? '',
    snapshot: snapshotOf(row),
    beforeId: row.before ?? null,
    level: row.level ?? 1,
    source: row.source ?? null,
    silenced: new Set(splitList(row.flags) as SilencedActions[]),
    relations: splitList(row.relations),
    state: row.state ?? null,
    attempts: row.attempts ?? 0,
    isStarted: row.flags === startedFlag,
    dueAt: row.dueAt ? Date.parse(row.dueAt.iso) : null,
    queuedAt: Date.parse(row.createdAt),
    recordedAt: Date.parse(row.updatedAt ?? row.createdAt),
    owner: row.owner ?? '',
    chain: row.chain ?? row.objectId,
  };
}

/** Returns the snapshot in a row. */
export function snapshotOf({ fields, record }: QueueRow): StoredSnapshot | null {
  return fields === undefined || record === undefined ? null : { fields, record };
}

/** Returns the key that serializes jobs: the record, or the trigger for a schedule. */
export function recordKey({ kind, className, objectId, triggers }: Job): string {
  return kind === 'schedule' ? `schedule ${triggers.join()}` : `${className}\n${objectId}`;
}

/** Whether a job is retried independently of the jobs of its record. */
export function isRetryable({ kind }: Job): boolean {
  return kind === 'mail' || kind === 'code';
}

const splitList = (text: string | undefined): string[] => (text ? text.split(',') : []);

/** Returns the progress of a job; empty if it cannot be parsed. */
export function stateOf({ state: text }: Pick<Job, 'state'>): JsonObject {
  if (text === null) return {};
  try {
    const state: unknown = JSON.parse(text);
    return isJsonObject(state) ? state : {};
  } catch {
    return {};
  }
}
