import { objects, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { validate } from '../../kit/writing/validate.ts';

/** What creating the records would meet with; nothing is written. */
export const validateRecords = defineTool({
  name: 'Validate-Records',
  group: 'records',
  description: 'Check records against the schema without writing; lists every wrong field, type and dangling Pointer.',
  input: { table: table(), data: objects() },
  needs: ['mcp:view'],
  effect: 'read',
  run: (call, { table: className, data }) => validate(call, className, data),
});
