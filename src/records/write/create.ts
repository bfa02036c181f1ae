import { actorId, actsAsMaster, authorize, mayCreateTable, type Principal, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { newObjectId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Field, Schema } from '../../schema/model.ts';
import { checkClassName } from '../../schema/naming.ts';
import type { StoredValue } from '../../values/index.ts';
import type { RecordContext } from '../context.ts';
import { planFields } from './fields.ts';
import { takeFlags } from './flags.ts';
import { GrowingTable } from './growth.ts';
import { links } from './links.ts';
import { type RecordPlan, transact } from './transact.ts';

/** What a create answers (SPEC "Records"). */
export interface Created {
  readonly objectId: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/**
 * Creates a record. SPEC "Records: Create"; CONTRACT "Records".
 * @param body the fields, operators and silencing flags that the client sent
 * @throws captcha, permissionDenied (119); invalidClassName (103), invalidFieldName (105), schemaMismatch (111), duplicateValue (137)
 */
export async function createRecord(context: RecordContext, className: string, body: JsonObject): Promise<Created> {
  const { principal } = context;
  refuseOutright(principal, 'create', className);
  const { fields: sent, flags } = takeFlags(body, actsAsMaster(principal));
  const objectId = chosenId(sent, principal) ?? newObjectId();
  const at = Date.now();
  const plan = (schema: Schema): RecordPlan => {
    const { growing, hidden } = tableFor(schema, className, principal);
    const fields = planFields(growing, sent, 'create', hidden);
    const values = serverValues(growing, objectId, at, actorId(principal));
    for (const assignment of fields.assignments.values())
      if (assignment.kind === 'set' && assignment.value !== null) values.push([assignment.field, assignment.value]);
    return {
      changes: growing.changes,
      mutations: [{ kind: 'insert', table: growing.table, values }, ...links(fields.relations, objectId)],
      event: { event: 'create', table: growing.table, objectId, sent, principal, flags, referer: context.referer, at },
    };
  };
  await transact(context, plan);
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

function serverValues(growing: GrowingTable, objectId: string, at: number, actor: string | null): [Field, StoredValue][] {
  const field = (name: string) => growing.table.fields.get(name) as Field;
  return [
    [field('objectId'), objectId],
    [field('createdAt'), at],
    [field('updatedAt'), at],
    [field('createdBy'), actor],
    [field('updatedBy'), actor],
  ];
}
