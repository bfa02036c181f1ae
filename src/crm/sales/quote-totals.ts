import type { PricedRow } from './quote-rows.ts';

/** Amounts of a row. */
export interface RowTotals {
  /** quantity × price × (1 − discount / 100); includes VAT if the price does. */
  readonly total: number;
  readonly vat: number | undefined;
}

/** Amounts of a quote. */
export interface QuoteTotals {
  readonly rows: readonly RowTotals[];
  /** Excluding VAT. */
  readonly subTotal: number;
  readonly vat: number | undefined;
  readonly total: number;
  /** Description of the computation, for people. */
  readonly computed: string;
}

/** Rounds to two decimals, halves away from zero; binary fraction errors are removed first. */
export const rounded = (amount: number): number => Math.round(Number((amount * 100).toPrecision(15))) / 100;

/** Computes the amounts of a quote: rows are rounded individually, then summed. */
export function totalsOf(rows: readonly PricedRow[]): QuoteTotals {
  const each = rows.map(rowTotals);
  const sum = (amounts: readonly number[]) => rounded(amounts.reduce((all, one) => all + one, 0));
  const hasVat = rows.some(({ vatRate }) => vatRate !== undefined);
  const vat = hasVat ? sum(each.map((row) => row.vat ?? 0)) : undefined;
  const within = sum(each.map((row, at) => (rows[at]?.isVatIncluded ? (row.vat ?? 0) : 0)));
  const prices = sum(each.map(({ total }) => total));
  const subTotal = rounded(prices - within);
  return { rows: each, subTotal, vat, total: rounded(subTotal + (vat ?? 0)), computed: wordsFor(rows, hasVat) };
}

function rowTotals({ quantity, price, discount = 0, vatRate, isVatIncluded }: PricedRow): RowTotals {
  const total = rounded(quantity * price * (1 - discount / 100));
  if (vatRate === undefined) return { total, vat: undefined };
  return { total, vat: rounded((total * vatRate) / (isVatIncluded ? 100 + vatRate : 100)) };
}

function wordsFor(rows: readonly PricedRow[], hasVat: boolean): string {
  const row = 'Row total = quantity × price × (1 − discount/100), rounded to 2 decimals.';
  if (!hasVat) return `${row} VAT was not computed: neither the rows nor the products have a vatRate.`;
  const included = rows.some(({ isVatIncluded }) => isVatIncluded) ? ' Prices of products marked VatIncluded contain it.' : '';
  const without = rows.some(({ vatRate }) => vatRate === undefined) ? ' Rows without a vatRate have none.' : '';
  return `${row} VAT by the vatRate of each row.${included}${without}`;
}
