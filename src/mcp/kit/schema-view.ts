import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { isDefaultField } from '../../schema/change.ts';
import { typeText } from '../../schema/model.ts';
import { RESULT_BYTES } from './page.ts';

/** A schema record as the schema endpoints answer it (SPEC "Schema record"). */
export type SchemaRecord = JsonObject & { className: string };

/** SPEC "Agent-tool layer (MCP)": Get-Schema shows nothing of these. */
const blocked: ReadonlySet<string> = new Set(['Config', '_Session', '_Role']);

/** Whether a table is one of the blocked system tables; those that hold the settings of a mail server are. */
export const isBlocked = (className: string): boolean => blocked.has(className) || /^_?smtp/i.test(className);

/** What is around the tables: names, a hint. */
const FRAME_BYTES = 2_000;

/**
 * All tables as fully as an answer takes: schema records; the same without what every table has; fields as text. Where that is still too
 * much, as many as fit, and the names of the others.
 * @param bytes that the answer has for them
 */
export function tablesView(records: readonly SchemaRecord[], bytes = RESULT_BYTES - FRAME_BYTES): JsonObject {
  if (sizeOf(records) <= bytes) return { results: [...records] };
  const briefer = records.map((record) => withFields(record, (field) => field));
  if (sizeOf(briefer) <= bytes) return { results: briefer, hint: `${LEFT_OUT} ${ONE_TABLE}` };
  const texts = records.map((record) => withFields(record, fieldText));
  const { shown, others } = cut(texts, bytes);
  const hint = `Fields are "type label". ${LEFT_OUT} ${ONE_TABLE}`;
  if (others.length === 0) return { results: shown, hint };
  return { results: shown, truncated: true, others, hint };
}

const LEFT_OUT = 'Permissions, indexes and the fields that every record has are left out.';
const ONE_TABLE = 'For the whole of a table call Get-Schema with its className.';

const sizeOf = (value: JsonValue | readonly JsonValue[]): number => Buffer.byteLength(JSON.stringify(value));

/** One table: its schema record, its triggers told briefly where these or its fields would not fit. */
export function tableView(record: SchemaRecord, bytes = RESULT_BYTES - FRAME_BYTES): JsonObject {
  if (sizeOf(record) <= bytes) return record;
  const triggers = own(record, 'triggers');
  const brief = { ...record, ...(Array.isArray(triggers) && { triggers: triggers.map(briefTrigger) }) };
  const hint = 'The actions of the triggers are left out: call Get-Triggers.';
  if (sizeOf(brief) <= bytes) return { ...brief, hint };
  const texts = withFields(record, fieldText);
  return { ...texts, hint: `Fields are "type label". ${LEFT_OUT}` };
}

function briefTrigger(trigger: JsonValue): JsonValue {
  if (!isJsonObject(trigger)) return trigger;
  const told = ['_id', 'Name', 'events', 'Active'].filter((name) => Object.hasOwn(trigger, name));
  return Object.fromEntries(told.map((name) => [name, trigger[name] as JsonValue]));
}

function withFields({ className, fields }: SchemaRecord, show: (field: JsonObject) => JsonValue): SchemaRecord {
  const shown = fieldsOf(fields).filter(([name]) => !isDefaultField(name));
  return { className, fields: Object.fromEntries(shown.map(([name, field]) => [name, show(field)])) };
}

/** The fields of a schema record. */
export const fieldsOf = (fields: JsonValue | undefined): [name: string, field: JsonObject][] =>
  Object.entries(isJsonObject(fields) ? fields : {}).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]));

/** `Pointer<Accounts> label`. */
function fieldText({ type, targetClass, dictionary }: JsonObject): string {
  const text = typeText(String(type), typeof targetClass === 'string' ? targetClass : undefined);
  return typeof dictionary === 'string' ? `${text} ${dictionary}` : text;
}

/** As many as fit beside the names of those that do not. */
function cut(tables: readonly SchemaRecord[], bytes: number): { shown: SchemaRecord[]; others: string[] } {
  let left = bytes - 1;
  let count = 0;
  const names = tables.map(({ className }) => className);
  let namesLeft = sizeOf(names);
  for (const table of tables) {
    left -= sizeOf(table) + 1;
    namesLeft -= sizeOf(table.className) + 1;
    if (left < namesLeft) break;
    count++;
  }
  return { shown: tables.slice(0, count), others: names.slice(count) };
}
