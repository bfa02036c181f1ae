import { z } from 'zod';
import { type CardSection, cardPart, cardSections } from '../../../crm/customers/card.ts';
import { getRow, tableNamed } from '../../../crm/queries/records.ts';
import { briefly, briefOf } from '../../../crm/queries/summary.ts';
import { type JsonObject, type JsonValue, jsonBytes } from '../../../kernel/json.ts';
import { limit, objectId } from '../../definition/parameters.ts';
import { withJsonSchema } from '../../definition/schema.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { MAX_RESULT_BYTES, pageOf } from '../../results/page.ts';

const TABLE = 'Accounts';

/** Maximum size of the details in bytes, and the text lengths tried in turn to meet it. */
const MAX_DETAILS_BYTES = 15_000;
const TEXT_LENGTHS = [1_000, 300, 60];

const sectionList = withJsonSchema(z.array(z.enum(cardSections)).max(cardSections.length), {
  type: 'array',
  items: { type: 'string', enum: [...cardSections] },
});

export const getCustomerCard = defineTool({
  name: 'Get-Customer-Card',
  group: 'crm',
  description: 'One account in one call: details, contacts, open sales, tasks and cases, last activities, notes and messages.',
  input: { objectId: objectId(), sections: sectionList.optional(), limit: limit(5, 50) },
  needs: ['mcp:view'],
  effect: 'read',
  about: TABLE,
  listedBy: 'Search-Records',
  async run(call, { objectId: id, sections = [], limit: maxRows }) {
    const details = await detailsOf(call, id);
    const wanted = cardSections.filter((section) => sections.length === 0 || sections.includes(section));
    const others = wanted.filter((section): section is Exclude<CardSection, 'details'> => section !== 'details');
    const parts = await Promise.all(others.map((section) => cardPart(call, section, id, maxRows)));
    const card: JsonObject = wanted.includes('details') ? { details } : { objectId: id };
    for (const [at, section] of others.entries()) {
      const { shown } = parts[at] ?? {};
      if (shown) card[section] = listed(shown, maxRows);
    }
    const hidden = [...new Set(parts.flatMap((part) => part.hidden ?? []))];
    const missing = [...new Set(parts.flatMap((part) => part.missing ?? []))];
    return { ...card, ...(hidden.length > 0 && { hidden }), ...(missing.length > 0 && { missing }) };
  },
});

/** Maximum size of each section, besides the details. */
const MAX_PART_BYTES = Math.floor((MAX_RESULT_BYTES - 18_000) / (cardSections.length - 1));

function listed(rows: readonly JsonValue[], maxRows: number): JsonObject {
  const { results, nextSkip, truncated } = pageOf(rows, { limit: maxRows }, MAX_PART_BYTES);
  return { results, ...((nextSkip !== undefined || truncated) && { more: true }) };
}

/** Reads the account. Always called, because it checks whether the caller may see the account. */
async function detailsOf(call: ToolCall, id: string): Promise<JsonObject> {
  const accounts = tableNamed(call, TABLE);
  const names = [...accounts.fields.keys()].filter((name) => name !== 'objectId' && name !== 'ACL');
  const row = await getRow(call, TABLE, id, briefly(call, accounts, names));
  const forms = TEXT_LENGTHS.map((maxLength) => briefOf(row, names, maxLength));
  const fitting = forms.find((details) => jsonBytes(details) <= MAX_DETAILS_BYTES);
  return fitting ?? forms.at(-1) ?? {};
}
