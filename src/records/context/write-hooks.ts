import type { Principal } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema, TableSchema } from '../../schema/model.ts';
import type { OwnValues } from '../../storage/column-values.ts';
import type { Assignment, Condition, Mutation } from '../../storage/port.ts';
import type { RecordContext } from './context.ts';

/** The trigger whose action writes. Reference: triggers.md#chain-depth. */
export interface Cause {
  readonly triggerId: string;
  /** Depth of this trigger in its chain: 1 if a client's write or the clock fired it. */
  readonly level: number;
  /** The trigger of level 1. */
  readonly source: string;
  /** Id of the chain: the id of the job of the client's write that started it. */
  readonly chain: string;
}

/** A write of one record, as observers see it. */
export interface WriteEvent {
  readonly event: 'create' | 'update' | 'delete';
  readonly table: TableSchema;
  readonly objectId: string;
  /** The fields of the body as they were sent, without flags; empty for a delete. */
  readonly sent: JsonObject;
  /** What the write sets, by field, secrets included; empty for a delete. A field that a create does not set is empty. */
  readonly assignments: ReadonlyMap<string, Assignment>;
  /** What a create sets instead of the service's defaults, by field: when and by whom the record was created elsewhere. */
  readonly known?: OwnValues | undefined;
  /** What the watch of the table saw; left out for tables without one. */
  readonly seen?: SeenWrite | undefined;
  /** The author in the audit. */
  readonly principal: Principal;
  readonly flags: SilencingFlags;
  /** The Referer of a session user's request, or `server-side-code:<fn>`. */
  readonly referer: string | null;
  readonly cause: Cause | null;
  /** Time of the write, in milliseconds since 1970. */
  readonly at: number;
}

/** What a watch saw of a record before it is written. */
export interface SeenWrite {
  /** The values as they are before the write; `null` for a create, or if there is no such record. */
  readonly before: JsonObject | null;
  /** The fields as the client sent them, secrets included. */
  readonly asked: JsonObject;
}

/** Reads records before they are written, for observers that tell what changed. The commit then checks that the record is still as it was read. */
export interface RecordWatch {
  /**
   * Returns which fields of a record to read before a write; `null` if the write is of no interest, so that nothing is read. The same array object
   * for the same fields. Cheap: called for every update and delete.
   */
  fieldsFor(className: string, action: 'update' | 'remove', sent: JsonObject): readonly string[] | null;
  /** Whether creates in a table are of interest. Cheap. */
  watches(className: string): boolean;
}

/** Steps that an observer adds to the commit of a write. */
export interface AddedSteps {
  /** Run before all steps of the write, so they see the state before it. */
  readonly before?: readonly Mutation[];
  /** Run after the steps of the write. */
  readonly after?: readonly Mutation[];
}

/** Audit and automation observe every write, whatever its protocol. `command-context.ts` passes them to `records/`. */
export interface WriteObserver {
  /** Reads what its steps depend on, before a write is planned; `undefined` if it is known. */
  ready?(context: RecordContext): Promise<void> | undefined;
  /**
   * Returns what it adds to the commit. Pure.
   * @param schema before the write's own changes. Called again if the schema changes before the commit
   */
  plan?(event: WriteEvent, schema: Schema, context: RecordContext): AddedSteps;
  /**
   * Returns what it adds to a commit that changes the schema, after all other steps. Pure.
   * @param changes of the whole commit, at least one
   * @param schema before the changes
   */
  planChanges?(changes: readonly SchemaChange[], schema: Schema, context: RecordContext): readonly Mutation[];
  /** Called after the commit. @param added what `plan` returned for the event */
  committed?(event: WriteEvent, context: RecordContext, added: AddedSteps): void;
  /** Called instead if the outcome of the commit is unknown, because the database did not answer. */
  inDoubt?(event: WriteEvent, context: RecordContext, added: AddedSteps): void;
}

/** How a write is prepared. */
export interface Attempt {
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** Earlier writes of the same commit. Reads and conditions do not see them yet. */
  readonly earlier: readonly EarlierWrite[];
  /**
   * Whether rules check now what one of their conditions decides in the commit. True if such a condition has failed, or if the write cannot be
   * prepared again. Otherwise rules read nothing for it, so that a write keeps its place among those of its turn.
   */
  readonly looksAhead: boolean;
  /** The schema that the commit leaves before this write, if it changes the schema. Left out: the present one. */
  readonly schema?: Schema;
}

/** A write of one record, as its table's rules see it before it is planned. The caller's rights are checked first if possible. */
export interface RuledWrite extends Omit<Attempt, 'at'> {
  readonly context: RecordContext;
  readonly objectId: string;
  /** What the client sent, without flags; empty for a delete. */
  readonly fields: JsonObject;
}

/** An earlier write of the same commit. */
export interface EarlierWrite extends Pick<RuledWrite, 'objectId' | 'fields'> {
  readonly className: string;
  readonly action: keyof TableRules;
}

/** The result of the rules. */
export interface RuledFields {
  /** The fields to plan as the client's. Observers see them, so they hold no secrets. */
  readonly fields: JsonObject;
  /** Stored values of fields that clients cannot write as stored, such as hashes. */
  readonly set?: OwnValues;
  /** Steps of the same commit, before the record's own. Pure. */
  readonly before?: (schema: Schema) => readonly Mutation[];
  /**
   * Of an update: `updatedAt` of the record that the rules have read, in milliseconds since 1970. If it differs in the commit, the rules run
   * again (`retryOutdated`). Each such update increases it.
   */
  readonly version?: number;
  /** What the rules found, to be checked again in the commit. If a condition no longer holds, the rules run again. Pure. */
  readonly conditions?: (schema: Schema) => readonly Condition[];
}

/** Rules of a system table for writes beyond its schema and permissions, whatever the protocol. */
export interface TableRules {
  create?(write: RuledWrite): Promise<RuledFields>;
  update?(write: RuledWrite): Promise<RuledFields>;
  remove?(write: RuledWrite): Promise<RuledFields>;
}

/** Reference: records.md#silencing-flags. */
export interface SilencingFlags {
  /** `dontRunPlatformTriggers`: no data-change trigger runs. */
  readonly triggers: boolean;
  /** `dontUpdatePlatformTimeline`: no `_Timeline` rows. */
  readonly timeline: boolean;
  /** `dontRunPlatformTriggersCreate`: create-object actions are skipped. */
  readonly createActions: boolean;
  /** `dontRunPlatformTriggersUpdate`: update-object actions are skipped. */
  readonly updateActions: boolean;
}
