import { isJsonObject, type JsonObject, type JsonValue, omitUndefined, own } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import type { Placed, Source } from '../queries/merged-feed.ts';
import { findRows, type Row } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { namedPointer, titleIn } from '../wire/titles.ts';
import { isoOf, pointedAt, pointer } from '../wire/values.ts';

export const kinds = ['quote', 'invoice', 'receipt', 'order', 'all'] as const;
export type Kind = (typeof kinds)[number];

/** A table of documents with the table of their lines. */
export interface DocumentSource extends Source {
  readonly isQuote: boolean;
  readonly lines: { readonly table: string; readonly of: string; readonly order: string };
}

const common = ['Number', 'AccountId.Name', 'SaleId.Name', 'CurrencyId.Name', 'SubTotal', 'Discount', 'VatValue'];

export const quotes: DocumentSource = {
  table: 'PriceQuotes',
  time: 'QuoteDate',
  where: {},
  isQuote: true,
  lines: { table: 'SaleRows', of: 'PriceQuoteId', order: 'SortOrder,createdAt' },
  keys: [...common, 'Name', 'StatusId.Name', 'Total', 'ValidUntil', 'SignedAt', 'SignedPdf', 'Pdf'],
};

export const accounting: DocumentSource = {
  table: 'AccountingHeaders',
  time: 'DocumentDate',
  where: {},
  isQuote: false,
  lines: { table: 'AccountingInvoiceLines', of: 'AccountingHeaderId', order: 'LineNumber,createdAt' },
  keys: [...common, 'DocTypeId.Name', 'DocTypeId.Code', 'CustomerName', 'TotalSum', 'DueDate', 'File', 'Cancelled'],
};

/** Codes of document types by kind; the pattern applies to names of types without a code. */
const typesOf: ReadonlyMap<Kind, { readonly codes: readonly number[]; readonly names: RegExp }> = new Map([
  ['invoice', { codes: [300, 305, 320, 330], names: /invoice|חשבונית|חשבון עסקה/i }],
  ['receipt', { codes: [320, 400, 405], names: /receipt|קבלה/i }],
  ['order', { codes: [100], names: /\border\b|הזמנה/i }],
]);

const TYPES = 'DocTypes';

/** Returns the `where` for accounting documents of a kind. @throws invalidArguments (107) if this system has no such document type */
export async function ofKind(context: CrmContext, kind: Kind): Promise<JsonObject> {
  const criteria = typesOf.get(kind);
  if (!criteria) return {};
  const rows = await findRows(context, TYPES, { keys: ['Name', 'Code'], limit: 1_000 });
  const isOne = ({ Code, Name }: Row) =>
    Code === undefined ? typeof Name === 'string' && criteria.names.test(Name) : criteria.codes.includes(Number(Code));
  const types = rows.filter(isOne).map(({ objectId }) => pointer(TYPES, objectId));
  if (types.length === 0)
    badArguments(`no row of ${TYPES} is of the kind ${kind}: none has one of the codes ${criteria.codes.join(', ')}`, {
      next: 'Get-Lookup-Values',
    });
  return { DocTypeId: { $in: types } };
}

/** Returns the kind of an accounting document by its type. */
function kindOf(type: JsonObject | undefined): Kind | 'other' {
  const [code, name] = [own(type ?? {}, 'Code'), own(type ?? {}, 'Name')];
  for (const [kind, { codes, names }] of typesOf)
    if (code === undefined ? typeof name === 'string' && names.test(name) : codes.includes(Number(code))) return kind;
  return 'other';
}

const fileUrl = (value: JsonValue | undefined): JsonValue | undefined => (isJsonObject(value) ? own(value, 'url') : undefined);
const titled = (value: JsonValue | undefined): JsonValue | undefined => (value === undefined ? undefined : namedPointer(value));

/** Returns a document in the form common to all kinds. */
export function documentOf({ source, row, at }: Placed<DocumentSource>): JsonObject {
  const type = isJsonObject(row.DocTypeId) ? row.DocTypeId : undefined;
  const signed = fileUrl(row.SignedPdf);
  return omitUndefined({
    kind: source.isQuote ? 'quote' : kindOf(type),
    table: source.table,
    objectId: row.objectId,
    number: row.Number,
    name: row.Name ?? row.CustomerName,
    type: type && own(type, 'Name'),
    date: at,
    account: titled(row.AccountId),
    sale: titled(row.SaleId),
    status: titleIn(row.StatusId),
    currency: titleIn(row.CurrencyId),
    subTotal: row.SubTotal,
    discount: row.Discount,
    vat: row.VatValue,
    total: source.isQuote ? row.Total : row.TotalSum,
    due: isoOf(row.DueDate) ?? isoOf(row.ValidUntil),
    signedAt: isoOf(row.SignedAt),
    cancelled: row.Cancelled,
    file: signed ?? fileUrl(row.Pdf) ?? fileUrl(row.File),
  });
}

const lineKeys = ['Description', 'ProductId.Name', 'Quantity', 'UnitPrice', 'Discount', 'VatRate', 'VatValue', 'Total'];

/** Returns a line of a document in the form common to all kinds. */
function lineOf(row: Row): JsonObject {
  return omitUndefined({
    objectId: row.objectId,
    description: row.Description,
    product: titled(row.ProductId),
    quantity: row.Quantity,
    unitPrice: row.UnitPrice,
    discount: row.Discount,
    vatRate: row.VatRate,
    vat: row.VatValue,
    total: row.Total,
  });
}

/** Maximum number of lines in one answer. */
const MAX_LINES = 2_000;

/** Returns the lines of documents by document id; `isCut` if there are more than `MAX_LINES`. @throws what `findRows` throws */
export async function linesOf(context: CrmContext, { table, lines }: DocumentSource, ids: readonly string[]) {
  const where = { [lines.of]: { $in: ids.map((id) => pointer(table, id)) } };
  const keys = [lines.of, ...lineKeys];
  const rows = await findRows(context, lines.table, { where, keys, order: lines.order, limit: MAX_LINES + 1 });
  const byDocument = new Map<string, JsonObject[]>();
  for (const row of rows.slice(0, MAX_LINES)) {
    const id = pointedAt(row[lines.of]) ?? '';
    const known = byDocument.get(id);
    if (known) known.push(lineOf(row));
    else byDocument.set(id, [lineOf(row)]);
  }
  return { byDocument, isCut: rows.length > MAX_LINES };
}
