import { withAdded } from '../../kit/added.ts';
import { attach, requireFileField } from '../../kit/file-fields.ts';
import { objectId, table, text } from '../parameters.ts';
import { defineTool } from '../tool.ts';

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
    requireFileField(call, place, ['File', 'PrivateFile', 'new']);
    return withAdded(call, className, () => attach(call, place, { name, url }));
  },
});
