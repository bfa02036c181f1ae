import { requireKey } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { Descriptions, textOf } from '../../openapi/index.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';
import { isUnmodified } from '../endpoint/entity-tag.ts';
import type { HttpServices } from '../endpoint/services.ts';

/** Describes the system of the caller. Reference: openapi.md#request. */
export function openapiEndpoint({ functions, addresses }: Pick<HttpServices, 'functions' | 'addresses'>): Endpoint {
  const descriptions = new Descriptions();
  return {
    method: 'GET',
    path: '/openapi.json',
    async handle({ context, principal, query, preconditions }) {
      requireKey(principal);
      for (const name of query.keys()) if (name !== 'tables') fail('invalidParameter', name);
      const names = namesIn(query.get('tables'));
      const parts = { base: addresses.base, functions: await functions.customOf(context.appId) };
      const description = await descriptions.of(context, names, parts);
      const headers = { etag: description.etag };
      if (isUnmodified(preconditions, description.etag)) return { status: 304, json: '', headers };
      return { status: 200, json: piecesOf(description), gzip: description.bytes, headers };
    },
  };
}

/** @throws badParameterValue (102) */
function namesIn(listed: unknown): string[] {
  const names: unknown[] = typeof listed === 'string' ? listed.split(',') : Array.isArray(listed) ? listed : [listed ?? ''];
  return names
    .map((name) =>
      typeof name === 'string' ? name.trim() : fail('badParameterValue', 'tables', 'should be a comma list of tables'),
    )
    .filter((name) => name !== '');
}

/** Decompresses only for clients that do not take the bytes as they are. */
async function* piecesOf(description: Parameters<typeof textOf>[0]): AsyncGenerator<string> {
  yield await textOf(description);
}
