import { authorize, master } from '../../../access/index.ts';
import { unchangedSince } from '../../../crm/commands/only-if.ts';
import { updateRow } from '../../../crm/commands/records.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { grantOn } from '../../../crm/queries/field-visibility.ts';
import { getRow, type Row } from '../../../crm/queries/records.ts';
import { unless } from '../../../crm/refusals.ts';
import { pointedAt } from '../../../crm/wire/values.ts';
import { fail } from '../../../errors/fail.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { parseWhere } from '../../../query/where/index.ts';
import { isServerSet, type OnlyIf } from '../../../records/index.ts';
import { emptySchema } from '../../../schema/change.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { parseIsoDate, type Storage, storageOf } from '../../../values/index.ts';
import type { ApiEndpoint } from '../../protocol/api-endpoint.ts';
import type { RecordAnswer, UpdateRequest } from '../../protocol/protocol.ts';
import { bodyOf, idOf, objectAt, refuse, tableOf } from '../wire/parameters.ts';
import { answerOf, mayDo, writtenAnswer } from './answer.ts';
import { ConflictError } from './conflict.ts';
import { checkFields } from './fields.ts';

/** How often an update is retried when others write other fields of the record meanwhile. */
const MAX_ATTEMPTS = 8;

/** Updates a record if its fields still hold the values that the user saw. @throws ConflictError (409) if they do not */
export const putRecord: ApiEndpoint = {
  method: 'PUT',
  path: '/records/:table/:id',
  maxBodyBytes: limits.consoleRecordBytes,
  async run(context, request): Promise<RecordAnswer> {
    const table = tableOf(context, request, 'update');
    const objectId = idOf(request);
    grantOn(context, table.className, 'update', objectId);
    const member = bodyOf<UpdateRequest>(request, ['changes', 'base']);
    const [sent, base] = [objectAt(member('changes'), 'changes'), objectAt(member('base'), 'base')];
    checkFields(context, table, sent);
    // As in REST, values of these fields are ignored.
    const changes = Object.fromEntries(Object.entries(sent).filter(([name]) => !isServerSet(name)));
    const unseen = Object.keys(changes).find((name) => !isRelation(table, name) && own(base, name) === undefined);
    if (unseen !== undefined) refuse('base', `says nothing of ${unseen}`);
    for (let left = MAX_ATTEMPTS; left > 0; left--) {
      const answer = await attempt(context, table, objectId, { changes, base });
      if (answer) return answer;
    }
    return fail('changedMeanwhile');
  },
};

interface Change {
  readonly changes: JsonObject;
  readonly base: JsonObject;
}

/** @returns `null` if the record was written meanwhile and must be read again */
async function attempt(
  context: CrmContext,
  table: TableSchema,
  objectId: string,
  { changes, base }: Change,
): Promise<RecordAnswer | null> {
  const row = await getRow(context, table.className, objectId);
  // Fields that already hold the new value need no write: this may be a retry after a lost answer.
  const left = Object.entries(changes).filter(([name, value]) => isRelation(table, name) || !same(valueAt(row, name), value));
  const lost = left
    .map(([name]) => name)
    .filter((name) => !isRelation(table, name) && !same(valueAt(row, name), own(base, name)));
  if (lost.length > 0) throw await conflictOf(context, table, row, lost);
  if (left.length === 0) return answerOf(context, table, row);
  const data = Object.fromEntries(left.map(([name, value]) => [name, value ?? { __op: 'Delete' }]));
  // Masked fields are excluded: the caller sees another value than the stored one.
  const { masks } = grantOn(context, table.className, 'get');
  const onlyIf = unchanged(
    row,
    Object.keys(data).filter((name) => !masks.has(name)),
  );
  const written = await unless(['changedMeanwhile'], null, () => updateRow(context, table.className, objectId, data, { onlyIf }));
  // A record that the caller may read but not update fails the same way; without this check it would be retried in vain.
  if (!written && !(await mayDo(context, table, objectId, 'update'))) fail('permissionDenied', 'update', table.className);
  return written && writtenAnswer(context, table, { objectId, updatedAt: written.updatedAt ?? null });
}

async function conflictOf(context: CrmContext, table: TableSchema, row: Row, fields: string[]): Promise<ConflictError> {
  const answer = await answerOf(context, table, row);
  const author = pointedAt(row.updatedBy);
  const by = author === undefined ? null : answer.names._User?.[author] || null;
  return new ConflictError({ ...answer, fields, by, at: String(row.updatedAt) });
}

const isRelation = ({ fields }: TableSchema, name: string): boolean => fields.get(name)?.type === 'Relation';

const valueAt = (row: JsonObject, name: string): JsonValue => own(row, name) ?? null;

const same = (one: JsonValue, other: JsonValue = null): boolean =>
  canonicalJson(comparable(one)) === canonicalJson(comparable(other));

/** Compares Files by name: their URLs may be temporary. */
function comparable(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || own(value, '__type') !== 'File') return value;
  return { __type: 'File', name: own(value, 'name') ?? null };
}

const plain: ReadonlySet<Storage> = new Set(['text', 'number', 'boolean', 'date', 'pointer']);
const MAX_COMPARED_LENGTH = 10_000;

/**
 * Condition that the record is unchanged: by its `updatedAt`, and, because two writes may share a millisecond, by the present values of the fields to
 * change.
 */
function unchanged(row: Row, names: readonly string[]): OnlyIf {
  const untouched = unchangedSince(parseIsoDate(String(row.updatedAt)));
  return (table) => {
    const isPlain = (name: string) => {
      const field = table.fields.get(name);
      return field !== undefined && plain.has(storageOf(field)) && String(row[name] ?? '').length <= MAX_COMPARED_LENGTH;
    };
    const where = Object.fromEntries(names.filter(isPlain).map((name) => [name, equalTo(own(row, name))]));
    const values = parseWhere(where, authorize(master, 'find', table), { schema: emptySchema, principal: master });
    return { kind: 'and', items: [untouched(table), values] };
  };
}

const equalTo = (value: JsonValue | undefined): JsonObject => (value === undefined ? { $exists: false } : { $eq: value });
