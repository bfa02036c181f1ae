import type { JsonObject } from '../../../kernel/json.ts';
import { checkTogether, createTogether } from '../../../records/index.ts';
import { flag, objects, recordId, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { bytesOf } from '../../kit/answers/bytes.ts';
import { LIST_BYTES } from '../../kit/answers/page.ts';
import { badArguments, unless } from '../../kit/answers/refusals.ts';
import { shortText } from '../../kit/answers/short-text.ts';
import { requireFields } from '../../kit/documents/quote-fields.ts';
import { currencyOf, type PricedRow, pricedRows } from '../../kit/documents/quote-rows.ts';
import { type QuoteTotals, totalsOf } from '../../kit/documents/quote-totals.ts';
import { type Create, type Links, QUOTES, quoteOf, targetOf, writesFor } from '../../kit/documents/quote-writes.ts';
import { getRow } from '../../kit/reading/records.ts';
import { hasField } from '../../kit/reading/tables.ts';
import { pointedAt } from '../../kit/values/wire.ts';
import { nextNumber } from '../../kit/writing/next-number.ts';
import { inTurn } from '../../kit/writing/turns.ts';

/** SPEC "Main business tables": PriceQuotes, SaleRows; all of it is one commit. */
export const createPriceQuote = defineTool({
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
  async run(call, { rows: asked, name, dryRun, ...links }) {
    requireFields(call, sentBy({ name, ...links }, asked));
    await checkLinks(call, links);
    const rows = await pricedRows(call, asked);
    const totals = totalsOf(rows);
    const quote = quoteOf(call, { ...links, name, currencyId: currencyOf(rows), totals });
    // Whoever numbers quotes waits for the one before, so that no two have one number.
    return inTurn(call, QUOTES, async (held) => {
      const number = await nextNumber(held, QUOTES);
      const writes = writesFor(call, { ...quote, ...(number !== undefined && { Number: number }) }, rows, totals, links);
      if (dryRun === true) await checkTogether(call.context, writes);
      else await createTogether(held.context, writes);
      return answerOf(writes, rows, totals, number, dryRun === true);
    });
  },
});

const sentBy = (args: object, rows: readonly JsonObject[]): string[] => [
  ...Object.entries(args).flatMap(([name, value]) => (value === undefined ? [] : [name])),
  ...rows.flatMap(Object.keys),
];

/** @throws invalidArguments (107) for what is not there; permissionDenied (119) */
async function checkLinks(call: ToolCall, { accountId, saleId, templateId }: Links): Promise<void> {
  const read = (argument: string, table: string, id: string, next: string, keys: readonly string[] = []) =>
    unless(['objectNotFound'], null, () => getRow(call, table, id, { keys: ['objectId', ...keys] })).then(
      (row) => row ?? badArguments(`${argument}: there is no such record of ${table}, or you may not see it`, { next }),
    );
  await read('accountId', 'Accounts', accountId, 'Search-Records');
  const templates = targetOf(call, 'TemplateId', 'DocumentTemplates');
  if (templateId !== undefined) await read('templateId', templates, templateId, `Get-Data on ${templates}`);
  if (saleId === undefined) return;
  const ofSale = hasField(call, 'Sales', 'AccountId', 'Pointer') ? ['AccountId'] : [];
  const owner = pointedAt((await read('saleId', 'Sales', saleId, 'Get-Data on Sales', ofSale)).AccountId);
  if (owner !== undefined && owner !== accountId) badArguments(`saleId: the sale is of another account, ${owner}`);
}

/** Of a text in a row. */
const MOST_CHARACTERS = 200;

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
      ...(typeof name === 'string' && { product: shortText(name, MOST_CHARACTERS) }),
      ...(row.description !== undefined && { description: shortText(row.description, MOST_CHARACTERS) }),
      quantity: row.quantity,
      price: row.price,
      ...(row.discount !== undefined && { discount: row.discount }),
      ...(each[at]?.vat !== undefined && { vat: each[at].vat }),
      total: each[at]?.total ?? 0,
    };
  });
  const isLong = bytesOf(shown) > LIST_BYTES;
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
