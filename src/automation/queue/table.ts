/** The hidden table of what is still to be done (docs/adr/0012). */
export const queueTable = '_TriggerQueue';

/**
 * What a row of it asks for.
 * - `write`: the triggers of a write of one record, or of one record that a schedule chose
 * - `before`: nothing; it has the snapshot of a record before the write whose row names it
 * - `schedule`: the records that a scheduled trigger runs for
 * - `mail`: a message that is to be sent
 * - `code`: a function of the operator that is to be called, tried until it succeeds (`useQueue`)
 */
export type JobKind = 'write' | 'before' | 'schedule' | RetryableKind;

/** Kinds that are tried again by themselves, in no order with others. */
export const retryableKinds = ['mail', 'code'] as const;
export type RetryableKind = (typeof retryableKinds)[number];

/** Fields of the table, all Strings but for those that say otherwise. */
export const queueFields = [
  /** `JobKind` */
  'kind',
  /** Ids, comma-separated, in the order in which they run. */
  'triggers',
  /** `TriggerEvent` */
  'event',
  'objectClass',
  'objectIdValue',
  /** JSON array: the names of the fields in `record`. */
  'fields',
  /** A snapshot (`Snapshot` in storage/column-values.ts) of the record after the write; before it for a delete. */
  'record',
  /** The objectId of the row of the kind `before`; empty where no trigger asks what has changed. Its `fields` and `record` are the snapshot. */
  'before',
  /** Number: of the triggers in `triggers`; 1 where a client's write fired them. */
  'level',
  /** The trigger of level 1, where `level` is more. */
  'source',
  /** Of `createActions`, `updateActions`, comma-separated: narrow silencing flags. */
  'flags',
  /** Names of Relations that the write changed, comma-separated. */
  'relations',
  /** JSON: how far the job is; a kind's own. */
  'state',
  /** Number: how often it was tried. */
  'attempts',
  /** Date: not before; empty: at once. */
  'dueAt',
  /** `Cluster.processId` of the process that runs it. */
  'owner',
  /** The objectId of the row of level 1 that this one came of; empty: it is that row. */
  'chain',
] as const;
export type QueueField = (typeof queueFields)[number];

/** Fields that may be long. */
const contents: ReadonlySet<QueueField> = new Set(['fields', 'record', 'state']);
/** The others: what is to be known of a row before it is its turn. */
export const keyFields: readonly QueueField[] = queueFields.filter((name) => !contents.has(name));
