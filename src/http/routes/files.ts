import { requireKey } from '../../access/index.ts';
import type { Files } from '../../files/index.ts';
import { limits } from '../../kernel/limits.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { fieldsOf } from '../endpoint/parse-request.ts';

/** SPEC "Files: Delete". Answers zero bytes (CONTRACT "Forms and files"), whether or not the file was there. */
export function removalEndpoint(files: Files): Endpoint {
  return {
    method: 'DELETE',
    path: '/files/:name',
    isPostElsewhere: true,
    bodyBytes: limits.smallBodyBytes,
    async handle({ system, principal, params: { name = '' } }) {
      requireKey(principal);
      await files.remove(system, name);
      return { status: 200, json: '' };
    },
  };
}

/** SPEC "Files": what is asked in JSON. */
export function fileEndpoints(files: Files): readonly Endpoint[] {
  return [
    {
      method: 'POST',
      path: '/files/signed-url-put/:fileName',
      async handle({ context, params: { fileName = '' }, body }) {
        const policy = await files.policy(context, fileName, fieldsOf(body));
        return { status: 200, json: JSON.stringify(policy), headers: { 'cache-control': 'no-store' } };
      },
    },
    removalEndpoint(files),
  ];
}
