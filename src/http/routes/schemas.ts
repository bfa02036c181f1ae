import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { createSchema, deleteSchema, getSchema, listSchemas, updateSchema } from '../../records/index.ts';
import type { ApiReply, ApiRequest, Endpoint } from '../endpoint/endpoint.ts';

/** Schema endpoints. Reference: schemas.md#read-a-schema. */
export const schemaEndpoints: readonly Endpoint[] = [
  // Parse clients send a trailing slash.
  ...['/schemas', '/schemas/'].map(
    (path): Endpoint => ({
      method: 'GET',
      path,
      handle: async (request) => ok({ results: await listSchemas(request.context, withDictionary(request)) }),
    }),
  ),
  {
    method: 'GET',
    path: '/schemas/:className',
    handle: async (request) => ok(await getSchema(request.context, className(request), withDictionary(request))),
  },
  {
    method: 'POST',
    path: '/schemas',
    handle: async (request) => ok(await createSchema(request.context, undefined, bodyOf(request))),
  },
  {
    method: 'POST',
    path: '/schemas/:className',
    handle: async (request) => ok(await createSchema(request.context, className(request), bodyOf(request))),
  },
  {
    method: 'PUT',
    path: '/schemas/:className',
    handle: async (request) => ok(await updateSchema(request.context, className(request), bodyOf(request))),
  },
  {
    method: 'DELETE',
    path: '/schemas/:className',
    handle: async (request) => {
      await deleteSchema(request.context, className(request));
      return ok({});
    },
  },
];

const ok = (answer: JsonObject): ApiReply => ({ status: 200, json: JSON.stringify(answer) });

const className = ({ params }: ApiRequest): string => params.className as string;

/** @throws invalidParameter (102) for an unknown parameter, badParameterValue (102) */
function withDictionary({ query }: ApiRequest): boolean {
  for (const name of query.keys()) if (name !== 'withDictionary') fail('invalidParameter', name);
  const value = query.get('withDictionary') ?? 'false';
  if (value === 'true' || value === true) return true;
  return value === 'false' || value === false ? false : fail('badParameterValue', 'withDictionary', 'it is true or false');
}

/** @throws invalidJson (107) if a body is not an object */
function bodyOf({ body = {} }: ApiRequest): JsonObject {
  return isJsonObject(body) ? body : fail('invalidJson', 'the body must be an object');
}
