import type { Principal } from '../../access/index.ts';
import { isPassing } from '../../errors/fail.ts';
import { endOfWrite, inDoubtSince } from '../../errors/system-faults.ts';
import type { SharedPatterns } from '../../query/regex/index.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import type { Condition, Mutation, Store } from '../../storage/port.ts';
import type { FileKeeper } from './file-keeper.ts';
import type { Cause, TableRules, WriteObserver } from './write-hooks.ts';

/** What others have to say of writes. `app.ts` hands it to the records, which know nobody above them. */
export interface WriteHooks {
  /** They observe every write, whatever path it comes by. */
  readonly observers: readonly WriteObserver[];
  /** Rules of system tables, by class. */
  readonly rules: ReadonlyMap<string, TableRules>;
  /** Who knows the files that records hold. */
  readonly files: FileKeeper;
}

/** What every operation on records needs: whose data, who asks, and who has a say in writes. */
export interface RecordContext {
  /** Of the system. */
  readonly appId: string;
  readonly store: Store;
  readonly principal: Principal;
  /** By whom the audit says that writes are, where that is not the principal: a trigger writes as the master, with the rights of its author. */
  readonly actor?: Principal;
  /** Whose rights to files count where it is not the principal: forms write with full rights what anybody sent them. */
  readonly attacher?: Principal;
  /** Names of files that this write may attach whatever the rights of `attacher`. */
  readonly ownFiles?: ReadonlySet<string>;
  /**
   * Whether creates leave the schema as it is, whatever happens to it meanwhile: fields that a table has not are passed over, a missing table
   * is refused. Forms make nothing.
   */
  readonly keepsSchema?: true;
  readonly hooks: WriteHooks;
  /** Whether its writes may leave the system without an administrator who may sign in: a command that was told to. */
  readonly evenLastAdministrator?: true;
  /** What the patterns of the request may cost together, however many queries and definitions it brings; each has its own where it is left out. */
  readonly patterns?: SharedPatterns;
  /** For the audit: the request's Referer, which counts where a session user writes; `server-side-code:<fn>` for functions; `null` where there is none. */
  readonly referer: string | null;
  /** The trigger that has this written; left out where a client has. */
  readonly cause?: Cause;
  /** What has to hold for each write: who writes has decideAnew by it, and decides anew where it no longer holds (`decideAnew`). Pure. */
  readonly conditions?: (schema: Schema) => readonly Condition[];
  /** The keys under which each write is made, which nobody else may have written under meanwhile (`exclusively`). */
  readonly held?: Omit<Extract<Condition, { kind: 'unchanged' }>, 'kind'>;
  /** Of which values of other records a write is made, where its table keeps that (`copyFields.sources`). */
  readonly sources?: string;
  /**
   * Further steps of the commit of each write, after all others: who keeps count of what is done takes note of it there. Pure.
   * @param changes of the schema in the same commit
   */
  readonly alongside?: (schema: Schema, changes: readonly SchemaChange[]) => readonly Mutation[];
  /** Of the request, told of each write that is carried out. */
  readonly progress?: Progress;
  /** Ends lists and counts that are under way, in the database too, with `timeout`: nobody waits for them any more. Where it is left out they go on. */
  readonly until?: AbortSignal;
}

/** What the Referer of writes by functions begins with (SPEC "`_Timeline` fields"). */
const mark = 'server-side-code';

/** The Referer of what a function writes. */
export const functionReferer = (name: string): string => `${mark}:${name}`;

/** Whether a Referer says that a function wrote, which no client may say. */
export const tellsOfFunction = (referer: string): boolean => referer.startsWith(mark);

/** How far the work of one request has come, which may be several writes. */
export interface Progress {
  /** Whether one of its writes was carried out. */
  hasWritten: boolean;
}

/**
 * What a request ends with that met an error: where a part of it was done before, nobody may be told that nothing was (CONTRACT "Faults of the
 * store").
 * @param isWrite whether it was to write: that took too long is told of reads alone
 */
export function endOf(error: unknown, { hasWritten }: Progress, isWrite = false): unknown {
  if (hasWritten && isPassing(error)) return inDoubtSince(error);
  return isWrite ? endOfWrite(error) : error;
}
