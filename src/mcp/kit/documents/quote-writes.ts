import type { JsonObject } from '../../../kernel/json.ts';
import type { RecordWrite } from '../../../records/index.ts';
import { newIdFor } from '../../../schema/system-tables.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { callerId, userPointer } from '../people/users.ts';
import { knownFields, tableIfAny } from '../reading/tables.ts';
import { pointer, wireDate } from '../values/wire.ts';
import type { PricedRow } from './quote-rows.ts';
import type { QuoteTotals } from './quote-totals.ts';

export const QUOTES = 'PriceQuotes';
export const ROWS = 'SaleRows';

/** What a quote is for. */
export interface Links {
  readonly accountId: string;
  readonly saleId?: string | undefined;
  readonly templateId?: string | undefined;
}

/** What a Pointer of a quote leads to in this system. */
export const targetOf = (call: ToolCall, field: string, usual: string): string =>
  tableIfAny(call, QUOTES)?.fields.get(field)?.targetClass ?? usual;

interface Quote extends Links {
  readonly name: string | undefined;
  readonly currencyId: string | undefined;
  readonly totals: QuoteTotals;
}

/** The quote without its number; only what this system has fields for. */
export function quoteOf(call: ToolCall, { accountId, saleId, templateId, name, currencyId, totals }: Quote): JsonObject {
  const userId = callerId(call);
  return knownFields(call, QUOTES, {
    ...(name !== undefined && { Name: name }),
    AccountId: pointer('Accounts', accountId),
    ...(saleId !== undefined && { SaleId: pointer('Sales', saleId) }),
    ...(templateId !== undefined && { TemplateId: pointer(targetOf(call, 'TemplateId', 'DocumentTemplates'), templateId) }),
    ...(currencyId !== undefined && { CurrencyId: pointer(targetOf(call, 'CurrencyId', 'Currencies'), currencyId) }),
    ...(userId !== undefined && { OwnerId: userPointer(userId) }),
    QuoteDate: wireDate(Date.now()),
    SubTotal: totals.subTotal,
    ...(totals.vat !== undefined && { VatValue: totals.vat }),
    Total: totals.total,
  });
}

/** A record to be, with its id. */
export type Create = Extract<RecordWrite, { kind: 'create' }> & { readonly objectId: string };

/** The writes of a quote and its rows, whose ids are chosen, so that the rows point at the quote. */
export function writesFor(
  call: ToolCall,
  body: JsonObject,
  rows: readonly PricedRow[],
  totals: QuoteTotals,
  links: Links,
): Create[] {
  const quote: Create = { kind: 'create', className: QUOTES, objectId: newIdFor(QUOTES), body };
  const lines = rows.map((row, at): Create => {
    const description = row.description ?? row.product?.Name;
    const line = knownFields(call, ROWS, {
      PriceQuoteId: pointer(QUOTES, quote.objectId),
      ...(links.saleId !== undefined && { SaleId: pointer('Sales', links.saleId) }),
      ...(row.productId !== undefined && { ProductId: pointer('Products', row.productId) }),
      ...(description !== undefined && { Description: description }),
      Quantity: row.quantity,
      UnitPrice: row.price,
      ...(row.discount !== undefined && { Discount: row.discount }),
      ...(row.vatRate !== undefined && { VatRate: row.vatRate }),
      Total: totals.rows[at]?.total ?? 0,
      SortOrder: at + 1,
    });
    return { kind: 'create', className: ROWS, objectId: newIdFor(ROWS), body: line };
  });
  return [quote, ...lines];
}
