import { limit, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { headOf, oneMore } from '../../kit/answers/page.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { duplicatesOf } from '../../kit/search/duplicates.ts';

/** SPEC "Records": the service does not enforce that phones and e-mail addresses are unique. */
export const findDuplicates = defineTool({
  name: 'Find-Duplicates',
  group: 'crm',
  description:
    'Accounts or contacts that match a phone, e-mail, name or company id; call before creating: nothing enforces uniqueness.',
  input: {
    table: table().optional(),
    phone: text(100).optional(),
    email: text(1_000).optional(),
    name: text(1_000).optional(),
    companyId: text(100).optional(),
    limit: limit(20, 200),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'Accounts',
  async run(call, { table: className = 'Accounts', limit: most, ...sought }) {
    const found = await duplicatesOf(call, tableNamed(call, className), sought, oneMore(most));
    return headOf(found, most, 'There are more: send more of what you know.');
  },
});
