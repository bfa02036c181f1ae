import { actorId, actsAsMaster, authorize, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Field, Schema } from '../../schema/model.ts';
import type { Assignment } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';
import { planFields } from './fields.ts';
import { takeFlags } from './flags.ts';
import { GrowingTable } from './growth.ts';
import { links } from './links.ts';
import { type RecordPlan, transact } from './transact.ts';

/**
 * Changes a record. SPEC "Records: Update", "Field operators on update".
 * @returns JSON text of the answer: `{updatedAt, objectId}` and the new values of fields that operators changed
 * @throws objectNotFound (101) where there is none or the caller may not see it; captcha, permissionDenied (119); schemaMismatch (111)
 */
export async function updateRecord(
  context: RecordContext,
  className: string,
  objectId: string,
  body: JsonObject,
): Promise<string> {
  const { principal } = context;
  refuseOutright(principal, 'update', className);
  const { fields: sent, flags } = takeFlags(body, actsAsMaster(principal));
  const at = Date.now();
  const plan = (schema: Schema): RecordPlan => {
    const table = schema.tables.get(className);
    if (!table) return fail('objectNotFound');
    const grant = authorize(principal, 'update', table);
    const growing = new GrowingTable(schema, table, grant);
    const { assignments, relations, returning } = planFields(growing, sent, 'update', grant.hiddenFields);
    const field = (name: string) => growing.table.fields.get(name) as Field;
    const stamps: Assignment[] = [
      { kind: 'set', field: field('updatedAt'), value: at },
      { kind: 'set', field: field('updatedBy'), value: actorId(principal) },
    ];
    return {
      changes: growing.changes,
      mutations: [
        {
          kind: 'update',
          table: growing.table,
          objectId,
          guard: grant.rows,
          assignments: [...assignments.values(), ...stamps],
          returning,
        },
        ...links(relations, objectId),
      ],
      event: { event: 'update', table: growing.table, objectId, sent, principal, flags, referer: context.referer, at },
    };
  };
  const { returned } = await transact(context, plan);
  return `{"updatedAt":"${isoText(at)}","objectId":${JSON.stringify(objectId)}${returned}}`;
}
