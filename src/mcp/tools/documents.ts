import { campaignStats, SENT_LOG } from '../../crm/messages/campaigns.ts';
import { channels, findMessages } from '../../crm/messages/find-messages.ts';
import { createQuote } from '../../crm/sales/create-quote.ts';
import { kinds } from '../../crm/sales/documents.ts';
import { findDocuments } from '../../crm/sales/find-documents.ts';
import type { PricedRow } from '../../crm/sales/quote-rows.ts';
import type { QuoteTotals } from '../../crm/sales/quote-totals.ts';
import { type Create, QUOTES } from '../../crm/sales/quote-writes.ts';
import { rangeToJson } from '../../crm/time/range.ts';
import { shortText } from '../../crm/wire/short-text.ts';
import { type JsonObject, jsonBytes } from '../../kernel/json.ts';
import { choice, flag, limit, localTime, objects, recordId, skip, text } from '../definition/parameters.ts';
import { defineTool, type Tool } from '../definition/tool.ts';
import { headOf, MAX_LIST_BYTES, pageOf } from '../results/page.ts';

const createPriceQuote = defineTool({
  name: 'Create-Price-Quote',
  group: 'documents',
  description:
    'Create a price quote with its rows in one call; prices default from Products. rows: {productId, quantity, price, discount (percent), vatRate, description}.',
  input: {
    accountId: recordId(),
    saleId: recordId().optional(),
    templateId: recordId().optional(),
    rows: objects(200),
    name: text(1_000).optional(),
    dryRun: flag().optional(),
  },
  needs: ['mcp:create'],
  effect: 'add',
  about: QUOTES,
  async run(call, order) {
    const { writes, rows, totals, number } = await createQuote(call, order);
    return answerOf(writes, rows, totals, number, order.dryRun === true);
  },
});

/** Maximum length of a text in a row of the answer. */
const MAX_TEXT_LENGTH = 200;

function answerOf(
  [quote, ...lines]: readonly Create[],
  rows: readonly PricedRow[],
  { rows: each, subTotal, vat, total, computed }: QuoteTotals,
  number: number | undefined,
  isDry: boolean,
): JsonObject {
  const shown = rows.map((row, at): JsonObject => {
    const name = row.product?.Name;
    return {
      ...(!isDry && { objectId: lines[at]?.objectId ?? null }),
      ...(row.productId !== undefined && { productId: row.productId }),
      ...(typeof name === 'string' && { product: shortText(name, MAX_TEXT_LENGTH) }),
      ...(row.description !== undefined && { description: shortText(row.description, MAX_TEXT_LENGTH) }),
      quantity: row.quantity,
      price: row.price,
      ...(row.discount !== undefined && { discount: row.discount }),
      ...(each[at]?.vat !== undefined && { vat: each[at].vat }),
      total: each[at]?.total ?? 0,
    };
  });
  const isLong = jsonBytes(shown) > MAX_LIST_BYTES;
  return {
    ...(isDry ? { dryRun: true } : { objectId: quote?.objectId ?? null }),
    ...(number === undefined
      ? { hint: `The quote is not numbered: ${QUOTES}.Number is no Number, or has no next one.` }
      : { number }),
    rows: isLong ? shown.map(({ product: _name, description: _text, ...row }) => row) : shown,
    ...(isLong && { truncated: true }),
    subTotal,
    ...(vat !== undefined && { vat }),
    total,
    computed,
  };
}

/** Reference: tools.md#get-sales-documents. */
const getSalesDocuments = defineTool({
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
      ...rangeToJson(range),
      ...(isCut && { hint: 'Not all lines are here: ask for fewer documents.' }),
      ...(hidden.length > 0 && { hidden: [...hidden] }),
      ...(missing.length > 0 && { missing: [...missing] }),
    };
  },
});

/** Reference: tools.md#get-messages. */
const getMessages = defineTool({
  name: 'Get-Messages',
  group: 'documents',
  description: 'Conversations, messages, e-mails, SMS and calls with delivery status, newest first.',
  input: {
    accountId: recordId().optional(),
    conversationId: recordId().optional(),
    channel: choice(channels).default('all'),
    from: localTime().optional(),
    to: localTime().optional(),
    failedOnly: flag().optional(),
    limit: limit(20, 100),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'ConversationMessages',
  async run(call, question) {
    const { messages, range, hidden, missing } = await findMessages(call, question);
    return {
      ...pageOf(messages, question),
      ...rangeToJson(range),
      ...(hidden.length > 0 && { hidden: [...hidden] }),
      ...(missing.length > 0 && { missing: [...missing] }),
    };
  },
});

const getCampaignStats = defineTool({
  name: 'Get-Campaign-Stats',
  group: 'documents',
  description: 'Sent, delivered, opened, clicked, failed and unsubscribed per campaign, with top errors.',
  input: {
    campaignId: recordId().optional(),
    from: localTime().optional(),
    to: localTime().optional(),
    errors: flag().optional(),
    limit: limit(20, 200),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: SENT_LOG,
  listedBy: 'Get-Data on Campaigns',
  async run(call, question) {
    const { results, range, hidden, missing } = await campaignStats(call, question);
    if (missing.includes(SENT_LOG))
      return { results: [], missing: [...missing], hint: `Without ${SENT_LOG} nothing is known of what was sent.` };
    const page = headOf(results, question.limit, 'There are more campaigns: raise limit, or narrow with from and to.');
    return {
      ...page,
      ...rangeToJson(range),
      ...(hidden.length > 0 && { hidden: [...hidden] }),
      ...(missing.length > 0 && { missing: [...missing] }),
    };
  },
});

export const documentsTools: readonly Tool[] = [getMessages, getCampaignStats, getSalesDocuments, createPriceQuote];
