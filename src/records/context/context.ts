import type { Principal } from '../../access/index.ts';
import { isPassing, type ServiceError } from '../../errors/fail.ts';
import { errorOfWrite, inDoubtSince } from '../../errors/system-faults.ts';
import type { JsonValue } from '../../kernel/json.ts';
import type { Observations } from '../../observe/index.ts';
import type { SharedPatterns } from '../../query/regex/index.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import type { Condition, Mutation, Store } from '../../storage/port.ts';
import type { FileKeeper } from './file-keeper.ts';
import type { NameHolder } from './name-holder.ts';
import type { Cause, RecordWatch, TableRules, WriteEvent, WriteObserver } from './write-hooks.ts';

/** Extension points of writes. `app.ts` passes them to `records/`, which does not know the layers below it. */
export interface WriteHooks {
  /** Called for every write, whatever its protocol. */
  readonly observers: readonly WriteObserver[];
  /** Rules of system tables, by class. */
  readonly rules: ReadonlyMap<string, TableRules>;
  /** Records whose earlier values observers need. */
  readonly watch?: RecordWatch;
  /** Attaches the files that records hold. */
  readonly files: FileKeeper;
  /** Records with definitions that name fields, which follow a rename. */
  readonly nameHolders?: readonly NameHolder[];
  /** Receives long writes of all records that match; optional. */
  readonly observations?: Observations;
}

/** What every operation on records needs: the store, the caller and the hooks of writes. */
export interface RecordContext {
  /** Application id of the system. */
  readonly appId: string;
  readonly store: Store;
  readonly principal: Principal;
  /** Author of writes in the audit, if that is not the principal: a trigger writes as the master with the rights of its author. */
  readonly actor?: Principal;
  /**
   * Whose rights to files count, if not the principal's: forms write with full rights, but attach files with the rights of their anonymous sender.
   */
  readonly attacher?: Principal;
  /** Names of files that this write may attach regardless of the rights of `attacher`. */
  readonly ownFiles?: ReadonlySet<string>;
  /**
   * Whether creates never change the schema: unknown fields are dropped, a missing table is refused. Set by forms
   * (functions.md#forms).
   */
  readonly keepsSchema?: true;
  readonly hooks: WriteHooks;
  /** Whether its writes may leave the system without an administrator who can sign in (`user block --force`; users.md#administrators). */
  readonly mayRemoveLastAdministrator?: true;
  /**
   * Shared budget for the regular expressions of the request, across all its queries and definitions. Left out: each query has a budget of its own.
   */
  readonly patterns?: SharedPatterns;
  /** For the log of administrators: the name of who acts, if not the caller's own: a command of the operator. */
  readonly who?: string;
  /** For the log of administrators: the id of the request (`X-Request-Id`); left out if no request writes. */
  readonly requestId?: string;
  /** For the audit: the request's Referer, used if a session user writes; `server-side-code:<fn>` for functions; `null` if there is none. */
  readonly referer: string | null;
  /** The trigger that performs the write; left out for writes of clients. */
  readonly cause?: Cause;
  /** Conditions that each commit checks. Their owner retries its whole decision if one no longer holds (`retryWhenConditionFailed`). Pure. */
  readonly conditions?: (schema: Schema) => readonly Condition[];
  /**
   * The keys under which each write is made, with the versions that were read. The commit fails if another process wrote under one since
   * (`exclusively`).
   */
  readonly held?: Omit<Extract<Condition, { kind: 'unchanged' }>, 'kind'>;
  /** The source records of the written values, for tables that keep them (`copyFields.sources`). */
  readonly sources?: string;
  /**
   * Further steps of each commit, after all others; used to record progress in the same commit. Pure.
   * @param changes schema changes of the same commit
   */
  readonly alongside?: (schema: Schema, changes: readonly SchemaChange[]) => readonly Mutation[];
  /**
   * Further steps for each record of a commit, directly after those of the record. Pure.
   * @param item position of the record among those of the commit
   */
  readonly afterRecord?: (schema: Schema, record: RecordSteps, item: number) => readonly Mutation[];
  /** Returns the context of a write whose commit keeps an answer, for repetitions of the request; left out if it keeps none. */
  readonly keepingAnswer?: (context: RecordContext, answer: JsonValue) => RecordContext;
  /** Progress of the request, set after each commit. */
  readonly progress?: Progress;
  /** Whether the request has a long body: its values are checked in many turns of the event loop, before the writes are planned. */
  readonly hasLongBody?: true;
  /** Ends running lists and counts with `timeout`, in the database too, because their caller is gone. Left out: they run to their end. */
  readonly until?: AbortSignal;
}

/** The steps of a write of one record, and its events: usually one. */
export interface RecordSteps {
  readonly mutations: readonly Mutation[];
  readonly events: readonly WriteEvent[];
}

/** Prefix of the Referer of writes by functions. Reference: system-tables.md#_timeline. */
const functionPrefix = 'server-side-code';

/** Returns the Referer of what a function writes. */
export const functionReferer = (name: string): string => `${functionPrefix}:${name}`;

/** Whether a Referer claims that a function wrote; clients may not send such a one. */
export const claimsFunction = (referer: string): boolean => referer.startsWith(functionPrefix);

/** Progress of one request, which may consist of several writes. */
export interface Progress {
  /** Whether at least one of its writes was committed. */
  hasWritten: boolean;
}

/** How far the request came stays part of the answer. */
function inDoubtAfter(error: unknown): ServiceError {
  const doubt = inDoubtSince(error);
  doubt.details = (error as ServiceError).details;
  return doubt;
}

/**
 * Returns the error to report for a failed request. After a committed write a passing fault becomes "in doubt", since part of the request was
 * done. Reference: faults.md#writes-in-doubt.
 * @param isWrite whether the request was to write: only reads report a timeout
 */
export function errorToReport(error: unknown, { hasWritten }: Progress, isWrite = false): unknown {
  if (hasWritten && isPassing(error)) return inDoubtAfter(error);
  return isWrite ? errorOfWrite(error) : error;
}
