/** The hidden table of pending jobs (adr/0012). */
export const queueTable = '_TriggerQueue';

/**
 * The kind of a queue row.
 * - `write`: triggers for a write of one record, or for one record that a schedule chose
 * - `before`: no job, but the snapshot before the write whose row refers to it
 * - `schedule`: a run of a scheduled trigger, which chooses records
 * - `mail`: a message to send
 * - `code`: a custom function to call, retried until it succeeds (`useQueue`)
 */
export type JobKind = 'write' | 'before' | 'schedule' | RetryableKind;

/** Kinds that are retried independently of other jobs. */
export const retryableKinds = ['mail', 'code'] as const;
export type RetryableKind = (typeof retryableKinds)[number];

/** Fields of the table; Strings unless noted otherwise. */
export const queueFields = [
  /** `JobKind` */
  'kind',
  /** Ids, comma-separated, in order of execution. */
  'triggers',
  /** `TriggerEvent` */
  'event',
  'objectClass',
  'objectIdValue',
  /** JSON array: the names of the fields in `record`. */
  'fields',
  /** A snapshot (`Snapshot` in storage/column-values.ts) of the record after the write; before it for a delete. */
  'record',
  /** The objectId of the `before` row, whose `fields` and `record` are the snapshot before the write; empty if no trigger depends on changes. */
  'before',
  /** Number: chain level of the triggers in `triggers`; 1 if a client's write fired them. */
  'level',
  /** The trigger of level 1, on higher levels. */
  'source',
  /** Silencing flags of the write, comma-separated: `createActions`, `updateActions`. For a retryable job: `started` during an attempt. */
  'flags',
  /** Names of Relations that the write changed, comma-separated. */
  'relations',
  /** JSON: the progress of the job; its form depends on the kind. */
  'state',
  /** Number of attempts. */
  'attempts',
  /** Date: earliest start; empty: immediately. */
  'dueAt',
  /** `Cluster.processId` of the process that runs it. */
  'owner',
  /** The objectId of the row of level 1 that began the chain; empty if this is that row. */
  'chain',
] as const;
export type QueueField = (typeof queueFields)[number];

/** Fields that may be long. */
const contents: ReadonlySet<QueueField> = new Set(['fields', 'record', 'state']);
/** The other fields, which are read for a job before its turn. */
export const keyFields: readonly QueueField[] = queueFields.filter((name) => !contents.has(name));
