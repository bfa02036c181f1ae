import type { CallableFunction } from '../../../functions/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { operationPrefixes } from '../../model/names.ts';
import type { DescribedTable } from '../../model/table.ts';
import { jsonOf } from '../components/refs.ts';
import { security } from '../components/security.ts';
import { answer, free, object, operation, type Paths, text } from './operation.ts';

const tag = 'Functions';
const form = 'application/x-www-form-urlencoded';
const succeeded = { success: { type: 'boolean' } };

/** Values of a form are texts, or what a record takes. */
function leadInput(accounts: DescribedTable | undefined): JsonObject {
  const fields = (accounts?.fields ?? []).filter(({ type }) => !['Relation', 'File', 'PrivateFile'].includes(type));
  const titled = fields.map(({ name, label }) => [name, { ...(label !== undefined && { title: label }) }]);
  return {
    type: 'object',
    properties: Object.fromEntries(titled),
    anyOf: [{ required: ['PhoneNumber'] }, { required: ['Email'] }],
  };
}

const tableInput = (required: string[]): JsonObject => ({
  ...object({ table: text, phone: text, email: text, idnum: text }, required),
  description: '`account_FIELD` sets fields of a contact that is created, `table_FIELD` those of the record.',
  additionalProperties: true,
});

const call = (input: JsonObject, answered: JsonObject, name: string, summary: string, example?: JsonObject): JsonObject => ({
  post: operation([`${operationPrefixes.functions}_${name}`, tag], summary, {
    security: security.none,
    requestBody: { content: { ...jsonOf(input, example && { example }), [form]: { schema: input } } },
    responses: { '200': answer('Its answer.', answered) },
  }),
});

/**
 * Returns the paths of functions. A GET does the same as a POST, and is left out: its parameters are the members of the body.
 * @param accounts left out if the system has no such table. Reference: functions.md
 */
export function functionPaths(
  appId: string,
  accounts: DescribedTable | undefined,
  functions: readonly CallableFunction[],
): Paths {
  const linked = object({ ...succeeded, accountId: text, Id: text });
  const path = (name: string) => `/functions/${appId}/${name}`;
  const lead = { Name: 'Dana Levi', PhoneNumber: '050-123-4567' };
  const paths: Record<string, JsonObject> = {
    [path('getlead')]: call(
      leadInput(accounts),
      object({ result: object({ ...succeeded, leadId: text }) }),
      'getlead',
      'Create a lead',
      accounts && lead,
    ),
    [path('web2table')]: call(tableInput(['table', 'phone']), linked, 'web2table', 'Create a record, linked to a contact'),
    [path('web2case')]: call(tableInput(['phone']), linked, 'web2case', 'Create a case, linked to a contact'),
    [path('web2sale')]: call(tableInput(['phone']), linked, 'web2sale', 'Create a sale, linked to a contact'),
  };
  for (const { name, input } of functions) {
    paths[path(name)] = call(input ?? free, object({ result: {} }), name, `Call the function ${name}`);
  }
  return paths;
}
