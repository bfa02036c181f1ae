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

/** A system, as automation uses it. */
export interface AutomationSystem {
  readonly appId: string;
  /** Its display name. */
  readonly name: string;
  readonly store: Store;
  /** Whether queued work must wait. Default: false. */
  readonly isHeld?: boolean;
}

/** The services that actions use. */
export interface ActionServices {
  readonly functions: Functions;
  readonly mailer: Mailer;
  readonly log: Logger;
  /** Logs recurring faults once, not for each job. */
  readonly conditions: Pick<Conditions, 'met' | 'over'>;
}

/** An action to be executed for a record. */
export interface ActionRun<Type extends ActionType = ActionType> {
  readonly system: AutomationSystem;
  readonly trigger: Trigger;
  readonly action: ActionOf<Type>;
  readonly event: TriggerEvent;
  readonly record: TriggeringRecord;
  /** Recorded as the cause of the action's writes. */
  readonly cause: Cause;
  /** The objectId of the action's row in `_syslogTriggers`, the same for each attempt. */
  readonly runId: string;
  /** 1 for the first attempt; more if it was begun before and possibly executed. */
  readonly attempt: number;
  /**
   * A context with the rights of the trigger (adr/0015); the audit shows the master, with `cause`. A write with it must be the action's last, because
   * its commit also includes `done`.
   */
  readonly context: RecordContext;
  /** The same without `done`: for reads, and for writes that are not the last. */
  readonly reading: RecordContext;
  /** The values of records that the action has used. */
  readonly sources: Sources;
  /** Mutations that record the completion of the action; exactly one commit must include them. Part of `context`. */
  readonly done: (schema: Schema) => readonly Mutation[];
  /** Replaces `done` for an action that writes something although it failed: its row gets the error. */
  readonly failed: (error: string) => (schema: Schema) => readonly Mutation[];
}

/** The services of a run that exist without executing it. */
export type ActionDraft<Type extends ActionType = ActionType> = Pick<
  ActionRun<Type>,
  'system' | 'action' | 'event' | 'record' | 'reading'
> & { readonly sources?: Sources; readonly allowance?: TemplateAllowance };

/**
 * Executes an action. When it resolves, the commit with `run.done` or `run.failed` is durable, or nothing had to be committed.
 * @throws an error of the catalogue if the action cannot be done (nothing is written then); any other error is a fault
 */
export type Perform<Type extends ActionType> = (run: ActionRun<Type>, services: ActionServices) => Promise<void>;

/** An action could not be done. The message is shown in `_syslogTriggers`, so it contains only what users of the system may know. */
export class ActionFailed extends Error {
  override readonly name = 'ActionFailed';
}

/** Completes an action that has nothing else to write. Durable when it resolves. */
export async function commitDone({ system, done }: Pick<ActionRun, 'system' | 'done'>): Promise<void> {
  await system.store.write({ plan: (schema) => ({ changes: [], mutations: done(schema) }) });
}

/**
 * Returns a context for a row in which the service records an action. The caller must be allowed to create such a row; the service determines its
 * content.
 * @throws permissionDenied (119)
 */
export function asService(context: RecordContext, className: string): RecordContext {
  const table = context.store.schema().tables.get(className);
  if (table) authorize(context.principal, 'create', table);
  return { ...context, principal: master };
}

/** Characters that the templates of one run may produce; a template that repeats a long field could exhaust memory otherwise. */
const MAX_TEMPLATE_OUTPUT = limits.bodyBytes;

/** The output budget for templates: of one run, or of all actions of a preview. */
export class TemplateAllowance {
  #left: number = MAX_TEMPLATE_OUTPUT;

  /** @throws ActionFailed if the budget is exceeded */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new ActionFailed(`The templates come to more than ${MAX_TEMPLATE_OUTPUT} characters.`);
  }
}
