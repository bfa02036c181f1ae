import { createRow } from '../../../crm/commands/records.ts';
import { grantOn } from '../../../crm/queries/field-visibility.ts';
import { callerId } from '../../../crm/queries/owners.ts';
import type { ApiEndpoint } from '../../api-endpoint.ts';
import type { CreateRequest, RecordAnswer } from '../../protocol.ts';
import { bodyOf, objectAt, refuse, tableOf } from '../wire/parameters.ts';
import { writtenAnswer } from './answer.ts';
import { checkFields } from './fields.ts';
import { once } from './once.ts';

const MAX_REQUEST_ID_LENGTH = 200;

/** A new record. The same `requestId` of the same user makes no second one. */
export const postRecord: ApiEndpoint = {
  method: 'POST',
  path: '/records/:table',
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
    const objectId = await once(key, async () => (await createRow(context, className, fields)).objectId);
    return writtenAnswer(context, table, { objectId });
  },
};
