import { actorId, actsAsMaster, authorize, bothOf, grantFor, refuseOutright } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Filter } from '../../query/filter.ts';
import type { Schema, TableSchema } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/columns.ts';
import type { RecordContext } from '../context.ts';
import { getRecord } from '../read.ts';
import { planFields } from './fields.ts';
import { attachments, transactWithFiles, unsettled } from './files.ts';
import { takeFlags } from './flags.ts';
import { GrowingTable } from './growth.ts';
import { links } from './links.ts';
import type { PreparedRecord } from './prepared.ts';
import { type RuledFields, underRules } from './rules.ts';

/** What has to hold of a record for it to be changed, looked at in the commit itself. Pure. */
export type OnlyIf = (table: TableSchema) => Filter;

/**
 * Changes a record. SPEC "Records: Update", "Field operators on update".
 * @param onlyIf for who changes what he has read, as long as nobody has written since
 * @returns JSON text of the answer: `{updatedAt, objectId}` and the new values of fields that operators changed
 * @throws objectNotFound (101) where there is none or the caller may not see it; captcha, permissionDenied (119); schemaMismatch (111); unknownFile (1);
 *   changedMeanwhile (409) where `onlyIf` does not hold
 */
export async function updateRecord(
  context: RecordContext,
  className: string,
  objectId: string,
  body: JsonObject,
  onlyIf?: OnlyIf,
): Promise<string> {
  const at = Date.now();
  const asked = prepareUpdate(context, { className, objectId, body, ...(onlyIf && { onlyIf }) }, at);
  const update = asked instanceof Promise ? await asked : asked;
  try {
    const plan = (schema: Schema, [settled = unsettled]: Parameters<Parameters<typeof transactWithFiles>[2]>[1]) =>
      update.plan(schema, settled);
    const { returned } = await transactWithFiles(context, [update], plan);
    return `{"updatedAt":"${isoText(update.at)}","objectId":${JSON.stringify(objectId)}${returned}}`;
  } catch (error) {
    if (onlyIf && error instanceof ServiceError && error.key === 'objectNotFound') {
      // It throws the same where the record is not there for the caller.
      await getRecord(context, className, objectId, new Map());
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
  readonly onlyIf?: OnlyIf;
}

/** Everything before the plan, as `prepareCreate`. */
export function prepareUpdate(
  context: RecordContext,
  { className, objectId, body, onlyIf }: RecordUpdate,
  at: number,
): PreparedRecord | Promise<PreparedRecord> {
  const { principal } = context;
  refuseOutright(principal, 'update', className, objectId);
  const { fields, flags } = takeFlags(body, actsAsMaster(principal));
  const prepare = ({ fields: sent, set = {}, before }: RuledFields): PreparedRecord => ({
    className,
    objectId,
    fields: sent,
    at,
    plan(schema, settled) {
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
            ...(onlyIf && { condition: onlyIf(growing.table) }),
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
    },
  });
  const ruled = underRules(className, 'update', { context, objectId, fields });
  return ruled instanceof Promise ? ruled.then(prepare) : prepare(ruled);
}
