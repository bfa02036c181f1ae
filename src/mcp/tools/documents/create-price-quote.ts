import { createQuote } from '../../../crm/sales/create-quote.ts';
import type { PricedRow } from '../../../crm/sales/quote-rows.ts';
import type { QuoteTotals } from '../../../crm/sales/quote-totals.ts';
import { type Create, QUOTES } from '../../../crm/sales/quote-writes.ts';
import { shortText } from '../../../crm/wire/short-text.ts';
import { type JsonObject, jsonBytes } from '../../../kernel/json.ts';
import { flag, objects, recordId, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { LIST_BYTES } from '../../results/page.ts';

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
  async run(call, order) {
    const { writes, rows, totals, number } = await createQuote(call, order);
    return answerOf(writes, rows, totals, number, order.dryRun === true);
  },
});

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
  const isLong = jsonBytes(shown) > LIST_BYTES;
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
