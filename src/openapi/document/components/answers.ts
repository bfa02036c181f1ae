import type { JsonObject } from '../../../kernel/json.ts';
import { header, jsonOf, listOf, schema } from './refs.ts';

const text: JsonObject = { type: 'string' };
const object = (properties: Record<string, JsonObject>, required: string[], more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: properties as JsonObject,
  required,
  ...more,
});

const made = { objectId: text, createdAt: schema('Timestamp') };

/** The schemas of answers to writes (records.md). */
export const answerSchemas: Readonly<Record<string, JsonObject>> = {
  CreatedAnswer: object(made, ['objectId', 'createdAt']),
  SignedUpAnswer: object({ ...made, sessionToken: text }, ['objectId', 'createdAt']),
  UpdatedAnswer: object({ objectId: text, updatedAt: schema('Timestamp') }, ['objectId', 'updatedAt'], {
    additionalProperties: true,
    description: 'With the new values of fields that operators changed.',
  }),
  RefusedWrite: object({ objectId: text, code: { type: 'integer' }, error: text }, ['objectId']),
  UpdatedAllAnswer: allWritten('updated'),
  DeletedAllAnswer: allWritten('deleted'),
};

function allWritten(name: string): JsonObject {
  const count: JsonObject = { type: 'integer', minimum: 0 };
  return object({ matched: count, [name]: count, refused: listOf(schema('RefusedWrite')), refusedCount: count }, ['matched']);
}

const versioned = { ETag: header('etag') };
const answer = (description: string, name: string, headers?: JsonObject): JsonObject => ({
  description,
  ...(headers && { headers }),
  content: jsonOf(schema(name)),
});

/** The answers to writes. */
export const writeAnswers: Readonly<Record<string, JsonObject>> = {
  Created: answer('Created.', 'CreatedAnswer', { Location: header('location'), ...versioned }),
  SignedUp: answer('Created, with a session.', 'SignedUpAnswer', { Location: header('location'), ...versioned }),
  Updated: answer('Changed.', 'UpdatedAnswer', versioned),
  Deleted: answer('Deleted.', 'Nothing'),
  UpdatedAll: answer('Changed, but for the refused ones.', 'UpdatedAllAnswer'),
  DeletedAll: answer('Deleted, but for the refused ones.', 'DeletedAllAnswer'),
};
