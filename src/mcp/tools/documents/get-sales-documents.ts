import type { JsonObject } from '../../../kernel/json.ts';
import { choice, flag, limit, localTime, recordId, skip, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { pageOf } from '../../kit/answers/page.ts';
import { badArguments, unless, unseen } from '../../kit/answers/refusals.ts';
import {
  accounting,
  type DocumentSource,
  documentOf,
  type Kind,
  kinds,
  linesOf,
  ofKind,
  quotes,
} from '../../kit/documents/sales-documents.ts';
import { newestOf, type Placed } from '../../kit/reading/newest.ts';
import { absentOf, hasField } from '../../kit/reading/tables.ts';
import { rangeOf, shownRange } from '../../kit/time/range.ts';
import { pointer } from '../../kit/values/wire.ts';

/** SPEC "Main business tables": PriceQuotes, AccountingHeaders. */
export const getSalesDocuments = defineTool({
  name: 'Get-Sales-Documents',
  group: 'documents',
  description: 'Price quotes and accounting documents with their lines, totals and file link.',
  input: {
    kind: choice(kinds).default('all'),
    accountId: recordId().optional(),
    number: text(100).optional(),
    objectId: recordId().optional(),
    from: localTime().optional(),
    to: localTime().optional(),
    withLines: flag().optional(),
    limit: limit(20, 200),
    skip: skip(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  about: 'AccountingHeaders',
  async run(call, { kind, accountId, number, objectId, from, to, withLines = objectId !== undefined, limit: most, skip: start }) {
    const sought: JsonObject[] = [
      ...(accountId === undefined ? [] : [{ AccountId: pointer('Accounts', accountId) }]),
      ...(objectId === undefined ? [] : [{ objectId }]),
    ];
    const { sources, missing } = await sourcesFor(call, kind, sought, number);
    const range = await rangeOf(call, { from, to }, true);
    const { placed, hidden } = await newestOf(call, sources, { range, skip: start, limit: most });
    const lines = withLines ? await addLines(call, placed) : undefined;
    const documents = placed.map((one) => {
      const byDocument = lines?.found.get(one.source);
      return { ...documentOf(one), ...(byDocument && { lines: byDocument.get(one.row.objectId) ?? [] }) };
    });
    const absent = withLines
      ? absentOf(
          call,
          sources.map((source) => source.lines.table),
        )
      : [];
    const unseenTables = [...hidden, ...(lines?.hidden ?? [])];
    return {
      ...pageOf(documents, { skip: start, limit: most }),
      ...shownRange(range),
      ...(lines?.isCut === true && { hint: 'Not all lines are here: ask for fewer documents.' }),
      ...(unseenTables.length > 0 && { hidden: unseenTables }),
      ...(missing.length + absent.length > 0 && { missing: [...missing, ...absent] }),
    };
  },
});

/** The tables to read, and those that this system has not. @throws invalidArguments (107) where none is left */
async function sourcesFor(
  call: ToolCall,
  kind: Kind,
  sought: readonly JsonObject[],
  number?: string,
): Promise<{ sources: DocumentSource[]; missing: string[] }> {
  const wanted = [...(kind === 'quote' || kind === 'all' ? [quotes] : []), ...(kind === 'quote' ? [] : [accounting])];
  const missing = absentOf(
    call,
    wanted.map(({ table }) => table),
  );
  const there = wanted.filter(({ table }) => !missing.includes(table));
  if (there.length === 0) badArguments(`this system has no table ${missing.join(' or ')}`, { next: 'Get-Schema' });
  const sources: DocumentSource[] = [];
  for (const source of there) {
    const numbered = number === undefined ? {} : { Number: numberIn(call, source.table, number) };
    const typed = source.isQuote ? {} : await ofKind(call, kind);
    sources.push({ ...source, where: { $and: [...sought, numbered, typed] } });
  }
  return { sources, missing };
}

/** Systems keep numbers as Numbers or as texts. @throws invalidArguments (107) */
function numberIn(call: ToolCall, table: string, number: string): string | number {
  if (!hasField(call, table, 'Number', 'Number')) return number;
  const value = Number(number.replace(/^#/, ''));
  return Number.isFinite(value) ? value : badArguments(`number must be a number, as ${table}.Number is`);
}

/** The lines of the documents, table by table; those that the caller may not see are told of. */
async function addLines(call: ToolCall, placed: readonly Placed<DocumentSource>[]) {
  const found = new Map<DocumentSource, Map<string, JsonObject[]>>();
  const hidden: string[] = [];
  let isCut = false;
  for (const source of new Set(placed.map((one) => one.source))) {
    const ids = placed.filter((one) => one.source === source).map(({ row }) => row.objectId);
    const lines = await unless(unseen, null, () => linesOf(call, source, ids));
    if (lines) found.set(source, lines.byDocument);
    else hidden.push(source.lines.table);
    isCut ||= lines?.isCut === true;
  }
  return { found, hidden, isCut };
}
