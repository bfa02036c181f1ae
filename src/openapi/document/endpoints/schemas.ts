import type { JsonObject } from '../../../kernel/json.ts';
import { prefix } from '../../../kernel/prefix.ts';
import { listOf, parameter, schema } from '../components/refs.ts';
import { security } from '../components/security.ts';
import { answer, body, flag, free, object, operation, type Paths, query, text } from './operation.ts';

const tag = 'Schemas';
const parts = query('parts', 'Comma list of tables, permissions, roles, triggers, labels, reports, config.');

/** Schemas of these operations. */
export const schemaSchemas: Readonly<Record<string, JsonObject>> = {
  SchemaDescription: object(
    {
      className: text,
      fields: { type: 'object', additionalProperties: schema('SchemaField') },
      classLevelPermissions: free,
      indexes: free,
      uniqueIndexes: free,
      timeline: free,
      triggers: listOf(free),
    },
    ['className', 'fields', 'classLevelPermissions'],
  ),
  SchemaField: object({ type: text, targetClass: text, required: flag, defaultValue: {}, dictionary: text }, ['type']),
  SchemaChange: {
    ...object({
      className: text,
      fields: { type: 'object', additionalProperties: free },
      classLevelPermissions: free,
      indexes: free,
      uniqueIndexes: free,
      textIndex: listOf(text),
      timeline: { type: ['object', 'null'] },
    }),
  },
  SchemaDifference: object({ hash: text, changes: listOf(free), notes: listOf(text) }, ['hash', 'changes']),
};

const className = parameter('className');
const record = answer('The schema of the table.', schema('SchemaDescription'));
const compared = answer('The changes.', schema('SchemaDifference'));
const scoped = { only: listOf(text), parts: listOf(text) };

/** Reference: schemas.md, schema-as-code.md#over-http. */
export const schemaPaths: Paths = {
  [`${prefix}/schemas`]: {
    get: operation(['listSchemas', tag], 'Schemas of all tables', {
      security: security.key,
      parameters: [parameter('withDictionary')],
      responses: { '200': answer('The tables.', object({ results: listOf(schema('SchemaDescription')) }, ['results'])) },
    }),
    post: operation(['createSchema', tag], 'Create a table that the body names', {
      security: security.key,
      requestBody: body(schema('SchemaChange')),
      responses: { '200': record },
    }),
  },
  [`${prefix}/schemas/{className}`]: {
    parameters: [className],
    get: operation(['getSchema', tag], 'Schema of a table', {
      security: security.key,
      parameters: [parameter('withDictionary')],
      responses: { '200': record },
    }),
    post: operation(['createTable', tag], 'Create a table', {
      security: security.key,
      requestBody: body(schema('SchemaChange'), { fields: { Name: { type: 'String' } } }),
      responses: { '200': record },
    }),
    put: operation(['updateTable', tag], 'Change a table', {
      security: security.key,
      requestBody: body(schema('SchemaChange'), { fields: { Total: { type: 'Number', defaultValue: 0 } } }),
      responses: { '200': record },
    }),
    delete: operation(['deleteTable', tag], 'Delete an empty table', {
      security: security.key,
      responses: { '200': answer('Deleted.', schema('Nothing')) },
    }),
  },
  [`${prefix}/schema/snapshot`]: {
    get: operation(['exportSchema', tag], 'What the system is made of', {
      security: security.master,
      parameters: [parts],
      responses: { '200': answer('A snapshot.', free) },
    }),
  },
  [`${prefix}/schema/diff`]: {
    post: operation(['diffSchema', tag], 'Compare the system with a snapshot', {
      security: security.master,
      requestBody: body(object({ snapshot: free, ...scoped }, ['snapshot'])),
      responses: { '200': compared },
    }),
  },
  [`${prefix}/schema/apply`]: {
    post: operation(['applySchema', tag], 'Make the system what a snapshot says', {
      security: security.master,
      requestBody: body(object({ hash: text, snapshot: free, allowDestructive: flag, ...scoped }, ['hash', 'snapshot'])),
      responses: { '200': compared },
    }),
  },
  [`${prefix}/openapi.json`]: {
    get: operation(['describe', tag], 'This description', {
      security: security.key,
      parameters: [query('tables', 'Comma list of tables; left out: all.'), parameter('ifNoneMatch')],
      responses: { '200': answer('OpenAPI 3.1.', free), '304': { $ref: '#/components/responses/NotModified' } },
    }),
  },
};
