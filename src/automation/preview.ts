import { isRefusal, ServiceError } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import { getRow, type RecordContext, readFirst } from '../records/index.ts';
import { draftOf } from './actions/drafts.ts';
import { authorField, parseTrigger } from './definition/index.ts';
import { actingFor, unreadable } from './matching/authority.ts';
import { meetsCriteria } from './matching/conditions.ts';
import { type ActionDraft, ActionFailed, TemplateAllowance } from './model/action.ts';
import type { ActionType, Trigger } from './model/model.ts';
import { messageOf } from './run/outcome.ts';

/** What an action would do, or why it could not. */
export interface ActionPreview {
  readonly id: string;
  readonly type: ActionType;
  readonly isActive: boolean;
  /** `null` if it could not be done. */
  readonly does: JsonObject | null;
  readonly error: string | null;
}

/** What a trigger would do for the current state of a record. */
export interface TriggerPreview {
  readonly trigger: Trigger;
  /** `null` if the criteria no longer fit the table. */
  readonly meetsCriteria: boolean | null;
  readonly error: string | null;
  /** Why the author's permissions prevent any action for this record; `null` if they do not. */
  readonly obstacle: string | null;
  readonly actions: readonly ActionPreview[];
}

/**
 * Previews what a trigger would do for a record; nothing is written, sent or called. Reads with the caller's permissions, so that neither criteria
 * nor templates reveal more than the caller may see.
 * @param shorten reduces the preview of an action; called for each one immediately, to bound memory
 * @throws objectNotFound (101), permissionDenied (119) if the caller may not read the definition or the record; timeout, unavailable
 */
export async function previewTrigger(
  context: RecordContext,
  triggerId: string,
  objectId: string,
  shorten: (does: JsonObject) => JsonObject,
): Promise<TriggerPreview> {
  // The author's identity is hidden from callers, but the effect of the author's permissions is shown.
  const definition = await getRow(context, '_Trigger', triggerId);
  const trigger = parseTrigger({ ...definition, [authorField]: await authorOf(context, triggerId) });
  const record = { className: trigger.table, objectId, fields: await getRow(context, trigger.table, objectId) };
  const { met, error } = await checkCriteria(context, trigger, objectId);
  const actions: ActionPreview[] = [];
  const allowance = new TemplateAllowance();
  for (const action of trigger.actions) {
    const { does, error } = await previewAction(context, trigger, { action, record, allowance });
    actions.push({ id: action.id, type: action.type, isActive: action.isActive, does: does && shorten(does), error });
  }
  return { trigger, meetsCriteria: met, error, obstacle: await obstacleOf(context, trigger, objectId), actions };
}

const own = [authorField];

async function authorOf({ store }: RecordContext, triggerId: string): Promise<string | null> {
  const query = { className: '_Trigger', field: 'objectId', value: triggerId, fields: own };
  return (await readFirst<{ readonly [authorField]?: string }>(store, query))?.[authorField] ?? null;
}

async function obstacleOf(context: RecordContext, trigger: Trigger, objectId: string): Promise<string | null> {
  if (trigger.author === null) return null;
  const { appId, store } = context;
  try {
    const principal = await actingFor({ appId, name: appId, store }, trigger);
    await getRow({ ...context, principal }, trigger.table, objectId, { keys: ['objectId'] });
    return null;
  } catch (error) {
    if (error instanceof ServiceError && (error.key === 'objectNotFound' || error.key === 'permissionDenied')) return unreadable;
    return messageOfFailure(error);
  }
}

async function checkCriteria(context: RecordContext, trigger: Trigger, objectId: string) {
  try {
    return { met: await meetsCriteria(context, trigger, objectId), error: null };
  } catch (error) {
    return { met: null, error: messageOfFailure(error) };
  }
}

async function previewAction(
  context: RecordContext,
  { events }: Trigger,
  draft: Pick<ActionDraft, 'action' | 'record' | 'allowance'>,
): Promise<Pick<ActionPreview, 'does' | 'error'>> {
  const { appId, store } = context;
  // Prefers another event: on delete, `update-object` of the record itself would fail.
  const event = [...events].find((one) => one !== 'delete') ?? 'delete';
  try {
    return {
      does: await draftOf({ system: { appId, name: appId, store }, event, reading: context, ...draft }),
      error: null,
    };
  } catch (error) {
    return { does: null, error: messageOfFailure(error) };
  }
}

/** Returns the message that the trigger log would show. @throws faults and transient errors */
function messageOfFailure(error: unknown): string {
  if (error instanceof ActionFailed) return error.message;
  if (!isRefusal(error)) throw error;
  return messageOf(error);
}
