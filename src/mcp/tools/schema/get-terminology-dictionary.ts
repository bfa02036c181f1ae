import { type JsonObject, own } from '../../../kernel/json.ts';
import { getSchema } from '../../../records/index.ts';
import { names } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { RESULT_BYTES } from '../../kit/answers/page.ts';
import { withinBytes } from '../../kit/answers/within-bytes.ts';
import { findRows } from '../../kit/reading/records.ts';
import { knownTables } from '../../kit/reading/tables.ts';
import { DICTIONARY, type DictionaryRow } from '../../kit/schema/dictionary.ts';
import { MOST_TERMS, TERMS, termsOf } from '../../kit/schema/terms.ts';
import { fieldsOf, isBlocked, type SchemaRecord } from '../../kit/schema/view.ts';

/** Rows of terms, those included that stand for themselves, and of tables' own labels. */
const MOST_ROWS = 5 * MOST_TERMS;

/** SPEC "Main business tables": Hebrew business terms are display-only; docs/decisions.md "Agent tools". */
export const getTerminologyDictionary = defineTool({
  name: 'Get-Terminology-Dictionary',
  group: 'schema',
  description:
    'Business terms of this system (for example, what Sales is called here) and labels of tables; field labels of the tables named.',
  input: { tables: names(20).optional() },
  needs: ['mcp:view'],
  effect: 'read',
  about: DICTIONARY,
  async run(call, { tables = [] }) {
    const rows = await find(call, { tblName: TERMS });
    const own = await find(call, { tblName: { $ne: TERMS }, field: { $exists: false } });
    const labels = tableLabels(call, own);
    const fields = new Map<string, JsonObject>();
    for (const className of new Set(tables)) fields.set(className, await fieldLabels(call, className));
    // Those that were asked for by name come first.
    return withinBytes({ fields: Object.fromEntries(fields), terms: termsOf(rows), tables: labels }, RESULT_BYTES);
  },
});

type Row = DictionaryRow & { readonly tblName?: string };

async function find(call: ToolCall, where: JsonObject): Promise<Row[]> {
  const keys = ['tblName', 'field', 'value'];
  return (await findRows(call, DICTIONARY, { where, keys, limit: MOST_ROWS })) as unknown as Row[];
}

/** Of the tables that the caller may know. */
function tableLabels(call: ToolCall, rows: readonly Row[]): JsonObject {
  const labels = new Map<string, string>();
  const known = new Set(knownTables(call).map(({ className }) => className));
  for (const { tblName = '', value } of rows) {
    if (value !== undefined && !labels.has(tblName) && known.has(tblName)) labels.set(tblName, value);
  }
  return Object.fromEntries(labels);
}

/** @throws classMissing (103) for a table that there is not, or that the caller may not know */
async function fieldLabels({ context }: ToolCall, className: string): Promise<JsonObject> {
  if (isBlocked(className)) return {};
  const record = JSON.parse(await getSchema(context, className, true)) as SchemaRecord;
  const labelled = fieldsOf(own(record, 'fields')).filter(([, field]) => typeof field.dictionary === 'string');
  return Object.fromEntries(labelled.map(([name, field]) => [name, field.dictionary as string]));
}
