import { z } from 'zod';
import type { JsonObject } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { type Row, rowsWithIds } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { pointedAt } from '../wire/values.ts';
import { faultsIn } from '../zod-faults.ts';

const PRODUCTS = 'Products';
const FORM =
  'A row is {productId, quantity?, price?, discount? (percent), vatRate? (percent), description?}; without productId it needs description and price';

/** Schema of a row of a quote. */
const rowForm = z.strictObject({
  productId: z.string().min(1).max(200).optional(),
  quantity: z.number().positive().max(1_000_000_000).default(1),
  price: z.number().min(0).max(1_000_000_000_000).optional(),
  discount: z.number().min(0).max(100).optional(),
  vatRate: z.number().min(0).max(100).optional(),
  description: z.string().min(1).max(10_000).optional(),
});
type RequestedRow = z.output<typeof rowForm>;

/** A row with its price. */
export interface PricedRow extends RequestedRow {
  readonly price: number;
  readonly product: Row | undefined;
  /** Percent; undefined if unknown. */
  readonly vatRate: number | undefined;
  /** Whether the price includes VAT. */
  readonly isVatIncluded: boolean;
}

/**
 * Returns rows with the prices of their products. The error names every faulty row, up to five.
 * @throws invalidArguments (107); what `findRows` throws if the caller may not see products
 */
export async function pricedRows(context: CrmContext, rows: readonly JsonObject[]): Promise<PricedRow[]> {
  const requested = rows.map(readRow);
  const ids = requested.flatMap(({ productId }) => productId ?? []);
  const keys = ['Name', 'Price', 'Active', 'VatIncluded', 'VatRate', 'CurrencyId'];
  const found = await rowsWithIds(context, PRODUCTS, ids, keys);
  const products = new Map(found.map((product) => [product.objectId, product]));
  const faults: string[] = [];
  const priced = requested.flatMap((row, at): PricedRow[] => {
    const product = row.productId === undefined ? undefined : products.get(row.productId);
    const price = row.price ?? (typeof product?.Price === 'number' ? product.Price : undefined);
    const fault = faultOf(row, product, price);
    if (fault !== null) faults.push(`rows[${at}] ${fault}`);
    if (fault !== null || price === undefined) return [];
    const vatRate = row.vatRate ?? (typeof product?.VatRate === 'number' ? product.VatRate : undefined);
    return [{ ...row, price, product, vatRate, isVatIncluded: product?.VatIncluded === true }];
  });
  if (faults.length > 0) badArguments(faults.slice(0, 5).join('; '), { expected: FORM, next: 'Get-Data on Products' });
  return priced;
}

function readRow(row: JsonObject, at: number): RequestedRow {
  const read = rowForm.safeParse(row, { reportInput: true });
  return read.success ? read.data : badArguments(faultsIn(read.error, ['rows', at]), { expected: FORM });
}

function faultOf(row: RequestedRow, product: Row | undefined, price: number | undefined): string | null {
  if (row.productId === undefined)
    return row.description === undefined || price === undefined ? 'has no productId, and no description and price' : null;
  const name = row.productId.slice(0, 100);
  if (!product) return `names a product that does not exist, or that you may not see: ${name}`;
  if (product.Active === false) return `names a product that is not active: ${name}`;
  return price === undefined ? `has no price, nor has its product ${name}` : null;
}

/** Returns the currency of the products, if they have one. @throws invalidArguments (107) for several currencies */
export function currencyOf(rows: readonly PricedRow[]): string | undefined {
  const ids = [...new Set(rows.flatMap(({ product }) => pointedAt(product?.CurrencyId) ?? []))];
  if (ids.length > 1) badArguments('the products are priced in several currencies', { next: 'Get-Data on Products' });
  return ids[0];
}
