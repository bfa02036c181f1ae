import { actsAsMaster, authorize, mayCreateTable, type Principal, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import { checkClassName, type Schema, type TableSchema } from '../../schema/model.ts';
import { newIdFor } from '../../schema/system-tables.ts';
import { columnsOf, type OwnValues, setColumns } from '../../storage/column-values.ts';
import type { Mutation } from '../../storage/port.ts';
import { checkAhead } from '../../values/index.ts';
import type { RecordContext } from '../context/context.ts';
import type { ResolvedFiles } from '../context/file-keeper.ts';
import type { Attempt, RuledFields, SeenWrite, SilencingFlags } from '../context/write-hooks.ts';
import { isRuled, runBeforeSave, signerOf, takeFlags } from './before-save.ts';
import { commitRecords, eventOf, type PreparedRecord, type RecordPlan } from './commit.ts';
import { planFields, relationSteps, sourcesFor } from './fields.ts';
import { attachments } from './file-attachments.ts';
import { SchemaDraft } from './schema-draft.ts';
import { watchCreate } from './watch-record.ts';

/** Answer of a create. Reference: records.md#create. */
export interface Created {
  readonly objectId: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A record to be created. */
export interface NewRecord {
  readonly className: string;
  /** The fields, operators and silencing flags that the client sent. */
  readonly body: JsonObject;
  /** Chosen by the service. Left out: the body's under a key, otherwise a new one. */
  readonly objectId?: string;
  /** Overrides of `createdAt`, `createdBy` … for records imported from elsewhere. */
  readonly known?: OwnValues | undefined;
  /** Further steps of the same commit, after the record's own. Pure. */
  readonly alongside?: (schema: Schema, objectId: string) => readonly Mutation[];
}

/**
 * Creates a record. Reference: records.md#create.
 * @param body the fields, operators and silencing flags that the client sent
 * @param alongside as in `NewRecord`
 * @param known as in `NewRecord`
 * @throws captcha, permissionDenied (119); invalidClassName (103), invalidFieldName (105), schemaMismatch (111), duplicateValue (137);
 * unknownFile (1)
 */
export async function createRecord(
  context: RecordContext,
  className: string,
  body: JsonObject,
  alongside?: NewRecord['alongside'],
  known?: OwnValues,
): Promise<Created> {
  const record = { className, body, known, ...(alongside && { alongside }) };
  const { records } = await commitRecords(context, async (attempt) => [await prepareCreate(context, record, attempt)]);
  const [{ objectId, at }] = records as readonly [PreparedRecord];
  return { objectId, createdAt: isoText(at) };
}

/** Authorises the caller, takes the flags out of the body, chooses the objectId and applies the rules of the table. */
export async function prepareCreate(context: RecordContext, record: NewRecord, attempt: Attempt): Promise<PreparedRecord> {
  const { principal } = context;
  const { className } = record;
  refuseOutright(principal, 'create', className);
  const { fields, flags } = takeFlags(record.body, actsAsMaster(principal));
  const objectId = record.objectId ?? chosenId(fields, principal) ?? newIdFor(className);
  const ruled: RuledFields = isRuled(context, className)
    ? await runBeforeSave(className, 'create', { context, objectId, fields, ...attempt })
    : { fields };
  if (context.hasLongBody)
    await checkAhead(ruled.fields, context.appId, 'create', context.store.schema().tables.get(className)?.isCopied);
  const { at } = attempt;
  const { seen } = watchCreate(context, { className, fields });
  const creation = { context, record, ruled, objectId, flags, at, seen };
  return {
    className,
    objectId,
    fields: ruled.fields,
    at,
    conditions: ruled.conditions,
    plan: (schema, resolved) => planCreate(creation, schema, resolved),
  };
}

/** A prepared create. */
interface Creation {
  readonly context: RecordContext;
  readonly record: NewRecord;
  readonly ruled: RuledFields;
  readonly objectId: string;
  readonly flags: SilencingFlags;
  readonly at: number;
  readonly seen: SeenWrite | undefined;
}

/** Authorises by the table, adds new fields, decodes the values, and returns the steps. Pure. */
function planCreate(
  { context, record: { className, known, alongside }, ruled, objectId, flags, at, seen }: Creation,
  schema: Schema,
  resolved: ResolvedFiles,
): RecordPlan {
  const { draft, hidden } = draftFor(schema, className, context);
  const sent = context.keepsSchema ? knownFields(draft.table, ruled.fields) : ruled.fields;
  const planned = planFields(draft, sent, 'create', hidden);
  const { table } = draft;
  const by = signerOf(context, className);
  const values = columnsOf(table, { objectId, createdAt: at, updatedAt: at, createdBy: by, updatedBy: by });
  setColumns(values, table, known);
  setColumns(values, table, ruled.set);
  setColumns(values, table, sourcesFor(table, context));
  for (const assignment of planned.assignments.values())
    if (assignment.kind === 'set' && assignment.value !== null) values.push([assignment.field, assignment.value]);
  const { assignments } = planned;
  return {
    changes: draft.changes,
    mutations: [
      ...(ruled.before?.(schema) ?? []),
      { kind: 'insert', table, values },
      ...relationSteps(table, planned.relations, objectId),
      ...(planned.setsFile ? attachments(context, schema, assignments.values(), resolved) : []),
      ...(alongside?.(schema, objectId) ?? []),
    ],
    events: [eventOf(context, { event: 'create', table, objectId, sent, assignments, known, flags, at, seen })],
  };
}

const knownFields = ({ fields }: TableSchema, sent: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(sent).filter(([name]) => fields.has(name)));

/** Returns the objectId that a caller with a key chose, of any length (records.md#create). @throws invalidObjectId (104) */
export function chosenId(body: JsonObject, principal: Principal): string | undefined {
  if (!Object.hasOwn(body, 'objectId') || !actsAsMaster(principal)) return undefined;
  const { objectId } = body;
  return typeof objectId === 'string' && objectId !== '' ? objectId : fail('invalidObjectId');
}

/** Returns a draft of the table, existing or new. @throws permissionDenied (119), invalidClassName (103), classMissing (103) */
function draftFor(
  schema: Schema,
  className: string,
  { principal, keepsSchema }: RecordContext,
): { draft: SchemaDraft; hidden: ReadonlySet<string> } {
  const table = schema.tables.get(className);
  if (table) {
    const grant = authorize(principal, 'create', table);
    return { draft: new SchemaDraft(table, grant), hidden: grant.hiddenFields };
  }
  if (keepsSchema) fail('classMissing', className);
  checkClassName(className);
  if (!mayCreateTable(principal)) fail('permissionDenied', 'create', className);
  return { draft: SchemaDraft.create(schema, className), hidden: new Set() };
}
