import type { JsonObject } from '../../kernel/json.ts';
import { checkWrites, createAtomically } from '../../records/index.ts';
import { runExclusive } from '../commands/exclusive.ts';
import type { CrmContext } from '../context.ts';
import { getRow, hasField } from '../queries/records.ts';
import { badArguments, unless } from '../refusals.ts';
import { pointedAt } from '../wire/values.ts';
import { currencyOf, type PricedRow, pricedRows } from './quote-rows.ts';
import { type QuoteTotals, totalsOf } from './quote-totals.ts';
import { type Create, type Links, nextNumber, QUOTES, quoteOf, requireFields, targetOf, writesFor } from './quote-writes.ts';

/** A quote to be created. */
export interface QuoteRequest extends Links {
  readonly name?: string | undefined;
  readonly rows: readonly JsonObject[];
  /** Validates without writing. */
  readonly dryRun?: boolean | undefined;
}

/** A created quote with its rows. */
export interface CreatedQuote {
  /** The quote, then its rows. */
  readonly writes: readonly Create[];
  readonly rows: readonly PricedRow[];
  readonly totals: QuoteTotals;
  /** Absent if the table does not number its records. */
  readonly number: number | undefined;
}

/**
 * Creates a price quote with its rows in one commit.
 * @throws classMissing (103), invalidArguments (107), permissionDenied (119)
 */
export async function createQuote(
  context: CrmContext,
  { rows: requested, name, dryRun, ...links }: QuoteRequest,
): Promise<CreatedQuote> {
  requireFields(context, namesSent({ name, ...links }, requested));
  await checkLinks(context, links);
  const rows = await pricedRows(context, requested);
  const totals = totalsOf(rows);
  const quote = quoteOf(context, { ...links, name, currencyId: currencyOf(rows), totals });
  // Serialised, so that no two quotes get the same number.
  return runExclusive(context, QUOTES, async (held) => {
    const number = await nextNumber(held, QUOTES);
    const writes = writesFor(context, { ...quote, ...(number !== undefined && { Number: number }) }, rows, totals, links);
    if (dryRun === true) await checkWrites(context, writes);
    else await createAtomically(held, writes);
    return { writes, rows, totals, number };
  });
}

const namesSent = (args: object, rows: readonly JsonObject[]): string[] => [
  ...Object.entries(args).flatMap(([name, value]) => (value === undefined ? [] : [name])),
  ...rows.flatMap(Object.keys),
];

/** Checks that linked records exist. @throws invalidArguments (107) if one does not; permissionDenied (119) */
async function checkLinks(context: CrmContext, { accountId, saleId, templateId }: Links): Promise<void> {
  const read = (argument: string, table: string, id: string, next: string, keys: readonly string[] = []) =>
    unless(['objectNotFound'], null, () => getRow(context, table, id, { keys: ['objectId', ...keys] })).then(
      (row) => row ?? badArguments(`${argument}: there is no such record of ${table}, or you may not see it`, { next }),
    );
  await read('accountId', 'Accounts', accountId, 'Search-Records');
  const templates = targetOf(context, 'TemplateId', 'DocumentTemplates');
  if (templateId !== undefined) await read('templateId', templates, templateId, `Get-Data on ${templates}`);
  if (saleId === undefined) return;
  const ofSale = hasField(context, 'Sales', 'AccountId', 'Pointer') ? ['AccountId'] : [];
  const owner = pointedAt((await read('saleId', 'Sales', saleId, 'Get-Data on Sales', ofSale)).AccountId);
  if (owner !== undefined && owner !== accountId) badArguments(`saleId: the sale is of another account, ${owner}`);
}
