import { fail, ServiceError } from '../../errors/fail.ts';
import { renderError } from '../../errors/render.ts';
import { isJsonObject, own } from '../../kernel/json.ts';
import { upsertRecords } from '../../records/index.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';

/**
 * Updates records that are found by the values of a unique index, and creates the others. Reference: records.md#upsert.
 * @param reportFault receives unexpected faults, which the answer of a record does not reveal
 */
export function upsertEndpoint(reportFault: (error: unknown) => void): Endpoint {
  return {
    method: 'POST',
    path: '/upsert/:className',
    keyed: 'stepwise',
    async handle({ context, params: { className = '' }, body = {} }) {
      if (!isJsonObject(body)) return fail('invalidJson', 'the body must be an object');
      for (const key of Object.keys(body))
        if (key !== 'matchOn' && key !== 'records') fail('invalidUpsert', `${key} is not a key of the body`);
      const results = await upsertRecords(context, className, own(body, 'matchOn'), own(body, 'records'));
      const texts = results.map((result) => {
        if (!('error' in result)) return JSON.stringify(result);
        if (!(result.error instanceof ServiceError)) reportFault(result.error);
        return `{"error":${renderError(result.error).json}}`;
      });
      return { status: 200, json: `{"results":[${texts.join(',')}]}` };
    },
  };
}
