import { actsAsMaster, authorize, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Schema } from '../../schema/model.ts';
import type { Assignment } from '../../storage/port.ts';
import type { RecordContext } from '../context/context.ts';
import type { Attempt, RuledFields, SeenWrite, SilencingFlags } from '../context/write-hooks.ts';
import { isRuled, runBeforeSave, takeFlags } from './before-save.ts';
import { commitRecords, eventOf, type PreparedRecord, type RecordPlan } from './commit.ts';
import { conditionOf, explained, type Precondition } from './precondition.ts';
import { watchRecord } from './watch-record.ts';

/** A record to be deleted. */
export interface RecordRemoval {
  readonly className: string;
  readonly objectId: string;
  /** May hold silencing flags; usually empty. */
  readonly body: JsonObject;
  readonly precondition?: Precondition | undefined;
}

/**
 * Deletes a record. Reference: records.md#delete.
 * @param body as in `RecordRemoval`
 * @throws objectNotFound (101); pointedAt (119) if another record points at it; captcha, permissionDenied (119); preconditionFailed (412)
 */
export async function deleteRecord(
  context: RecordContext,
  className: string,
  objectId: string,
  body: JsonObject,
  precondition?: Precondition,
): Promise<void> {
  const removal = { className, objectId, body, precondition };
  try {
    await commitRecords(context, async (attempt) => [await prepareRemove(context, removal, attempt)]);
  } catch (error) {
    throw precondition ? await explained(context, { className, objectId, action: 'delete', precondition }, error) : error;
  }
}

/** Prepares a delete, as `prepareCreate` does a create. */
export async function prepareRemove(context: RecordContext, removal: RecordRemoval, attempt: Attempt): Promise<PreparedRecord> {
  const { principal } = context;
  const { className, objectId, body } = removal;
  refuseOutright(principal, 'delete', className, objectId);
  const { flags } = takeFlags(body, actsAsMaster(principal));
  const ruled: RuledFields = isRuled(context, className)
    ? await runBeforeSave(className, 'remove', { context, objectId, fields: {}, ...attempt })
    : { fields: {} };
  const watching = watchRecord(context, 'remove', { className, objectId, fields: {} }, attempt.earlier);
  const { seen, version } = watching instanceof Promise ? await watching : watching;
  const { at } = attempt;
  const deletion = { context, removal, ruled, flags, at, version, seen };
  return {
    className,
    objectId,
    fields: {},
    at,
    version,
    conditions: ruled.conditions,
    plan: (schema) => planRemove(deletion, schema),
  };
}

/** A prepared delete. */
interface Deletion {
  readonly context: RecordContext;
  readonly removal: RecordRemoval;
  readonly ruled: RuledFields;
  readonly flags: SilencingFlags;
  readonly at: number;
  /** `updatedAt` of the record as it was read; the commit checks it. Left out: nothing was read. */
  readonly version: number | undefined;
  readonly seen: SeenWrite | undefined;
}

const none: ReadonlyMap<string, Assignment> = new Map();

/** Pure. */
function planRemove({ context, removal, ruled, flags, at, version, seen }: Deletion, schema: Schema): RecordPlan {
  const { className, objectId, precondition } = removal;
  const table = schema.tables.get(className);
  if (!table) return fail('objectNotFound');
  const { rows: guard } = authorize(context.principal, 'delete', table, schema);
  return {
    changes: [],
    mutations: [
      ...(ruled.before?.(schema) ?? []),
      { kind: 'delete', table, objectId, guard, ...conditionOf(table, undefined, precondition, version) },
    ],
    events: [eventOf(context, { event: 'delete', table, objectId, sent: {}, assignments: none, flags, at, seen })],
  };
}
