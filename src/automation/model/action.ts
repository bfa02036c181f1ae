import { authorize, master } from '../../access/index.ts';
import type { Functions } from '../../functions/index.ts';
import { limits } from '../../kernel/limits.ts';
import type { Mailer } from '../../mail/index.ts';
import type { Conditions, Logger } from '../../observe/index.ts';
import type { Cause, RecordContext } from '../../records/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import type { ActionOf, ActionType, Trigger, TriggerEvent, TriggeringRecord } from './model.ts';
import type { Sources } from './sources.ts';

/** A system as automation works in it. */
export interface AutomationSystem {
  readonly appId: string;
  /** As its operator calls it. */
  readonly name: string;
  readonly store: Store;
  /** Whether all that is queued waits; left out: no. */
  readonly isHeld?: boolean;
}

/** What actions are done with. */
export interface ActionParts {
  readonly functions: Functions;
  readonly mailer: Mailer;
  readonly log: Logger;
  /** What the log tells of conditions, not of each job that meets one. */
  readonly conditions: Pick<Conditions, 'met' | 'over'>;
}

/** An action that is to be done for a record. */
export interface ActionRun<Type extends ActionType = ActionType> {
  readonly system: AutomationSystem;
  readonly trigger: Trigger;
  readonly action: ActionOf<Type>;
  readonly event: TriggerEvent;
  readonly record: TriggeringRecord;
  /** Of whatever the action writes. */
  readonly cause: Cause;
  /** The objectId of the action's row in `_syslogTriggers`, the same when the action is done once more after a crash. */
  readonly runId: string;
  /** 1, and more where it was begun before and perhaps done. */
  readonly attempt: number;
  /**
   * The system's records with the rights of the trigger (docs/adr/0015), for the audit as the master, with `cause`. A write with it is the
   * action's last: its commit also has `done`.
   */
  readonly context: RecordContext;
  /** The same without `done`: for reads, and for writes that are not the last. */
  readonly reading: RecordContext;
  /** The values of records that the action has used. */
  readonly sources: Sources;
  /** The steps that note that the action is done: exactly one commit has them. Part of `context`. */
  readonly done: (schema: Schema) => readonly Mutation[];
  /** As `done`, where the action has something to write although it could not be done: its row has the error. */
  readonly failed: (error: string) => (schema: Schema) => readonly Mutation[];
}

/** What is known of an action without doing it. */
export type ActionDraft<Type extends ActionType = ActionType> = Pick<
  ActionRun<Type>,
  'system' | 'action' | 'event' | 'record' | 'reading'
> & { readonly sources?: Sources; readonly allowance?: TemplateAllowance };

/**
 * Does an action; when it resolves, the commit with `run.done`, or `run.failed`, is durable, or there was none to be made.
 * @throws an error of the catalogue where it cannot be done, with nothing of it written; another one is a fault
 */
export type Perform<Type extends ActionType> = (run: ActionRun<Type>, parts: ActionParts) => Promise<void>;

/** An action could not be done, for a reason that its row in `_syslogTriggers` tells: no more than a user of the system may know. */
export class ActionFailed extends Error {
  override readonly name = 'ActionFailed';
}

/** Notes that an action is done that has nothing else to write; durable when it resolves. */
export async function commitDone({ system, done }: Pick<ActionRun, 'system' | 'done'>): Promise<void> {
  await system.store.write({ plan: (schema) => ({ changes: [], mutations: done(schema) }) });
}

/**
 * The context of a row in which the service notes what an action does: whose rights the action has is to be allowed to make one, its form is
 * the service's.
 * @throws permissionDenied (119)
 */
export function asService(context: RecordContext, className: string): RecordContext {
  const table = context.store.schema().tables.get(className);
  if (table) authorize(context.principal, 'create', table);
  return { ...context, principal: master };
}

/** Characters that templates of one run may come to: one that names a long field many times would else fill the memory. */
const MAX_LENGTH = limits.bodyBytes;

/** What templates may come to together: those of a run, those of all actions of a preview. */
export class TemplateAllowance {
  #left: number = MAX_LENGTH;

  /** @throws ActionFailed where there is not enough left */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new ActionFailed(`The templates come to more than ${MAX_LENGTH} characters.`);
  }
}
