import type { Principal } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Schema, TableSchema } from '../../schema/model.ts';
import type { OwnValues } from '../../storage/column-values.ts';
import type { Assignment, Condition, Mutation } from '../../storage/port.ts';
import type { RecordContext } from './context.ts';

/** The trigger whose action writes (SPEC "States and transitions": trigger chain). */
export interface Cause {
  readonly triggerId: string;
  /** Of this trigger: 1 where a client's write or the clock fired it. */
  readonly level: number;
  /** The trigger of level 1. */
  readonly source: string;
  /** What all has in common that one write of a client's brings about: the id of its job. */
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
  /** What a create sets in place of what the service would, by field: when and by whom it was made elsewhere. */
  readonly known?: OwnValues;
  /** By whom the audit says that it is. */
  readonly principal: Principal;
  readonly flags: SilencingFlags;
  /** Of a session user's request, or `server-side-code:<fn>`. */
  readonly referer: string | null;
  readonly cause: Cause | null;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/** Steps that an observer adds to the commit of a write. */
export interface AddedSteps {
  /** Before all steps of the write: what was there is still there. */
  readonly before?: readonly Mutation[];
  /** After the steps of the write. */
  readonly after?: readonly Mutation[];
}

/** Audit and automation observe every write, whatever path it came by. `workshop.ts` hands them to the records. */
export interface WriteObserver {
  /** Reads what its steps depend on, before a write is planned. */
  ready?(context: RecordContext): Promise<void>;
  /**
   * What it adds to the commit. Pure.
   * @param schema before the write's own changes. Called again under a newer one where there is one by the time of the commit
   */
  plan?(event: WriteEvent, schema: Schema, context: RecordContext): AddedSteps;
  /** Called after the commit. @param added what `plan` gave for it */
  committed?(event: WriteEvent, context: RecordContext, added: AddedSteps): void;
  /** Called instead where the outcome of the commit is unknown: the database did not answer. */
  inDoubt?(event: WriteEvent, context: RecordContext, added: AddedSteps): void;
}

/** How a write is prepared. */
export interface Attempt {
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The writes before it in the same commit: what is read and the conditions tell nothing of them yet. */
  readonly earlier: readonly EarlierWrite[];
  /**
   * Whether rules look now for what a condition of theirs decides in the commit: one has failed there, or nobody prepares the write again.
   * Else they read nothing for it, so that a write keeps its place among those of its turn.
   */
  readonly looksAhead: boolean;
}

/** A write of one record, as its table's rules see it before it is planned. The caller's rights are looked at first where they can be. */
export interface RuledWrite extends Omit<Attempt, 'at'> {
  readonly context: RecordContext;
  readonly objectId: string;
  /** What the client sent, without flags; empty for a delete. */
  readonly fields: JsonObject;
}

/** A write that another one of the same commit comes after. */
export interface EarlierWrite extends Pick<RuledWrite, 'objectId' | 'fields'> {
  readonly className: string;
  readonly action: keyof TableRules;
}

/** What the rules make of a write. */
export interface RuledFields {
  /** What is planned as the client's; observers see it, so it holds no secret. */
  readonly fields: JsonObject;
  /** Stored values of fields that no client writes as they are: hashes, the service's own notes. */
  readonly set?: OwnValues;
  /** Steps of the same commit, before the record's own. Pure. */
  readonly before?: (schema: Schema) => readonly Mutation[];
  /**
   * Of an update: `updatedAt` of the record that the rules have read and decided by, in milliseconds since 1970. Where it is another in the
   * commit they are asked again (`retryOutdated`). Each such update makes it later.
   */
  readonly version?: number;
  /** What the rules have found and the commit looks at again. Where one does not hold by then, the rules are asked again. Pure. */
  readonly conditions?: (schema: Schema) => readonly Condition[];
}

/** What a system table asks of writes beyond its schema and permissions, whatever path they come by. */
export interface TableRules {
  create?(write: RuledWrite): Promise<RuledFields>;
  update?(write: RuledWrite): Promise<RuledFields>;
  remove?(write: RuledWrite): Promise<RuledFields>;
}

/** SPEC "Trigger-silencing flags". */
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
