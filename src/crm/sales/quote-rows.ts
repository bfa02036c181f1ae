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

/** What a row of a quote is asked for. */
const rowForm = z.strictObject({
  productId: z.string().min(1).max(200).optional(),
  quantity: z.number().positive().max(1_000_000_000).default(1),
  price: z.number().min(0).max(1_000_000_000_000).optional(),
  discount: z.number().min(0).max(100).optional(),
  vatRate: z.number().min(0).max(100).optional(),
  description: z.string().min(1).max(10_000).optional(),
});
type AskedRow = z.output<typeof rowForm>;

/** A row with its price. */
export interface PricedRow extends AskedRow {
  readonly price: number;
  readonly product: Row | undefined;
  /** Percent; left out: not known. */
  readonly vatRate: number | undefined;
  /** Whether VAT is in the price already. */
  readonly isVatIncluded: boolean;
}

/**
 * Rows with the prices of their products. Every row that cannot be is named.
 * @throws invalidArguments (107); what `findRows` throws for who may not see products
 */
export async function pricedRows(context: CrmContext, rows: readonly JsonObject[]): Promise<PricedRow[]> {
  const asked = rows.map(readRow);
  const ids = asked.flatMap(({ productId }) => productId ?? []);
  const keys = ['Name', 'Price', 'Active', 'VatIncluded', 'VatRate', 'CurrencyId'];
  const found = await rowsWithIds(context, PRODUCTS, ids, keys);
  const products = new Map(found.map((product) => [product.objectId, product]));
  const faults: string[] = [];
  const priced = asked.flatMap((row, at): PricedRow[] => {
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

function readRow(row: JsonObject, at: number): AskedRow {
  const read = rowForm.safeParse(row, { reportInput: true });
  return read.success ? read.data : badArguments(faultsIn(read.error, ['rows', at]), { expected: FORM });
}

function faultOf(row: AskedRow, product: Row | undefined, price: number | undefined): string | null {
  if (row.productId === undefined)
    return row.description === undefined || price === undefined ? 'has no productId, and no description and price' : null;
  const name = row.productId.slice(0, 100);
  if (!product) return `names a product that does not exist, or that you may not see: ${name}`;
  if (product.Active === false) return `names a product that is not active: ${name}`;
  return price === undefined ? `has no price, nor has its product ${name}` : null;
}

/** The currency that all products are priced in, where they say one. @throws invalidArguments (107) where there are several */
export function currencyOf(rows: readonly PricedRow[]): string | undefined {
  const ids = [...new Set(rows.flatMap(({ product }) => pointedAt(product?.CurrencyId) ?? []))];
  if (ids.length > 1) badArguments('the products are priced in several currencies', { next: 'Get-Data on Products' });
  return ids[0];
}
