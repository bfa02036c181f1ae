import type { JsonObject } from '../../../kernel/json.ts';
import { prefix } from '../../../kernel/prefix.ts';
import { jsonTextOf, listOf, parameter, schema } from '../components/refs.ts';
import { security } from '../components/security.ts';
import { answer, body, bytes, count, flag, free, object, operation, type Paths, path, query, text } from './operation.ts';

const tag = 'Many records';

/** Schemas of these operations. */
export const bulkSchemas: Readonly<Record<string, JsonObject>> = {
  BatchRequest: object(
    {
      method: { type: 'string', enum: ['POST', 'PUT', 'DELETE'] },
      path: { ...text, description: 'With the prefix: `/platform/classes/Tasks`.' },
      body: free,
      ifMatch: text,
      ifNoneMatch: text,
    },
    ['method', 'path'],
  ),
  BatchResult: object({ success: free, error: schema('ErrorAnswer') }),
  UpsertResult: object({
    objectId: text,
    created: flag,
    updatedAt: schema('Timestamp'),
    error: schema('ErrorAnswer'),
  }),
  ImportJob: object(
    {
      state: { type: 'string', enum: ['running', 'done', 'failed'] },
      done: count,
      of: count,
      created: count,
      updated: count,
      rejected: count,
      rejectedUrl: text,
      error: text,
      notTakenOver: free,
    },
    ['state'],
  ),
};

const className = parameter('className');
const where = { name: 'where', in: 'query', schema: jsonTextOf(free) };
const stages = ['unwind', 'group', 'project', 'sort', 'skip', 'limit', 'count'];
const file = {
  required: true,
  content: Object.fromEntries(['text/csv', 'application/x-ndjson'].map((type) => [type, { schema: text }])),
};
const importParameters: readonly (readonly [string, string])[] = [
  ['format', 'auto, csv, ndjson, json, parse, mongoexport.'],
  ['map', 'JSON: fields by column.'],
  ['matchOn', 'Comma list of fields by which records are found and changed.'],
  ['dryRun', 'Writes nothing.'],
  ['keepTimes', 'Takes objectId and times over. Needs a key.'],
  ['skipTriggers', 'No triggers run.'],
  ['skipTimeline', 'No rows of the timeline.'],
  ['newFields', 'Columns that the table lacks become fields.'],
  ['dateOrder', 'dmy, mdy or ymd.'],
  ['encoding', 'Of the file.'],
];

/** Reference: batch.md, aggregation.md, records.md#upsert, explain.md#request, export.md#export-over-http, import.md#import-jobs. */
export const bulkPaths: Paths = {
  [`${prefix}/batch`]: {
    post: operation(['batch', tag], 'Several writes', {
      parameters: [parameter('once')],
      requestBody: body(object({ requests: listOf(schema('BatchRequest')), transaction: flag }, ['requests']), { requests: [] }),
      responses: { '200': answer('A result for each request, in their order.', listOf(schema('BatchResult'))) },
    }),
  },
  [`${prefix}/classes-aggregate/{className}`]: {
    parameters: [className],
    get: operation(['aggregate', tag], 'Group, reshape and count records', {
      parameters: [
        {
          name: 'pipeline',
          in: 'query',
          schema: jsonTextOf(listOf(free)),
          example: '[{"$group":{"_id":null,"n":{"$sum":1}}}]',
        },
        where,
        ...stages.map((name) => query(name, 'Short form, in place of `pipeline`.')),
      ],
      responses: { '200': answer('The rows.', object({ results: listOf(free) }, ['results'])) },
    }),
  },
  [`${prefix}/upsert/{className}`]: {
    parameters: [className],
    post: operation(['upsert', tag], 'Update the records that match, create the others', {
      parameters: [parameter('once')],
      requestBody: body(object({ matchOn: listOf(text), records: { ...listOf(free), maxItems: 1000 } }, ['matchOn', 'records'])),
      responses: {
        '200': answer('A result for each record.', object({ results: listOf(schema('UpsertResult')) }, ['results'])),
      },
    }),
  },
  [`${prefix}/explain/classes/{className}`]: {
    parameters: [className],
    get: operation(['explain', tag], 'How the store executes a query, and which index would help', {
      security: security.master,
      parameters: [where, ...['order', 'limit', 'skip', 'count', 'keys', 'excludeKeys', 'include'].map(parameter)],
      responses: {
        '200': answer(
          'The plan.',
          object({ plan: listOf(text), rowsRead: count, index: text, advice: object({ indexes: free }) }, ['plan']),
        ),
      },
    }),
  },
  [`${prefix}/export/{className}`]: {
    parameters: [className],
    get: operation(['export', tag], 'The records of a table as a file', {
      parameters: [
        {
          ...query('format', 'Form of the file.', { type: 'string', enum: ['csv', 'ndjson', 'json'] }),
          required: true,
          example: 'ndjson',
        },
        where,
        ...['keys', 'include', 'order'].map(parameter),
        query('bom', 'Begins CSV with a byte order mark.'),
        query('raw', 'Leaves cells as they are that look like formulas.'),
      ],
      responses: { '200': bytes('The file.', 'text/csv', 'application/x-ndjson', 'application/json') },
    }),
  },
  [`${prefix}/import/{className}`]: {
    parameters: [className],
    post: operation(['import', tag], 'Import a file as a job', {
      parameters: importParameters.map(([name, description]) => query(name, description)),
      requestBody: file,
      responses: { '202': answer('The job has been queued.', object({ job: text }, ['job'])) },
    }),
  },
  [`${prefix}/jobs/{id}`]: {
    parameters: [path('id', 'Id of the job.')],
    get: operation(['getJob', tag], 'State of an import', {
      responses: { '200': answer('The state.', schema('ImportJob')) },
    }),
  },
  [`${prefix}/jobs/{id}/rejected`]: {
    parameters: [path('id', 'Id of the job.')],
    get: operation(['getRejectedRows', tag], 'Rows that an import has rejected', {
      responses: { '200': bytes('One JSON object a line.', 'application/x-ndjson') },
    }),
  },
};
