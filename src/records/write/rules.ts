import { authorize } from '../../access/index.ts';
import { fail, ServiceError } from '../../errors/fail.ts';
import { Contention } from '../../kernel/contention.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { Turns } from '../../kernel/turns.ts';
import type { Schema } from '../../schema/model.ts';
import type { OwnValues } from '../../storage/columns.ts';
import type { Mutation } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';
import type { PreparedRecord } from './prepared.ts';

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
   * commit they are asked again (`carryOutRuled`). Each such update makes it later.
   */
  readonly version?: number;
}

/** What a system table asks of writes beyond its schema and permissions, whatever path they come by. */
export interface TableRules {
  create?(write: RuledWrite): RuledFields | Promise<RuledFields>;
  update?(write: RuledWrite): RuledFields | Promise<RuledFields>;
  remove?(write: RuledWrite): RuledFields | Promise<RuledFields>;
}

const rights = { create: 'create', update: 'update', remove: 'delete' } as const;

/**
 * Asks the rules of a table, where it has any. At once where they are, so that writes keep the order in which they came.
 * @throws permissionDenied (119) before, since what the rules say tells of the records; what the rules throw
 */
export function underRules(className: string, action: keyof TableRules, write: RuledWrite): RuledFields | Promise<RuledFields> {
  const { store, principal, hooks } = write.context;
  const rules = hooks.rules.get(className);
  const table = rules && store.schema().tables.get(className);
  if (table) authorize(principal, rights[action], table);
  return rules?.[action]?.(write) ?? { fields: write.fields };
}

/** The systems with writes that are prepared again. One at a time: else all but one would come too late each time. */
const latecomers = new Turns();

/**
 * Prepares writes and carries them out; again from the beginning where a record was not as its rules had read it. The first time is at once
 * where the rules are, so that writes keep the order in which they came.
 * @param prepare asks the rules
 * @throws unavailable where others are faster for seconds; what `prepare` and `carryOut` throw
 */
export async function carryOutRuled<P extends readonly PreparedRecord[], T>(
  { appId }: RecordContext,
  prepare: () => P | Promise<P>,
  carryOut: (prepared: P) => Promise<T>,
): Promise<T> {
  const asked = prepare();
  let prepared = asked instanceof Promise ? await asked : asked;
  let failure: unknown;
  try {
    return await carryOut(prepared);
  } catch (error) {
    if (!isMissing(error) || prepared.every(({ version }) => version === undefined)) throw error;
    failure = error;
  }
  const contention = new Contention();
  return latecomers.take(appId, async () => {
    for (;;) {
      if (contention.isOver) return fail('unavailable');
      await contention.next();
      const before = prepared;
      prepared = await prepare();
      if (prepared.every(({ version }, at) => version === before[at]?.version)) throw failure;
      try {
        return await carryOut(prepared);
      } catch (error) {
        if (!isMissing(error)) throw error;
        failure = error;
      }
    }
  });
}

const isMissing = (error: unknown): boolean => error instanceof ServiceError && error.key === 'objectNotFound';
