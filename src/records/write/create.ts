import { actsAsMaster, authorize, mayCreateTable, type Principal, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Schema, TableSchema } from '../../schema/model.ts';
import { checkClassName } from '../../schema/naming.ts';
import { newIdFor } from '../../schema/system-tables.ts';
import { columnsOf, type OwnValues } from '../../storage/columns.ts';
import type { Mutation } from '../../storage/port.ts';
import { type RecordContext, signerOf } from '../context.ts';
import { planFields } from './fields.ts';
import { attachments, type SettledFiles, transactWithFiles, unsettled } from './files.ts';
import { takeFlags } from './flags.ts';
import { GrowingTable } from './growth.ts';
import { links } from './links.ts';
import type { PreparedRecord } from './prepared.ts';
import { type RuledFields, underRules } from './rules.ts';
import { sourcesFor } from './sources.ts';
import type { RecordPlan } from './transact.ts';

/** What a create answers (SPEC "Records"). */
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
  /** Chosen by the service; left out: by the body under a key, else a new one. */
  readonly objectId?: string;
  /** What the service knows of it, by field, in place of what it would else set: when it was created, and by whom. */
  readonly known?: OwnValues;
}

/**
 * Creates a record. SPEC "Records: Create"; CONTRACT "Records".
 * @param body the fields, operators and silencing flags that the client sent
 * @param alongside further steps of the same commit, after the record's own; pure
 * @param known as of `NewRecord`
 * @throws captcha, permissionDenied (119); invalidClassName (103), invalidFieldName (105), schemaMismatch (111), duplicateValue (137);
 *   unknownFile (1)
 */
export async function createRecord(
  context: RecordContext,
  className: string,
  body: JsonObject,
  alongside: (schema: Schema, objectId: string) => readonly Mutation[] = () => [],
  known: OwnValues = {},
): Promise<Created> {
  const asked = prepareCreate(context, { className, body, known }, Date.now());
  const create = asked instanceof Promise ? await asked : asked;
  const plan = (schema: Schema, [settled = unsettled]: readonly SettledFiles[]): RecordPlan => {
    const planned = create.plan(schema, settled);
    return { ...planned, mutations: [...planned.mutations, ...alongside(schema, create.objectId)] };
  };
  await transactWithFiles(context, [create], plan);
  return { objectId: create.objectId, createdAt: isoText(create.at) };
}

/** Everything before the plan. At once where the table's rules are, so that writes keep the order in which they came. */
export function prepareCreate(context: RecordContext, record: NewRecord, at: number): PreparedRecord | Promise<PreparedRecord> {
  const { principal, actor = principal } = context;
  const { className } = record;
  refuseOutright(principal, 'create', className);
  const { fields, flags } = takeFlags(record.body, actsAsMaster(principal));
  const objectId = record.objectId ?? chosenId(fields, principal) ?? newIdFor(className);
  const by = signerOf(context, className);
  const prepare = ({ fields: sent, set = {}, before }: RuledFields): PreparedRecord => ({
    className,
    objectId,
    fields: sent,
    at,
    plan(schema, settled) {
      const { growing, hidden } = tableFor(schema, className, context);
      const taken = context.keepsSchema ? knownFields(growing.table, sent) : sent;
      const planned = planFields(growing, taken, 'create', hidden);
      const values = columnsOf(growing.table, {
        objectId,
        createdAt: at,
        updatedAt: at,
        createdBy: by,
        updatedBy: by,
        ...record.known,
        ...set,
        ...sourcesFor(growing.table, context),
      });
      for (const assignment of planned.assignments.values())
        if (assignment.kind === 'set' && assignment.value !== null) values.push([assignment.field, assignment.value]);
      return {
        changes: growing.changes,
        mutations: [
          ...(before?.(schema) ?? []),
          { kind: 'insert', table: growing.table, values },
          ...links(growing.table, planned.relations, objectId),
          ...attachments(context, schema, planned.assignments.values(), settled),
        ],
        events: [
          {
            event: 'create',
            table: growing.table,
            objectId,
            sent: taken,
            assignments: planned.assignments,
            ...(record.known && { known: record.known }),
            principal: actor,
            flags,
            referer: context.referer,
            cause: context.cause ?? null,
            at,
          },
        ],
      };
    },
  });
  const ruled = underRules(className, 'create', { context, objectId, fields });
  return ruled instanceof Promise ? ruled.then(prepare) : prepare(ruled);
}

const knownFields = ({ fields }: TableSchema, sent: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(sent).filter(([name]) => fields.has(name)));

/** SPEC "Records": under a key a caller may send its own objectId, of any length. @throws invalidObjectId (104) */
export function chosenId(body: JsonObject, principal: Principal): string | undefined {
  if (!Object.hasOwn(body, 'objectId') || !actsAsMaster(principal)) return undefined;
  const { objectId } = body;
  return typeof objectId === 'string' && objectId !== '' ? objectId : fail('invalidObjectId');
}

function tableFor(
  schema: Schema,
  className: string,
  { principal, keepsSchema }: RecordContext,
): { growing: GrowingTable; hidden: ReadonlySet<string> } {
  const table = schema.tables.get(className);
  if (table) {
    const grant = authorize(principal, 'create', table);
    return { growing: new GrowingTable(table, grant), hidden: grant.hiddenFields };
  }
  if (keepsSchema) fail('classMissing', className);
  checkClassName(className);
  if (!mayCreateTable(principal)) fail('permissionDenied', 'create', className);
  return { growing: GrowingTable.create(schema, className), hidden: new Set() };
}
