import { objectId, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { attach, requireFileField } from '../../kit/files/fields.ts';

/** SPEC "Files" rule 5. */
export const attachFile = defineTool({
  name: 'Attach-File',
  group: 'files',
  description: 'Put an uploaded file into a File or PrivateFile field.',
  input: { table: table(), objectId: objectId(), field: text(128), name: text(4_000), url: text(8_000) },
  needs: ['mcp:update'],
  effect: 'change',
  isIdempotent: true,
  async run(call, { table: className, objectId: id, field, name, url }) {
    const place = { table: className, objectId: id, field };
    requireFileField(call, place, 'update', ['File', 'PrivateFile']);
    return attach(call, place, { name, url });
  },
});
