import { bodyOf as silenced } from '../../../crm/commands/records.ts';
import type { CrmContext } from '../../../crm/context.ts';
import { grantOn } from '../../../crm/queries/field-visibility.ts';
import { callerId } from '../../../crm/queries/owners.ts';
import { pointedAt } from '../../../crm/wire/values.ts';
import { ServiceError } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { createAtomically, readRow } from '../../../records/index.ts';
import { isSiteTable } from '../../../schema/system-tables.ts';
import type { ApiEndpoint } from '../../protocol/api-endpoint.ts';
import type { CreateRequest, RecordAnswer } from '../../protocol/protocol.ts';
import { bodyOf, objectAt, refuse, tableOf } from '../wire/parameters.ts';
import { writtenAnswer } from './answer.ts';
import { checkFields } from './fields.ts';
import { idOfKey, once } from './idempotency.ts';

const MAX_REQUEST_ID_LENGTH = 200;

/** Creates a record. Idempotent by `requestId` of the same user. */
export const postRecord: ApiEndpoint = {
  method: 'POST',
  path: '/records/:table',
  maxBodyBytes: limits.consoleRecordBytes,
  async run(context, request): Promise<RecordAnswer> {
    const table = tableOf(context, request, 'create');
    const { className } = table;
    grantOn(context, className, 'create');
    const member = bodyOf<CreateRequest>(request, ['requestId', 'fields']);
    const [requestId, fields] = [member('requestId'), objectAt(member('fields'), 'fields')];
    if (typeof requestId !== 'string' || requestId === '' || requestId.length > MAX_REQUEST_ID_LENGTH)
      refuse('requestId', `must be a text of 1 to ${MAX_REQUEST_ID_LENGTH} characters`);
    checkFields(context, table, fields);
    const key = JSON.stringify([context.appId, callerId(context), className, requestId]);
    const objectId = await once(key, () => create(context, className, fields, key));
    return writtenAnswer(context, table, { objectId });
  },
};

/** Derives the objectId from the request, so that the store refuses a duplicate; tables of the site layer have another form of id. */
async function create(context: CrmContext, className: string, fields: JsonObject, key: string): Promise<string> {
  const chosen = isSiteTable(className) ? {} : { objectId: idOfKey(key) };
  try {
    const [created] = await createAtomically(context, [{ className, body: silenced(context, fields), ...chosen }]);
    return created?.objectId ?? '';
  } catch (error) {
    const isTaken = error instanceof ServiceError && error.key === 'duplicateValue';
    if (isTaken && chosen.objectId !== undefined && (await isOwn(context, className, chosen.objectId))) return chosen.objectId;
    throw error;
  }
}

async function isOwn(context: CrmContext, className: string, objectId: string): Promise<boolean> {
  const row = await readRow<JsonObject>(context.store, className, authors, objectId);
  return row !== null && pointedAt(row.createdBy) === callerId(context);
}

const authors = ['objectId', 'createdBy'] as const;
