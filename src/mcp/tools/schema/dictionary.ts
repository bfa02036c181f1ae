import { runExclusive } from '../../../crm/commands/exclusive.ts';
import { findRows, knownTables, tableNamed } from '../../../crm/queries/records.ts';
import { badArguments } from '../../../crm/refusals.ts';
import {
  DICTIONARY,
  type DictionaryRow,
  dictionaryRows,
  labelWrites,
  MAX_TERMS,
  TERMS,
  termsOf,
  termWrites,
} from '../../../crm/schema/dictionary.ts';
import { labelOf, MAX_LABEL_LENGTH } from '../../../crm/schema/fields.ts';
import { type JsonObject, own } from '../../../kernel/json.ts';
import { getSchema, writeAtomically } from '../../../records/index.ts';
import { isDescribed } from '../../../schema/system-tables.ts';
import { names, object, table } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { MAX_RESULT_BYTES } from '../../results/page.ts';
import { fieldsOf, isBlocked } from '../../results/schema-view.ts';
import { truncateMaps } from '../../results/truncate.ts';

/** Maximum number of rows read: terms, including those without a translation, and labels of tables. */
const MAX_ROWS = 5 * MAX_TERMS;

/** Terms are for display only. Reference: tools.md#get-terminology-dictionary. */
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
    // The fields that the caller named come first, so they are truncated last.
    return truncateMaps({ fields: Object.fromEntries(fields), terms: termsOf(rows), tables: labels }, MAX_RESULT_BYTES);
  },
});

type Row = DictionaryRow & { readonly tblName?: string };

async function find(call: ToolCall, where: JsonObject): Promise<Row[]> {
  const keys = ['tblName', 'field', 'value'];
  return (await findRows(call, DICTIONARY, { where, keys, limit: MAX_ROWS })) as unknown as Row[];
}

/** Returns the labels of the tables that the caller may know. */
function tableLabels(call: ToolCall, rows: readonly Row[]): JsonObject {
  const labels = new Map<string, string>();
  const known = new Set(knownTables(call).map(({ className }) => className));
  for (const { tblName = '', value } of rows) {
    if (value !== undefined && !labels.has(tblName) && known.has(tblName)) labels.set(tblName, value);
  }
  return Object.fromEntries(labels);
}

/** @throws classMissing (103) for a table that does not exist or is hidden from the caller */
async function fieldLabels(context: ToolCall, className: string): Promise<JsonObject> {
  if (isBlocked(className)) return {};
  const record = await getSchema(context, className, true);
  const labelled = fieldsOf(own(record, 'fields')).filter(([, field]) => typeof field.dictionary === 'string');
  return Object.fromEntries(labelled.map(([name, field]) => [name, field.dictionary as string]));
}

/** Replaces all terms in one commit; a term that is not sent returns to its default. Reference: tools.md#set-terminology-dictionary. */
export const setTerminologyDictionary = defineTool({
  name: 'Set-Terminology-Dictionary',
  group: 'schema',
  description:
    'Replace the whole business-term dictionary {term: what it is called here}; any term not sent goes back to its default.',
  input: { terms: object() },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  about: DICTIONARY,
  run(call, { terms: sent }) {
    const terms = readTerms(sent);
    return runExclusive(call, DICTIONARY, async (context) => {
      const writes = termWrites(await dictionaryRows(context.store, TERMS), terms);
      const written = await writeAtomically(context, writes);
      return { terms: terms.size, changed: written.length };
    });
  },
});

/** Parses the terms, without those equal to their default. */
function readTerms(sent: JsonObject): Map<string, string> {
  const entries = Object.entries(sent);
  if (entries.length > MAX_TERMS) badArguments(`terms must have at most ${MAX_TERMS} entries`);
  const terms = new Map<string, string>();
  for (const [term, value] of entries) {
    if (term.trim() === '' || term.length > MAX_LABEL_LENGTH)
      badArguments(`terms: a term has 1 to ${MAX_LABEL_LENGTH} characters`);
    const name = labelOf(value, `terms.${term}`);
    if (name.trim() !== '' && name !== term) terms.set(term, name);
  }
  return terms;
}

/** Maximum number of labels per call: the answer names their fields. */
const MAX_LABELS = 300;

/** Labels of fields are rows of `_Dictionary`, written in one commit. Reference: tools.md#set-field-labels. */
export const setFieldLabels = defineTool({
  name: 'Set-Field-Labels',
  group: 'schema',
  description: 'Set display labels of fields {field: label}; merges with the present ones, an empty label takes one away.',
  input: { className: table(), labels: object() },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  async run(call, { className, labels: sent }) {
    const { fields } = tableNamed(call, className);
    const labels = new Map(Object.entries(sent).map(([name, label]) => [name, labelOf(label, `labels.${name.slice(0, 128)}`)]));
    if (labels.size === 0) badArguments('labels must not be empty');
    if (labels.size > MAX_LABELS) badArguments(`labels must have at most ${MAX_LABELS} entries`);
    const unknown = [...labels.keys()].filter((name) => !fields.has(name) || !isDescribed(className, name));
    if (unknown.length > 0)
      badArguments(`labels: ${className} has no field ${unknown.slice(0, 20).join(', ').slice(0, 500)}`, { next: 'Get-Schema' });
    return runExclusive(call, DICTIONARY, async (context) => {
      const writes = await labelWrites(context.store, className, labels);
      const written = await writeAtomically(context, writes);
      return { className, labelled: [...labels.keys()], changed: written.length };
    });
  },
});
