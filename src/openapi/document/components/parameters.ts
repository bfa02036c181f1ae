import type { JsonObject } from '../../../kernel/json.ts';

const query = (name: string, description: string, schema: JsonObject, example?: string | number): JsonObject => ({
  name,
  in: 'query',
  description,
  schema,
  ...(example !== undefined && { example }),
});

const header = (name: string, description: string): JsonObject => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
});

const text: JsonObject = { type: 'string' };
const whole: JsonObject = { type: 'integer', minimum: 0 };
const flag: JsonObject = { type: 'string', enum: ['0', '1', 'true', 'false'] };

/** Parameters of several operations (queries.md#parameters, records.md#conditional-writes). */
export const parameters: Readonly<Record<string, JsonObject>> = {
  objectId: { name: 'objectId', in: 'path', required: true, schema: text },
  className: { name: 'className', in: 'path', required: true, description: 'Name of a table.', schema: text },
  limit: query('limit', 'Number of records at most.', { ...whole, default: 100 }, 10),
  skip: query('skip', 'Number of records to pass over.', { ...whole, default: 0 }, 0),
  order: query('order', 'Comma list of fields, `-` before one for descending.', text, '-createdAt'),
  count: query('count', '`1`: the answer has the number of all that match.', flag, '1'),
  keys: query('keys', 'Comma list of fields to show.', text),
  excludeKeys: query('excludeKeys', 'Comma list of fields to leave out.', text),
  include: query(
    'include',
    'Comma list of Pointers whose records stand in their place, with `"__type":"Object"`; `*`: all.',
    text,
  ),
  expect: query('expect', 'The number of matching records. If it is another one, nothing is done (409).', whole),
  dryRun: query('dryRun', 'Only counts.', flag),
  withDictionary: query('withDictionary', 'Adds labels as `dictionary`.', { type: 'string', enum: ['true', 'false'] }),
  ifMatch: header('If-Match', 'ETag of the record; 412 if it has changed.'),
  ifNoneMatch: header('If-None-Match', 'ETag that the client has: 304 if it is current.'),
  ifNew: header('If-None-Match', '`*`: 412 if a record has the `objectId`.'),
  once: header('Idempotency-Key', 'The same key, caller and body within 24 hours get the first answer.'),
};

/** Headers of answers. */
export const headers: Readonly<Record<string, JsonObject>> = {
  etag: { description: 'Version of the answer.', schema: text },
  location: { description: 'Address of the record.', schema: { type: 'string', format: 'uri' } },
  replayed: { description: '`true`: the answer of an earlier request with this `Idempotency-Key`.', schema: text },
  retryAfter: { description: 'Seconds.', schema: { type: 'integer' } },
};
