import { isEverAllowed, needsMasterKey } from '../../../access/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { prefix } from '../../../kernel/prefix.ts';
import type { DescribedTable } from '../../model/table.ts';
import { header, jsonOf, jsonTextOf, listOf, parameter, response, schema } from '../components/refs.ts';
import { security } from '../components/security.ts';
import { examplesOf } from './examples.ts';

/** Where the records of a table are addressed. */
export interface RecordAddress {
  /** Below the prefix: `/classes/Accounts`. */
  readonly base: string;
  /** What the ids of operations begin with. */
  readonly id: string;
  readonly tag: string;
}

const errors = { default: response('Error') };

const shown = ['keys', 'excludeKeys', 'include'].map(parameter);
const paged = ['order', 'limit', 'skip', 'count'].map(parameter);
const manyWritten = ['expect', 'dryRun', 'once'].map(parameter);
const versioned = { ETag: header('etag') };

const ok = (description: string, of: JsonObject, headers?: JsonObject): JsonObject => ({
  description,
  ...(headers && { headers }),
  content: jsonOf(of),
});

const whereOf = (identifier: string, more: JsonObject = {}): JsonObject => ({
  name: 'where',
  in: 'query',
  ...more,
  schema: jsonTextOf(schema(`${identifier}Where`)),
});

const resultsOf = (identifier: string): JsonObject => ({
  type: 'object',
  properties: { results: listOf(schema(`${identifier}Record`)), count: { type: 'integer' } },
  required: ['results'],
});

/** Actions without a grant, which are left to keys, are left out. */
const permissionsOf = ({ permissions }: DescribedTable): JsonObject =>
  Object.fromEntries(Object.entries(permissions as JsonObject).filter(([, grants]) => Object.keys(grants as object).length > 0));

/** Returns the paths of a table's records. Reference: records.md, queries.md. */
export function pathsOfTable(table: DescribedTable, address?: RecordAddress): Record<string, JsonObject> {
  const { className, identifier } = table;
  const { base, id, tag } = address ?? { base: `/classes/${encodeURIComponent(className)}`, id: identifier, tag: className };
  const examples = examplesOf(table);
  const bodyOf = (kind: 'Create' | 'Update', example: JsonObject | undefined): JsonObject => ({
    // A record may be created, and be changed, without fields.
    ...(kind === 'Create' && table.fields.some(({ isRequired }) => isRequired) && { required: true }),
    content: jsonOf(schema(identifier + kind), example && { example }),
  });
  const operation = (verb: string, summary: string, more: JsonObject): JsonObject => ({
    operationId: `${id}_${verb}`,
    summary,
    tags: [tag],
    ...(needsMasterKey(className) && { security: security.master }),
    ...more,
  });
  const made = className === '_User' || className === '_Session' ? 'SignedUp' : 'Created';
  // What every caller is refused, as in tables that the service alone writes, is no operation.
  const mayCreate = isEverAllowed('create', className);
  const mayUpdate = isEverAllowed('update', className);
  const mayDelete = isEverAllowed('delete', className);
  return {
    [prefix + base]: {
      'x-permissions': permissionsOf(table),
      ...(table.uniqueIndexes.length > 0 && { 'x-unique-indexes': table.uniqueIndexes as unknown as JsonObject[] }),
      get: operation('find', 'Find', {
        parameters: [whereOf(identifier), ...paged, ...shown],
        responses: { '200': ok('Found.', resultsOf(identifier)), ...errors },
      }),
      ...(mayCreate && {
        post: operation('create', 'Create', {
          parameters: ['ifNew', 'once'].map(parameter),
          requestBody: bodyOf('Create', examples?.create),
          responses: { '201': response(made), ...errors },
        }),
      }),
      ...(mayUpdate && {
        put: operation('updateAll', 'Change many', {
          parameters: [whereOf(identifier, { required: true }), ...manyWritten],
          requestBody: bodyOf('Update', undefined),
          responses: { '200': response('UpdatedAll'), ...errors },
        }),
      }),
      ...(mayDelete && {
        delete: operation('deleteAll', 'Delete many', {
          parameters: [whereOf(identifier, { required: true }), ...manyWritten],
          responses: { '200': response('DeletedAll'), ...errors },
        }),
      }),
    },
    [`${prefix}${base}/{objectId}`]: {
      parameters: [parameter('objectId')],
      get: operation('get', 'Read', {
        parameters: [...shown, parameter('ifNoneMatch')],
        responses: {
          '200': ok('Found.', schema(`${identifier}Record`), versioned),
          '304': response('NotModified'),
          ...errors,
        },
      }),
      ...(mayUpdate && {
        put: operation('update', 'Change', {
          parameters: ['ifMatch', 'once'].map(parameter),
          requestBody: bodyOf('Update', examples?.update),
          responses: { '200': response('Updated'), ...errors },
        }),
      }),
      ...(mayDelete && {
        delete: operation('delete', 'Delete', {
          parameters: ['ifMatch', 'once'].map(parameter),
          responses: { '200': response('Deleted'), ...errors },
        }),
      }),
    },
  };
}
