import { MAX_FIELDS } from '../../../crm/schema/fields.ts';
import { addFields, createTable } from '../../../crm/schema/tables.ts';
import { flag, objects, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';

export const createTableTool = defineTool({
  name: 'Create-Table',
  group: 'schema',
  description:
    'Create a table with the default permissions, labels and optional fields [{name, type, targetClass?, label?, required?, defaultValue?}].',
  input: {
    className: table(),
    label: text(200).optional(),
    fields: objects(MAX_FIELDS, 0).optional(),
    timeline: flag().optional(),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'add',
  run: createTable,
});

export const addFieldsTool = defineTool({
  name: 'Add-Fields',
  group: 'schema',
  description:
    'Add fields [{name, type, targetClass?, label?, required?, defaultValue?}] to a table; a type can never be changed later.',
  input: { className: table(), fields: objects(MAX_FIELDS) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'add',
  run: (call, { className, fields }) => addFields(call, className, fields),
});
