import { actsAsMaster, authorize, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Schema } from '../../schema/model.ts';
import type { Assignment } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';
import { takeFlags } from './flags.ts';
import { underRules } from './rules.ts';
import { type RecordPlan, transact } from './transact.ts';

const none: ReadonlyMap<string, Assignment> = new Map();

/**
 * Deletes a record. SPEC "Records: Delete".
 * @param body may carry silencing flags; empty for most
 * @throws objectNotFound (101); pointedAt (119) where another record points at it; captcha, permissionDenied (119)
 */
export async function deleteRecord(context: RecordContext, className: string, objectId: string, body: JsonObject): Promise<void> {
  const { principal } = context;
  refuseOutright(principal, 'delete', className, objectId);
  const { flags } = takeFlags(body, actsAsMaster(principal));
  const ruled = underRules(className, 'remove', { context, objectId, fields: {} });
  const { before } = ruled instanceof Promise ? await ruled : ruled;
  const at = Date.now();
  const plan = (schema: Schema): RecordPlan => {
    const table = schema.tables.get(className);
    if (!table) return fail('objectNotFound');
    const grant = authorize(principal, 'delete', table);
    return {
      changes: [],
      mutations: [...(before?.(schema) ?? []), { kind: 'delete', table, objectId, guard: grant.rows }],
      events: [
        {
          event: 'delete',
          table,
          objectId,
          sent: {},
          assignments: none,
          principal,
          flags,
          referer: context.referer,
          cause: context.cause ?? null,
          at,
        },
      ],
    };
  };
  await transact(context, plan);
}
