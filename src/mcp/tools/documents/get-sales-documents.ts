import { kinds } from '../../../crm/sales/documents.ts';
import { findDocuments } from '../../../crm/sales/find-documents.ts';
import { shownRange } from '../../../crm/time/range.ts';
import { choice, flag, limit, localTime, recordId, skip, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { pageOf } from '../../results/page.ts';

/** SPEC "Main business tables": PriceQuotes, AccountingHeaders. */
export const getSalesDocuments = defineTool({
  name: 'Get-Sales-Documents',
  group: 'documents',
  description: 'Price quotes and accounting documents with their lines, totals and file link.',
  input: {
    kind: choice(kinds).default('all'),
    accountId: recordId().optional(),
    number: text(100).optional(),
    objectId: recordId().optional(),
    from: localTime().optional(),
    to: localTime().optional(),
    withLines: flag().optional(),
    limit: limit(20, 200),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'AccountingHeaders',
  async run(call, question) {
    const { documents, range, isCut, hidden, missing } = await findDocuments(call, question);
    return {
      ...pageOf(documents, question),
      ...shownRange(range),
      ...(isCut && { hint: 'Not all lines are here: ask for fewer documents.' }),
      ...(hidden.length > 0 && { hidden: [...hidden] }),
      ...(missing.length > 0 && { missing: [...missing] }),
    };
  },
});
