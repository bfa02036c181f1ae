import { authorize } from '../../access/index.ts';
import { fail, ServiceError } from '../../errors/fail.ts';
import { Contention } from '../../kernel/contention.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import type { Schema } from '../../schema/model.ts';
import type { OwnValues } from '../../storage/column-values.ts';
import { type Condition, type Mutation, Overtaken } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';
import type { PreparedRecord } from './commit.ts';

/** A write of one record, as its table's rules see it before it is planned. The caller's rights are looked at first where they can be. */
export interface RuledWrite {
  readonly context: RecordContext;
  readonly objectId: string;
  /** What the client sent, without flags; empty for a delete. */
  readonly fields: JsonObject;
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

const rights = { create: 'create', update: 'update', remove: 'delete' } as const;

/**
 * Applies the rules of a table, where it has any.
 * @throws permissionDenied (119) before, since what the rules say tells of the records; what the rules throw
 */
export async function runBeforeSave(className: string, action: keyof TableRules, write: RuledWrite): Promise<RuledFields> {
  const { store, principal, hooks } = write.context;
  const rules = hooks.rules.get(className);
  if (!rules) return { fields: write.fields };
  const table = store.schema().tables.get(className);
  if (table) authorize(principal, rights[action], table);
  return (await rules[action]?.(write)) ?? { fields: write.fields };
}

/** The systems with writes that are prepared again. One at a time: else all but one would come too late each time. */
const latecomers = new KeyedMutex();

/**
 * Prepares writes and commits them; again from the beginning where a record was not as its rules had read it, or a condition of the rules
 * no longer held.
 * @param prepare applies the rules
 * @throws unavailable where others are faster for seconds; what `prepare` and `commit` throw
 */
export async function retryOutdated<P extends Pick<PreparedRecord, 'version' | 'isConditional'>, T>(
  context: RecordContext,
  prepare: () => Promise<readonly P[]>,
  commit: (prepared: readonly P[]) => Promise<T>,
): Promise<T> {
  let prepared = await prepare();
  let failure: unknown;
  try {
    return await commit(prepared);
  } catch (error) {
    if (!isOutdated(error, prepared, context)) throw error;
    failure = error;
  }
  const contention = new Contention();
  return latecomers.runExclusive(context.appId, async () => {
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

/** Whether the rules may have decided by what has changed since. Under conditions of the context's own, its owner decides anew. */
function isOutdated(
  error: unknown,
  prepared: readonly Pick<PreparedRecord, 'version' | 'isConditional'>[],
  { held, conditions }: RecordContext,
): boolean {
  if (isMissing(error)) return prepared.some(({ version }) => version !== undefined);
  return error instanceof Overtaken && !held && !conditions && prepared.some(({ isConditional }) => isConditional);
}

const isMissing = (error: unknown): boolean => error instanceof ServiceError && error.key === 'objectNotFound';
