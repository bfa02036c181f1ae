import type { JsonObject } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { newestOf, type Placed } from '../queries/merged-feed.ts';
import { absentOf, hasField } from '../queries/records.ts';
import { accessErrors, badArguments, unless } from '../refusals.ts';
import { type Ends, rangeOf, type TimeRange } from '../time/range.ts';
import { pointer } from '../wire/values.ts';
import { accounting, type DocumentSource, documentOf, type Kind, linesOf, ofKind, quotes } from './documents.ts';

/** Filter and page of documents. */
export interface DocumentQuery extends Ends {
  readonly kind: Kind;
  readonly accountId?: string | undefined;
  readonly number?: string | undefined;
  readonly objectId?: string | undefined;
  /** If absent: with lines if a single document is requested by id. */
  readonly withLines?: boolean | undefined;
  readonly skip: number;
  readonly limit: number;
}

/** Sales documents in the form common to all kinds. */
export interface FoundDocuments {
  /** Newest first, one more than requested if there are more. */
  readonly documents: readonly JsonObject[];
  readonly range: TimeRange;
  /** Whether lines are left out because there are too many. */
  readonly isCut: boolean;
  /** Tables that the caller may not see. */
  readonly hidden: readonly string[];
  /** Tables that this system does not have. */
  readonly missing: readonly string[];
}

/**
 * Finds price quotes and accounting documents.
 * @throws invalidArguments (107) if this system has no such documents; what `newestOf` throws
 */
export async function findDocuments(context: CrmContext, query: DocumentQuery): Promise<FoundDocuments> {
  const { kind, accountId, number, objectId, from, to, withLines = objectId !== undefined, limit, skip } = query;
  const filters: JsonObject[] = [
    ...(accountId === undefined ? [] : [{ AccountId: pointer('Accounts', accountId) }]),
    ...(objectId === undefined ? [] : [{ objectId }]),
  ];
  const { sources, missing } = await sourcesFor(context, kind, filters, number);
  const range = await rangeOf(context, { from, to }, true);
  const { placed, hidden } = await newestOf(context, sources, { range, skip, limit });
  const lines = withLines ? await addLines(context, placed) : undefined;
  const documents = placed.map((one) => {
    const byDocument = lines?.found.get(one.source);
    return { ...documentOf(one), ...(byDocument && { lines: byDocument.get(one.row.objectId) ?? [] }) };
  });
  const lineTables = withLines ? sources.map((source) => source.lines.table) : [];
  return {
    documents,
    range,
    isCut: lines?.isCut === true,
    hidden: [...hidden, ...(lines?.hidden ?? [])],
    missing: [...missing, ...absentOf(context, lineTables)],
  };
}

/** Returns the tables to read, and those that this system does not have. @throws invalidArguments (107) if none is left */
async function sourcesFor(
  context: CrmContext,
  kind: Kind,
  filters: readonly JsonObject[],
  number?: string,
): Promise<{ sources: DocumentSource[]; missing: string[] }> {
  const wanted = [...(kind === 'quote' || kind === 'all' ? [quotes] : []), ...(kind === 'quote' ? [] : [accounting])];
  const missing = absentOf(
    context,
    wanted.map(({ table }) => table),
  );
  const there = wanted.filter(({ table }) => !missing.includes(table));
  if (there.length === 0) badArguments(`this system has no table ${missing.join(' or ')}`, { next: 'Get-Schema' });
  const sources: DocumentSource[] = [];
  for (const source of there) {
    const numbered = number === undefined ? {} : { Number: numberIn(context, source.table, number) };
    const typed = source.isQuote ? {} : await ofKind(context, kind);
    sources.push({ ...source, where: { $and: [...filters, numbered, typed] } });
  }
  return { sources, missing };
}

/** Returns a document number in the type of the field, Number or String depending on the system. @throws invalidArguments (107) */
function numberIn(context: CrmContext, table: string, number: string): string | number {
  if (!hasField(context, table, 'Number', 'Number')) return number;
  const value = Number(number.replace(/^#/, ''));
  return Number.isFinite(value) ? value : badArguments(`number must be a number, as ${table}.Number is`);
}

/** Reads the lines of the documents by table; `hidden` lists tables of lines that the caller may not see. */
async function addLines(context: CrmContext, placed: readonly Placed<DocumentSource>[]) {
  const found = new Map<DocumentSource, Map<string, JsonObject[]>>();
  const hidden: string[] = [];
  let isCut = false;
  for (const source of new Set(placed.map((one) => one.source))) {
    const ids = placed.filter((one) => one.source === source).map(({ row }) => row.objectId);
    const lines = await unless(accessErrors, null, () => linesOf(context, source, ids));
    if (lines) found.set(source, lines.byDocument);
    else hidden.push(source.lines.table);
    isCut ||= lines?.isCut === true;
  }
  return { found, hidden, isCut };
}
