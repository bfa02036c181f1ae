import { actorId, actsAsMaster, authorize, bothOf, grantFor, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Schema } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/columns.ts';
import type { RecordContext } from '../context.ts';
import { planFields } from './fields.ts';
import { attachments, type SettledFiles, transactWithFiles, unsettled } from './files.ts';
import { takeFlags } from './flags.ts';
import { GrowingTable } from './growth.ts';
import { links } from './links.ts';
import { underRules } from './rules.ts';
import type { RecordPlan } from './transact.ts';

/**
 * Changes a record. SPEC "Records: Update", "Field operators on update".
 * @returns JSON text of the answer: `{updatedAt, objectId}` and the new values of fields that operators changed
 * @throws objectNotFound (101) where there is none or the caller may not see it; captcha, permissionDenied (119); schemaMismatch (111); unknownFile (1)
 */
export async function updateRecord(
  context: RecordContext,
  className: string,
  objectId: string,
  body: JsonObject,
): Promise<string> {
  const { principal } = context;
  refuseOutright(principal, 'update', className, objectId);
  const { fields, flags } = takeFlags(body, actsAsMaster(principal));
  const ruled = underRules(className, 'update', { context, objectId, fields });
  const { fields: sent, set = {}, before } = ruled instanceof Promise ? await ruled : ruled;
  const at = Date.now();
  const plan = (schema: Schema, [settled = unsettled]: readonly SettledFiles[]): RecordPlan => {
    const table = schema.tables.get(className);
    if (!table) return fail('objectNotFound');
    const grant = authorize(principal, 'update', table);
    const growing = new GrowingTable(schema, table, grant);
    const planned = planFields(growing, sent, 'update', grant.hiddenFields);
    const { relations, returning } = planned;
    const assignments = [...planned.assignments.values()].filter(({ field }) => !settled.kept.has(field.name));
    const ours = assignmentsOf(growing.table, { ...set, updatedAt: at, updatedBy: actorId(principal) });
    const guard = growing.isGrown ? bothOf(grant.rows, grant.growthRows) : grant.rows;
    // What operators made is read like anything else.
    const reading = returning.length > 0 ? grantFor(principal, 'get', table) : null;
    return {
      changes: growing.changes,
      mutations: [
        ...(before?.(schema) ?? []),
        {
          kind: 'update',
          table: growing.table,
          objectId,
          guard,
          assignments: [...assignments, ...ours],
          returning: reading ? returning : [],
          returningGuard: reading?.rows ?? null,
        },
        ...links(growing.table, relations, objectId),
        ...attachments(context, schema, assignments, settled),
      ],
      events: [
        {
          event: 'update',
          table: growing.table,
          objectId,
          sent,
          assignments: planned.assignments,
          principal,
          flags,
          referer: context.referer,
          cause: context.cause ?? null,
          at,
        },
      ],
    };
  };
  const { returned } = await transactWithFiles(context, [{ className, objectId, fields: sent }], plan);
  return `{"updatedAt":"${isoText(at)}","objectId":${JSON.stringify(objectId)}${returned}}`;
}
