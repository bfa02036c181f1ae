import { actsAsMaster, authorize, bothOf, grantFor, refuseOutright } from '../../access/index.ts';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Filter } from '../../query/filter.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/columns.ts';
import type { Mutation } from '../../storage/port.ts';
import { type RecordContext, signerOf } from '../context.ts';
import { getRecord } from '../read.ts';
import { planFields } from './fields.ts';
import { attachments, transactWithFiles, unsettled } from './files.ts';
import { takeFlags } from './flags.ts';
import { GrowingTable } from './growth.ts';
import { links } from './links.ts';
import type { PreparedRecord } from './prepared.ts';
import { carryOutRuled, type RuledFields, underRules } from './rules.ts';
import { disownedBy, sourcesFor } from './sources.ts';

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
  const update = { className, objectId, body, ...(onlyIf && { onlyIf }) };
  const prepare = (): [PreparedRecord] | Promise<[PreparedRecord]> => {
    const asked = prepareUpdate(context, update, Date.now());
    return asked instanceof Promise ? asked.then((prepared) => [prepared]) : [asked];
  };
  const carryOut = async (prepared: [PreparedRecord]) => {
    const [{ plan, at }] = prepared;
    const { returned } = await transactWithFiles(context, prepared, (schema, [settled = unsettled]) => plan(schema, settled));
    return `{"updatedAt":"${isoText(at)}","objectId":${JSON.stringify(objectId)}${returned}}`;
  };
  try {
    return await carryOutRuled(context, prepare, carryOut);
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
  now: number,
): PreparedRecord | Promise<PreparedRecord> {
  const { principal, actor = principal } = context;
  refuseOutright(principal, 'update', className, objectId);
  const { fields, flags } = takeFlags(body, actsAsMaster(principal));
  const prepare = ({ fields: sent, set = {}, before, version }: RuledFields): PreparedRecord => {
    // Later than what the rules have read, on the same millisecond and beside clocks of other processes too.
    const at = version === undefined ? now : Math.max(now, version + 1);
    return {
      className,
      objectId,
      fields: sent,
      at,
      ...(version !== undefined && { version }),
      plan(schema, settled) {
        const table = schema.tables.get(className);
        if (!table) return fail('objectNotFound');
        const grant = authorize(principal, 'update', table, schema);
        const growing = new GrowingTable(table, grant);
        const planned = planFields(growing, sent, 'update', grant.hiddenFields);
        const { relations, returning } = planned;
        const assignments = [...planned.assignments.values()].filter(({ field }) => !settled.kept.has(field.name));
        const ours = assignmentsOf(growing.table, {
          ...set,
          ...sourcesFor(growing.table, context),
          ...disownedBy(growing.table, sent),
          updatedAt: at,
          updatedBy: signerOf(context, className),
        });
        const guard = growing.isGrown ? bothOf(grant.rows, grant.growthRows) : grant.rows;
        // What operators made is read like anything else.
        const reading = returning.length > 0 ? grantFor(principal, 'get', table, schema) : null;
        return {
          changes: growing.changes,
          mutations: [
            ...(before?.(schema) ?? []),
            {
              kind: 'update',
              table: growing.table,
              objectId,
              guard,
              ...conditionOf(growing.table, onlyIf, version),
              assignments: [...assignments, ...ours],
              returning: reading ? returning.filter(({ name }) => !reading.masks.has(name)) : [],
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
              principal: actor,
              flags,
              referer: context.referer,
              cause: context.cause ?? null,
              at,
            },
          ],
        };
      },
    };
  };
  const ruled = underRules(className, 'update', { context, objectId, fields });
  return ruled instanceof Promise ? ruled.then(prepare) : prepare(ruled);
}

/** What has to hold of the record in the commit: what the caller asks for, and that it is as the rules have read it. */
function conditionOf(
  table: TableSchema,
  onlyIf: OnlyIf | undefined,
  version: number | undefined,
): Pick<Extract<Mutation, { kind: 'update' }>, 'condition'> {
  const items: Filter[] = onlyIf ? [onlyIf(table)] : [];
  if (version !== undefined) items.push({ kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'eq', value: version });
  const [first, ...others] = items;
  if (!first) return {};
  return { condition: others.length > 0 ? { kind: 'and', items } : first };
}
