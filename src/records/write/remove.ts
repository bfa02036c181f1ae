import { actsAsMaster, authorize, refuseOutright } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Assignment } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';
import { unsettled } from './files.ts';
import { takeFlags } from './flags.ts';
import type { PreparedRecord } from './prepared.ts';
import { type RuledFields, underRules } from './rules.ts';
import { transact } from './transact.ts';

const none: ReadonlyMap<string, Assignment> = new Map();

/**
 * Deletes a record. SPEC "Records: Delete".
 * @param body may carry silencing flags; empty for most
 * @throws objectNotFound (101); pointedAt (119) where another record points at it; captcha, permissionDenied (119)
 */
export async function deleteRecord(context: RecordContext, className: string, objectId: string, body: JsonObject): Promise<void> {
  const asked = prepareRemove(context, { className, objectId, body }, Date.now());
  const remove = asked instanceof Promise ? await asked : asked;
  await transact(context, (schema) => remove.plan(schema, unsettled));
}

/** Everything before the plan, as `prepareCreate`. */
export function prepareRemove(
  context: RecordContext,
  { className, objectId, body }: { readonly className: string; readonly objectId: string; readonly body: JsonObject },
  at: number,
): PreparedRecord | Promise<PreparedRecord> {
  const { principal, actor = principal } = context;
  refuseOutright(principal, 'delete', className, objectId);
  const { flags } = takeFlags(body, actsAsMaster(principal));
  const prepare = ({ before }: RuledFields): PreparedRecord => ({
    className,
    objectId,
    fields: {},
    at,
    plan(schema) {
      const table = schema.tables.get(className);
      if (!table) return fail('objectNotFound');
      const grant = authorize(principal, 'delete', table, schema);
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
  const ruled = underRules(className, 'remove', { context, objectId, fields: {} });
  return ruled instanceof Promise ? ruled.then(prepare) : prepare(ruled);
}
