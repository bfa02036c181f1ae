import { actorId, actsAsMaster, authorize, mayCreateTable, type Principal, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Schema } from '../../schema/model.ts';
import { checkClassName } from '../../schema/naming.ts';
import { newIdFor } from '../../schema/system-tables.ts';
import { columnsOf } from '../../storage/columns.ts';
import type { Mutation } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';
import { planFields } from './fields.ts';
import { attachments, type SettledFiles, transactWithFiles } from './files.ts';
import { takeFlags } from './flags.ts';
import { GrowingTable } from './growth.ts';
import { links } from './links.ts';
import { underRules } from './rules.ts';
import type { RecordPlan } from './transact.ts';

/** What a create answers (SPEC "Records"). */
export interface Created {
  readonly objectId: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/**
 * Creates a record. SPEC "Records: Create"; CONTRACT "Records".
 * @param body the fields, operators and silencing flags that the client sent
 * @param alongside further steps of the same commit, after the record's own; pure
 * @throws captcha, permissionDenied (119); invalidClassName (103), invalidFieldName (105), schemaMismatch (111), duplicateValue (137);
 *   unknownFile (1)
 */
export async function createRecord(
  context: RecordContext,
  className: string,
  body: JsonObject,
  alongside: (schema: Schema, objectId: string) => readonly Mutation[] = () => [],
): Promise<Created> {
  const { principal } = context;
  refuseOutright(principal, 'create', className);
  const { fields, flags } = takeFlags(body, actsAsMaster(principal));
  const objectId = chosenId(fields, principal) ?? newIdFor(className);
  const ruled = underRules(className, 'create', { context, objectId, fields });
  const { fields: sent, set = {}, before } = ruled instanceof Promise ? await ruled : ruled;
  const at = Date.now();
  const actor = actorId(principal);
  const plan = (schema: Schema, settled: SettledFiles): RecordPlan => {
    const { growing, hidden } = tableFor(schema, className, principal);
    const planned = planFields(growing, sent, 'create', hidden);
    const values = columnsOf(growing.table, {
      objectId,
      createdAt: at,
      updatedAt: at,
      createdBy: actor,
      updatedBy: actor,
      ...set,
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
        ...alongside(schema, objectId),
      ],
      event: { event: 'create', table: growing.table, objectId, sent, principal, flags, referer: context.referer, at },
    };
  };
  await transactWithFiles(context, { className, objectId, fields: sent }, plan);
  return { objectId, createdAt: isoText(at) };
}

/** SPEC "Records": under a key a caller may send its own objectId, of any length. */
function chosenId(body: JsonObject, principal: Principal): string | undefined {
  if (!Object.hasOwn(body, 'objectId') || !actsAsMaster(principal)) return undefined;
  const { objectId } = body;
  return typeof objectId === 'string' && objectId !== '' ? objectId : fail('invalidObjectId');
}

function tableFor(
  schema: Schema,
  className: string,
  principal: Principal,
): { growing: GrowingTable; hidden: ReadonlySet<string> } {
  const table = schema.tables.get(className);
  if (table) {
    const grant = authorize(principal, 'create', table);
    return { growing: new GrowingTable(schema, table, grant), hidden: grant.hiddenFields };
  }
  checkClassName(className);
  if (!mayCreateTable(principal)) fail('permissionDenied', 'create', className);
  return { growing: GrowingTable.create(schema, className), hidden: new Set() };
}
