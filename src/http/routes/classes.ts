import { createRecord, deleteRecord, findRecords, getRecord, updateRecord } from '../../records/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { fieldsOf } from '../envelope.ts';
import { prefix } from '../prefix.ts';
import { resultsReply } from '../results.ts';

const one = '/classes/:className/:objectId';
const all = '/classes/:className';

/** SPEC "Records". */
export const classEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: all,
    async handle({ context, params: { className = '' }, body }) {
      const { objectId, createdAt } = await createRecord(context, className, fieldsOf(body));
      return {
        status: 201,
        json: `{"objectId":${JSON.stringify(objectId)},"createdAt":"${createdAt}"}`,
        headers: {
          location: `${prefix}/classes/${encodeURIComponent(className)}/${encodeURIComponent(objectId.toWellFormed())}`,
        },
      };
    },
  },
  {
    method: 'GET',
    path: one,
    handle({ context, params: { className = '', objectId = '' }, query }) {
      const found = getRecord(context, className, objectId, query);
      return typeof found === 'string' ? { status: 200, json: found } : found.then((json) => ({ status: 200, json }));
    },
  },
  {
    method: 'PUT',
    path: one,
    async handle({ context, params: { className = '', objectId = '' }, body }) {
      return { status: 200, json: await updateRecord(context, className, objectId, fieldsOf(body)) };
    },
  },
  {
    method: 'DELETE',
    path: one,
    async handle({ context, params: { className = '', objectId = '' }, body }) {
      await deleteRecord(context, className, objectId, fieldsOf(body));
      return { status: 200, json: '{}' };
    },
  },
  {
    method: 'GET',
    path: all,
    async handle({ context, params: { className = '' }, query }) {
      return resultsReply(await findRecords(context, className, query));
    },
  },
];
