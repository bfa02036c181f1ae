import type { JsonObject } from '../../../kernel/json.ts';
import { jsonOf, response } from '../components/refs.ts';

/** Operations by path, then by method. Paths are whole, with the prefix. */
export type Paths = Readonly<Record<string, JsonObject>>;

const errors = { default: response('Error') };

/** Returns an operation with the usual errors. */
export const operation = (
  [operationId, tag]: readonly [operationId: string, tag: string],
  summary: string,
  { responses, ...more }: JsonObject & { readonly responses: JsonObject },
): JsonObject => ({ operationId, summary, tags: [tag], ...more, responses: { ...responses, ...errors } });

/** An answer of JSON. */
export const answer = (description: string, schema: JsonObject, example?: JsonObject): JsonObject => ({
  description,
  content: jsonOf(schema, example && { example }),
});

/** An answer that is no JSON. */
export const bytes = (description: string, ...types: string[]): JsonObject => ({
  description,
  content: Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }])),
});

export const body = (schema: JsonObject, example?: JsonObject): JsonObject => ({
  required: true,
  content: jsonOf(schema, example && { example }),
});

export const query = (name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject => ({
  name,
  in: 'query',
  description,
  schema,
});

export const path = (name: string, description: string): JsonObject => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});

export const object = (properties: Record<string, JsonObject>, required: string[] = []): JsonObject => ({
  type: 'object',
  properties: properties as JsonObject,
  ...(required.length > 0 && { required }),
});

export const text: JsonObject = { type: 'string' };
export const flag: JsonObject = { type: 'boolean' };
export const count: JsonObject = { type: 'integer', minimum: 0 };
/** An object of any members. */
export const free: JsonObject = { type: 'object', additionalProperties: true };
