import type { JsonObject } from '../../../kernel/json.ts';
import { newestOf, type Placed } from '../../kit/newest.ts';
import { pageOf } from '../../kit/page.ts';
import { badArguments, pointer, unless, unseen } from '../../kit/records.ts';
import { hasField } from '../../kit/table-fields.ts';
import { choice, flag, instant, limit, recordId, skip, text } from '../parameters.ts';
import { defineTool, type ToolCall } from '../tool.ts';
import { accounting, type DocumentSource, documentOf, type Kind, kinds, linesOf, ofKind, quotes } from './sales-documents.ts';

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
    from: instant().optional(),
    to: instant().optional(),
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
    const sources = await sourcesFor(call, kind, sought, number);
    const { placed, hidden } = await newestOf(call, sources, { from, to, skip: start, limit: most });
    const lines = withLines ? await addLines(call, placed) : undefined;
    const documents = placed.map((one) => {
      const byDocument = lines?.found.get(one.source);
      return { ...documentOf(one), ...(byDocument && { lines: byDocument.get(one.row.objectId) ?? [] }) };
    });
    const unseenTables = [...hidden, ...(lines?.hidden ?? [])];
    return {
      ...pageOf(documents, { skip: start, limit: most }),
      ...(lines?.isCut === true && { hint: 'Not all lines are here: ask for fewer documents.' }),
      ...(unseenTables.length > 0 && { hidden: unseenTables }),
    };
  },
});

async function sourcesFor(call: ToolCall, kind: Kind, sought: readonly JsonObject[], number?: string): Promise<DocumentSource[]> {
  const wanted = [...(kind === 'quote' || kind === 'all' ? [quotes] : []), ...(kind === 'quote' ? [] : [accounting])];
  const { tables } = call.context.store.schema();
  const there = wanted.filter(({ table }) => tables.has(table));
  if (there.length === 0) badArguments(`this system has no table ${wanted.map(({ table }) => table).join(' or ')}`);
  const sources: DocumentSource[] = [];
  for (const source of there) {
    const numbered = number === undefined ? {} : { Number: numberIn(call, source.table, number) };
    const typed = source.isQuote ? {} : await ofKind(call, kind);
    sources.push({ ...source, where: { $and: [...sought, numbered, typed] } });
  }
  return sources;
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
