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
  /** `null` where it could not be done. */
  readonly does: JsonObject | null;
  readonly error: string | null;
}

/** What a trigger would do for a record as it is. */
export interface TriggerPreview {
  readonly trigger: Trigger;
  /** `null` where they no longer fit the table. */
  readonly meetsCriteria: boolean | null;
  readonly error: string | null;
  /** Why it does nothing for this record whatever its criteria: its author; `null` where he is no hindrance. */
  readonly obstacle: string | null;
  readonly actions: readonly ActionPreview[];
}

/**
 * Looks at what a trigger would do for a record as it is now; nothing is written, sent or called. It reads as the caller, so that
 * neither criteria nor templates tell more than he may see.
 * @param shorten what is told of what an action does; at once, since that may fill the memory
 * @throws objectNotFound (101), permissionDenied (119) where the caller may not read the definition or the record; timeout, unavailable
 */
export async function previewTrigger(
  context: RecordContext,
  triggerId: string,
  objectId: string,
  shorten: (does: JsonObject) => JsonObject,
): Promise<TriggerPreview> {
  // The author is nobody's to read, but what he may not do is the caller's to hear.
  const definition = await getRow(context, '_Trigger', triggerId);
  const trigger = parseTrigger({ ...definition, [authorField]: await authorOf(context, triggerId) });
  const record = { className: trigger.table, objectId, fields: await getRow(context, trigger.table, objectId) };
  const { met, error } = await lookAt(context, trigger, objectId);
  const actions: ActionPreview[] = [];
  const allowance = new TemplateAllowance();
  for (const action of trigger.actions) {
    const { does, error } = await tried(context, trigger, { action, record, allowance });
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
    return toldOf(error);
  }
}

async function lookAt(context: RecordContext, trigger: Trigger, objectId: string) {
  try {
    return { met: await meetsCriteria(context, trigger, objectId), error: null };
  } catch (error) {
    return { met: null, error: toldOf(error) };
  }
}

async function tried(
  context: RecordContext,
  { events }: Trigger,
  draft: Pick<ActionDraft, 'action' | 'record' | 'allowance'>,
): Promise<Pick<ActionPreview, 'does' | 'error'>> {
  const { appId, store } = context;
  // A record that is to be deleted is still there for a write of another kind.
  const event = [...events].find((one) => one !== 'delete') ?? 'delete';
  try {
    return {
      does: await draftOf({ system: { appId, name: appId, store }, event, reading: context, ...draft }),
      error: null,
    };
  } catch (error) {
    return { does: null, error: toldOf(error) };
  }
}

/** What the log would say. @throws faults, and what is soon over */
function toldOf(error: unknown): string {
  if (error instanceof ActionFailed) return error.message;
  if (!isRefusal(error)) throw error;
  return messageOf(error);
}
