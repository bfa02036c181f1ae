import { actsAsMaster, authorize, bothOf, grantFor, refuseOutright } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import { fieldOf, type Schema } from '../../schema/model.ts';
import { columnsOf, setColumns } from '../../storage/column-values.ts';
import type { Assignment } from '../../storage/port.ts';
import { valuesReturned } from '../../storage/text-values.ts';
import { checkAhead } from '../../values/index.ts';
import type { RecordContext } from '../context/context.ts';
import type { ResolvedFiles } from '../context/file-keeper.ts';
import type { Attempt, RuledFields, SeenWrite, SilencingFlags } from '../context/write-hooks.ts';
import { getRow, type Row } from '../read/find.ts';
import { isRuled, runBeforeSave, signerOf, takeFlags } from './before-save.ts';
import { commitRecords, eventOf, type PreparedRecord, type RecordPlan, writtenAt } from './commit.ts';
import { disownedBy, planFields, relationSteps, sourcesFor } from './fields.ts';
import { attachments } from './file-attachments.ts';
import { conditionOf, explained, type OnlyIf, type Precondition } from './precondition.ts';
import { SchemaDraft } from './schema-draft.ts';
import { watchRecord } from './watch-record.ts';

/** Answer of an update. */
export interface Updated {
  readonly updatedAt: string;
  readonly objectId: string;
  /** New values of fields that operators changed, as `UpdateResult.returned`. */
  readonly returned: string;
}

/** Returns the JSON text of the answer: `{updatedAt, objectId}` and the values that operators produced. */
export const updatedText = ({ updatedAt, objectId, returned }: Updated): string =>
  `{"updatedAt":"${updatedAt}","objectId":${JSON.stringify(objectId)}${returned}}`;

/** Returns the answer as values. */
export const updatedRow = ({ updatedAt, objectId, returned }: Updated): Row => ({
  updatedAt,
  objectId,
  ...valuesReturned(returned),
});

/**
 * Changes a record. Reference: records.md#update, records.md#field-operators.
 * @param conditions when to write
 * @throws objectNotFound (101) if it does not exist or the caller may not see it; captcha, permissionDenied (119); schemaMismatch (111); unknownFile
 * (1);
 * changedMeanwhile (409) if `onlyIf` does not hold; preconditionFailed (412)
 */
export async function updateRecord(
  context: RecordContext,
  className: string,
  objectId: string,
  body: JsonObject,
  conditions: UpdateConditions = {},
): Promise<Updated> {
  const { onlyIf, precondition } = conditions;
  const update = { className, objectId, body, ...conditions };
  try {
    const committed = await commitRecords(context, async (attempt) => [await prepareUpdate(context, update, attempt)]);
    return { updatedAt: isoText(writtenAt(committed)), objectId, returned: committed.updates.get(0)?.returned ?? '' };
  } catch (error) {
    if (precondition) throw await explained(context, { className, objectId, action: 'update', precondition }, error);
    if (onlyIf && error instanceof ServiceError && error.key === 'objectNotFound') {
      // Throws objectNotFound too if the caller cannot read the record.
      await getRow(context, className, objectId);
      throw serviceError('changedMeanwhile');
    }
    throw error;
  }
}

/** A change of a record. */
export interface RecordUpdate {
  readonly className: string;
  readonly objectId: string;
  /** The fields, operators and silencing flags that the client sent. */
  readonly body: JsonObject;
  readonly onlyIf?: OnlyIf | undefined;
  readonly precondition?: Precondition | undefined;
}

/** When an update is executed; otherwise nothing is written. */
export interface UpdateConditions {
  /** Optimistic condition: the record is still as the caller has read it. */
  readonly onlyIf?: OnlyIf | undefined;
  readonly precondition?: Precondition | undefined;
}

/** Prepares an update, as `prepareCreate` does a create. */
export async function prepareUpdate(context: RecordContext, update: RecordUpdate, attempt: Attempt): Promise<PreparedRecord> {
  const { principal } = context;
  const { className, objectId } = update;
  refuseOutright(principal, 'update', className, objectId);
  const { fields, flags } = takeFlags(update.body, actsAsMaster(principal));
  const ruled: RuledFields = isRuled(context, className)
    ? await runBeforeSave(className, 'update', { context, objectId, fields, ...attempt })
    : { fields };
  if (context.hasLongBody)
    await checkAhead(ruled.fields, context.appId, 'update', context.store.schema().tables.get(className)?.isCopied);
  const { conditions } = ruled;
  const watching = watchRecord(context, 'update', { className, objectId, fields }, attempt.earlier);
  const { seen, version: read } = watching instanceof Promise ? await watching : watching;
  const version = ruled.version ?? read;
  // Always later than the version that the rules have read, also within one millisecond and if clocks of processes differ.
  const at = version === undefined ? attempt.at : Math.max(attempt.at, version + 1);
  const change = { context, update, ruled, flags, at, version, seen };
  return {
    className,
    objectId,
    fields: ruled.fields,
    at,
    version,
    conditions,
    plan: (schema, resolved) => planUpdate(change, schema, resolved),
  };
}

/** A prepared update. */
interface Change {
  readonly context: RecordContext;
  readonly update: RecordUpdate;
  readonly ruled: RuledFields;
  readonly flags: SilencingFlags;
  readonly at: number;
  /** As in `RuledFields`. */
  readonly version: number | undefined;
  readonly seen: SeenWrite | undefined;
}

/** Plans an update, as `planCreate` does a create. Pure. */
function planUpdate(
  { context, update: { className, objectId, onlyIf, precondition }, ruled, flags, at, version, seen }: Change,
  schema: Schema,
  resolved: ResolvedFiles,
): RecordPlan {
  const { principal } = context;
  const { fields: sent, set, before } = ruled;
  const stored = schema.tables.get(className);
  if (!stored) return fail('objectNotFound');
  const grant = authorize(principal, 'update', stored, schema);
  const draft = new SchemaDraft(stored, grant);
  const planned = planFields(draft, sent, 'update', grant.hiddenFields);
  const { table } = draft;
  const { relations, returning } = planned;
  const assignments = [...planned.assignments.values()].filter(({ field }) => !resolved.kept.has(field.name));
  const own = columnsOf(table, { updatedBy: signerOf(context, className) });
  setColumns(own, table, sourcesFor(table, context));
  setColumns(own, table, disownedBy(table, sent));
  setColumns(own, table, set);
  const ours = own.map(([field, value]): Assignment => ({ kind: 'set', field, value }));
  // Later than the stored one, also within one millisecond and if clocks differ: clients take it for the version of the record.
  ours.push({ kind: 'advance', field: fieldOf(table, 'updatedAt'), value: at, step: 1 });
  // Values that operators produced are returned only if the caller may read them.
  const reading = returning.length > 0 ? grantFor(principal, 'get', stored, schema) : null;
  return {
    changes: draft.changes,
    mutations: [
      ...(before?.(schema) ?? []),
      {
        kind: 'update',
        table,
        objectId,
        guard: draft.isGrown ? bothOf(grant.rows, grant.growthRows) : grant.rows,
        ...conditionOf(table, onlyIf, precondition, version),
        assignments: [...assignments, ...ours],
        returning: reading ? returning.filter(({ name }) => !reading.masks.has(name)) : [],
        returningGuard: reading?.rows ?? null,
      },
      ...relationSteps(table, relations, objectId),
      ...(planned.setsFile ? attachments(context, schema, assignments, resolved) : []),
    ],
    events: [eventOf(context, { event: 'update', table, objectId, sent, assignments: planned.assignments, flags, at, seen })],
  };
}
