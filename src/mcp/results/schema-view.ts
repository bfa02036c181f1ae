import { isJsonObject, type JsonObject, type JsonValue, jsonBytes, own } from '../../kernel/json.ts';
import { isDefaultField } from '../../schema/change.ts';
import type { SchemaRecord } from '../../schema/describe.ts';
import { countFitting } from './page.ts';

/** Tables that Get-Schema never shows. Reference: tools.md#get-schema. */
const blocked: ReadonlySet<string> = new Set(['Config', '_Session', '_Role']);

/** Whether a table is hidden from Get-Schema; tables with settings of a mail server are too. */
export const isBlocked = (className: string): boolean => blocked.has(className) || /^_?smtp/i.test(className);

/**
 * Maximum size of an answer of Get-Schema: twice that of other tools, because it lists all tables with their fields in the form of schema records
 * (tools.md#get-schema).
 */
export const MAX_SCHEMA_BYTES = 120_000;

/** Room for what surrounds the tables: names, a hint. */
const FRAME_BYTES = 2_000;

/**
 * Returns all tables as fully as fits: schema records; or without permissions, indexes and default fields; or as many tables as fit and the names of
 * the others.
 * @param bytes maximum size
 */
export function tablesView(records: readonly SchemaRecord[], bytes = MAX_SCHEMA_BYTES - FRAME_BYTES): JsonObject {
  if (jsonBytes(records) <= bytes) return { results: [...records] };
  const briefer = records.map(brieferOf);
  const { count, others } = cut(
    briefer,
    records.map(({ className }) => className),
    bytes,
  );
  const hint = `${LEFT_OUT} ${ONE_TABLE}`;
  if (others.length === 0) return { results: briefer, hint };
  return { results: briefer.slice(0, count), truncated: true, others, hint };
}

const LEFT_OUT = 'Permissions, timeline, indexes and the fields that every record has are left out.';
const ONE_TABLE = 'For the whole of a table call Get-Schema with its className.';

/** Returns one table as fully as fits: its schema record; with shortened triggers; or only its fields. */
export function tableView(record: SchemaRecord, bytes = MAX_SCHEMA_BYTES - FRAME_BYTES): JsonObject {
  if (jsonBytes(record) <= bytes) return record;
  const triggers = own(record, 'triggers');
  const brief = { ...record, ...(Array.isArray(triggers) && { triggers: triggers.map(briefTrigger) }) };
  const hint = 'The actions of the triggers are left out: call Get-Triggers.';
  if (jsonBytes(brief) <= bytes) return { ...brief, hint };
  const { className, fields } = brieferOf(record);
  const all = fieldsOf(fields);
  const names = all.map(([name]) => name);
  const { count, others } = cut(
    all.map(([name, field]) => ({ [name]: field })),
    names,
    bytes,
  );
  const shown = { className, fields: Object.fromEntries(all.slice(0, count)), hint: LEFT_OUT };
  return others.length === 0 ? shown : { ...shown, truncated: true, others: others.slice(0, countFitting(others, bytes / 2)) };
}

function briefTrigger(trigger: JsonValue): JsonValue {
  if (!isJsonObject(trigger)) return trigger;
  const kept = ['_id', 'Name', 'events', 'Active'].filter((name) => Object.hasOwn(trigger, name));
  return Object.fromEntries(kept.map((name) => [name, trigger[name] as JsonValue]));
}

function brieferOf({ className, fields }: SchemaRecord): SchemaRecord {
  return { className, fields: Object.fromEntries(fieldsOf(fields).filter(([name]) => !isDefaultField(name))) };
}

/** Returns the fields of a schema record. */
export const fieldsOf = (fields: JsonValue | undefined): [name: string, field: JsonObject][] =>
  Object.entries(isJsonObject(fields) ? fields : {}).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]));

/** Returns how many parts fit together with the names of the rest. */
function cut(parts: readonly JsonValue[], names: readonly string[], bytes: number): { count: number; others: string[] } {
  let left = bytes - 1;
  let namesLeft = jsonBytes(names);
  let count = 0;
  for (const part of parts) {
    left -= jsonBytes(part) + 1;
    namesLeft -= jsonBytes(names[count] ?? '') + 1;
    if (left < namesLeft) break;
    count++;
  }
  return { count, others: names.slice(count) };
}
