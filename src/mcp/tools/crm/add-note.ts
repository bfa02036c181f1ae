import { objectId, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { linksTo } from '../../kit/crm/links.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { createRow } from '../../kit/writing/records.ts';

const TABLE = 'Notes';

export const addNote = defineTool({
  name: 'Add-Note',
  group: 'crm',
  description: 'Add a note to a record.',
  input: { table: table(), objectId: objectId(), comment: text(1_000_000), name: text(1_000).optional() },
  needs: ['mcp:create'],
  effect: 'add',
  about: TABLE,
  async run(call, { table: about, objectId: id, comment: Comment, name }) {
    tableNamed(call, about);
    const links = await linksTo(call, tableNamed(call, TABLE), { table: about, objectId: id });
    const { objectId: created, createdAt } = await createRow(call, TABLE, {
      ...links,
      Comment,
      ...(name !== undefined && { Name: name }),
    });
    return { objectId: created, createdAt, linkedBy: Object.keys(links) };
  },
});
