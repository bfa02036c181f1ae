import { requireKey } from '../../access/index.ts';
import type { Files } from '../../files/index.ts';
import { limits } from '../../kernel/limits.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { fieldsOf } from '../endpoint/parse-request.ts';

/** Deletes a file. Answers with an empty body whether or not the file existed. Reference: files.md#delete-a-file. */
export function removalEndpoint(files: Files): Endpoint {
  return {
    method: 'DELETE',
    path: '/files/:name',
    hasOwnPostRoute: true,
    maxBodyBytes: limits.smallBodyBytes,
    async handle({ system, principal, params: { name = '' } }) {
      requireKey(principal);
      await files.remove(system, name);
      return { status: 200, json: '' };
    },
  };
}

/** File endpoints with JSON requests. Reference: files.md#large-uploads, files.md#delete-a-file. */
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
