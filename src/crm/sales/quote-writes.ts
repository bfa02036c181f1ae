import { master } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { RecordWrite } from '../../records/index.ts';
import type { FieldType } from '../../schema/model.ts';
import { newIdFor } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { callerId, userPointer } from '../queries/owners.ts';
import { aggregateRows, hasField, knownFields, tableIfAny, tableNamed } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { pointer, wireDate } from '../wire/values.ts';
import type { PricedRow } from './quote-rows.ts';
import type { QuoteTotals } from './quote-totals.ts';

export const QUOTES = 'PriceQuotes';
export const ROWS = 'SaleRows';

/** Records that a quote is linked to. */
export interface Links {
  readonly accountId: string;
  readonly saleId?: string | undefined;
  readonly templateId?: string | undefined;
}

/** Returns the target table of a Pointer of quotes in this system, or the template's. */
export const targetOf = (context: CrmContext, field: string, fallback: string): string =>
  tableIfAny(context, QUOTES)?.fields.get(field)?.targetClass ?? fallback;

interface Quote extends Links {
  readonly name: string | undefined;
  readonly currencyId: string | undefined;
  readonly totals: QuoteTotals;
}

/** Returns the quote without its number, reduced to the fields that this system has. */
export function quoteOf(context: CrmContext, { accountId, saleId, templateId, name, currencyId, totals }: Quote): JsonObject {
  const userId = callerId(context);
  return knownFields(context, QUOTES, {
    ...(name !== undefined && { Name: name }),
    AccountId: pointer('Accounts', accountId),
    ...(saleId !== undefined && { SaleId: pointer('Sales', saleId) }),
    ...(templateId !== undefined && { TemplateId: pointer(targetOf(context, 'TemplateId', 'DocumentTemplates'), templateId) }),
    ...(currencyId !== undefined && { CurrencyId: pointer(targetOf(context, 'CurrencyId', 'Currencies'), currencyId) }),
    ...(userId !== undefined && { OwnerId: userPointer(userId) }),
    QuoteDate: wireDate(Date.now()),
    SubTotal: totals.subTotal,
    ...(totals.vat !== undefined && { VatValue: totals.vat }),
    Total: totals.total,
  });
}

/** A create with its id. */
export type Create = Extract<RecordWrite, { kind: 'create' }> & { readonly objectId: string };

/** Returns the writes for a quote and its rows. Ids are assigned here so that the rows can point to the quote. */
export function writesFor(
  context: CrmContext,
  body: JsonObject,
  rows: readonly PricedRow[],
  totals: QuoteTotals,
  links: Links,
): Create[] {
  const quote: Create = { kind: 'create', className: QUOTES, objectId: newIdFor(QUOTES), body };
  const lines = rows.map((row, at): Create => {
    const description = row.description ?? row.product?.Name;
    const line = knownFields(context, ROWS, {
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

/** Where optional arguments and keys of rows are stored. */
const places: ReadonlyMap<string, readonly [table: string, field: string, ...types: FieldType[]]> = new Map([
  ['name', [QUOTES, 'Name', 'String', 'HTML/XML']],
  ['saleId', [QUOTES, 'SaleId', 'Pointer']],
  ['templateId', [QUOTES, 'TemplateId', 'Pointer']],
  ['description', [ROWS, 'Description', 'String', 'HTML/XML']],
  ['discount', [ROWS, 'Discount', 'Number']],
  ['vatRate', [ROWS, 'VatRate', 'Number']],
]);

/**
 * Checks that this customised system has the Pointers that link quotes and rows, and a field for each argument that was sent.
 * @param sent names of arguments and of keys of rows
 * @throws classMissing (103), invalidArguments (107)
 */
export function requireFields(context: CrmContext, sent: Iterable<string>): void {
  for (const [table, field, target] of [
    [QUOTES, 'AccountId', 'Accounts'],
    [ROWS, 'PriceQuoteId', QUOTES],
  ] as const)
    if (tableNamed(context, table).fields.get(field)?.targetClass !== target)
      badArguments(`${table}.${field} is no Pointer to ${target} in this system`, { next: 'Get-Schema' });
  for (const argument of new Set(sent)) {
    const [table = '', field = '', ...types] = places.get(argument) ?? [];
    if (table === '' || types.some((type) => hasField(context, table, field, type))) continue;
    badArguments(`${argument} cannot be stored: ${table} has no field ${field} of type ${types.join(' or ')} in this system`, {
      expected: 'Leave it out, or add the field',
      next: 'Add-Fields',
    });
  }
}

/**
 * Returns the highest number of a table plus 1. Counts records that the caller may not see too, since their numbers are taken. Concurrent calls must
 * be
 * serialised by `runExclusive`.
 * @returns `undefined` if the table does not number its records this way
 */
export async function nextNumber(context: CrmContext, table: string, field = 'Number'): Promise<number | undefined> {
  if (!hasField(context, table, field, 'Number')) return undefined;
  const asService = { ...context, principal: master };
  const [row] = await aggregateRows(asService, table, [{ $group: { _id: null, last: { $max: `$${field}` } } }]);
  const next = Math.max(0, Math.floor(typeof row?.last === 'number' ? row.last : 0)) + 1;
  return Number.isSafeInteger(next) ? next : undefined;
}
