import { actorId, authorize } from '../../access/index.ts';
import { fail, ServiceError } from '../../errors/fail.ts';
import { Contention } from '../../kernel/contention.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { ConditionFailed } from '../../storage/port.ts';
import type { RecordContext } from '../context/context.ts';
import type { RuledFields, RuledWrite, SilencingFlags, TableRules } from '../context/write-hooks.ts';
import type { PreparedRecord } from './commit.ts';

const rights = { create: 'create', update: 'update', remove: 'delete' } as const;

/** Whether a table has rules (`runBeforeSave`). Few have: their writes need not wait for them. */
export const isRuled = ({ hooks }: RecordContext, className: string): boolean => hooks.rules.has(className);

/**
 * Applies the rules of a table, if it has any.
 * @throws permissionDenied (119) before the rules run, since their errors reveal facts about records; what the rules throw
 */
export async function runBeforeSave(className: string, action: keyof TableRules, write: RuledWrite): Promise<RuledFields> {
  const { store, principal, hooks } = write.context;
  const rules = hooks.rules.get(className);
  if (!rules) return { fields: write.fields };
  const table = store.schema().tables.get(className);
  if (table) authorize(principal, rights[action], table);
  return (await rules[action]?.(write)) ?? { fields: write.fields };
}

/** Systems with writes that are being prepared again. Only one at a time per system; otherwise all but one would be outdated again each time. */
const retryMutex = new KeyedMutex();

/**
 * Prepares and commits outdated writes again, until each record is as its rules have read it and the conditions of the rules hold.
 * @param first the writes, and the error of their first commit
 * @param prepare applies the rules
 * @throws the error of the commit if preparing again changes nothing; unavailable if other writers were faster for seconds; what `prepare` and
 * `commit` throw
 */
export async function retryOutdated<P extends Pick<PreparedRecord, 'version' | 'conditions'>, T>(
  context: RecordContext,
  first: { readonly prepared: readonly P[]; readonly failure: unknown },
  prepare: () => Promise<readonly P[]>,
  commit: (prepared: readonly P[]) => Promise<T>,
): Promise<T> {
  let { prepared, failure } = first;
  if (!isOutdated(failure, prepared, context)) throw failure;
  const contention = new Contention();
  return retryMutex.runExclusive(context.appId, async () => {
    for (;;) {
      if (contention.isOver) return fail('unavailable');
      await contention.next();
      const before = prepared;
      prepared = await prepare();
      if (isMissing(failure) && prepared.every(({ version }, at) => version === before[at]?.version)) throw failure;
      try {
        return await commit(prepared);
      } catch (error) {
        if (!isOutdated(error, prepared, context)) throw error;
        failure = error;
      }
    }
  });
}

/** Whether the rules decided by data that has changed since. If the context has conditions of its own, their owner retries instead. */
function isOutdated(
  error: unknown,
  prepared: readonly Pick<PreparedRecord, 'version' | 'conditions'>[],
  { held, conditions }: RecordContext,
): boolean {
  if (isMissing(error)) return prepared.some(({ version }) => version !== undefined);
  return (
    error instanceof ConditionFailed && !held && !conditions && prepared.some(({ conditions: ruled }) => ruled !== undefined)
  );
}

const isMissing = (error: unknown): boolean => error instanceof ServiceError && error.key === 'objectNotFound';

const flagNames = {
  dontRunPlatformTriggers: 'triggers',
  dontUpdatePlatformTimeline: 'timeline',
  dontRunPlatformTriggersCreate: 'createActions',
  dontRunPlatformTriggersUpdate: 'updateActions',
} as const;

/** Whether a key of a body is a silencing flag, never a field. */
export function isSilencingFlag(key: string): boolean {
  return key.startsWith('dont') && Object.hasOwn(flagNames, key);
}

const none: SilencingFlags = { triggers: false, timeline: false, createActions: false, updateActions: false };

/**
 * Takes the silencing flags out of a body. They are consumed under every credential, and take effect under a key only.
 * Reference: records.md#silencing-flags.
 * @param honoured whether the caller's flags take effect
 */
export function takeFlags(body: JsonObject, honoured: boolean): { fields: JsonObject; flags: SilencingFlags } {
  if (!hasFlag(body)) return { fields: body, flags: none };
  const flags = { ...none };
  const kept: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(body)) {
    if (!isSilencingFlag(name)) kept.push([name, value]);
    else if (honoured && value === true) flags[flagNames[name as keyof typeof flagNames]] = true;
  }
  return { fields: Object.fromEntries(kept), flags };
}

/** Asks each key of the body: a look-up of a name that an object does not have takes as long as many of these. */
function hasFlag(body: JsonObject): boolean {
  for (const name in body) if (isSilencingFlag(name)) return true;
  return false;
}

/**
 * Returns the objectId that `createdBy` and `updatedBy` of a record get. A row of `Config` names the user with whose rights it was written,
 * whatever the audit says, because forms are authorised by it (adr/0015).
 */
export const signerOf = ({ principal, actor = principal }: RecordContext, className: string): string | null =>
  actorId(className === 'Config' ? principal : actor);
