import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { uniqueForms } from '../../../schema/model.ts';
import { isDescribed, isHidden } from '../../../schema/system-tables.ts';
import { type FieldPart, sorted, type TablePart, type UniquePart } from '../model/snapshot.ts';
import {
  booleanAt,
  entriesAt,
  knownObjectAt,
  objectAt,
  optionalTextAt,
  type Place,
  refuse,
  textAt,
  textsAt,
} from './assertions.ts';
import { MAX_FIELDS, MAX_INDEXES, MAX_TABLES } from './limits.ts';

/** As in the files of `template/tables`. `rows`, first records of a new system, are no part of a schema. */
const tableKeys = ['access', 'fields', 'indexes', 'uniqueIndexes', 'textIndex', 'timeline', 'rows'] as const;
const fieldKeys = ['type', 'targetClass', 'targetMissing', 'required', 'defaultValue', 'dictionary', 'was'] as const;

/** A table's JSON, split. */
export interface ReadTable {
  readonly table: TablePart;
  /** By field. */
  readonly labels: ReadonlyMap<string, string>;
  /** The profile of its permissions. */
  readonly access: string | undefined;
}

/** Parses tables by name. Tables that exist for no caller are left out. @throws SnapshotFault */
export function readTables(value: JsonValue, place: Place): ReadonlyMap<string, ReadTable> {
  const tables = new Map<string, ReadTable>();
  let fields = 0;
  for (const [className, body] of entriesAt(value, place, MAX_TABLES)) {
    if (isHidden(className)) continue;
    const read = readTable(className, body, [...place, className]);
    fields += read.table.fields.size;
    if (fields > MAX_FIELDS) refuse(place, `have more than ${MAX_FIELDS.toLocaleString('en')} fields`);
    tables.set(className, read);
  }
  return tables;
}

function readTable(className: string, value: JsonValue, place: Place): ReadTable {
  const body = knownObjectAt(value, place, tableKeys);
  const fields: [string, FieldPart][] = [];
  const labels = new Map<string, string>();
  for (const [name, definition] of entriesAt(own(body, 'fields') ?? {}, [...place, 'fields'], MAX_FIELDS)) {
    const { dictionary, ...field } = readField(definition, [...place, 'fields', name]);
    // The files of the template have fields that exist for no caller.
    if (!isDescribed(className, name)) continue;
    fields.push([name, field]);
    if (dictionary !== undefined) labels.set(name, dictionary);
  }
  const indexes = entriesAt(own(body, 'indexes') ?? {}, [...place, 'indexes'], MAX_INDEXES);
  const unique = entriesAt(own(body, 'uniqueIndexes') ?? {}, [...place, 'uniqueIndexes'], MAX_INDEXES);
  const table: TablePart = {
    fields: new Map(sorted(fields)),
    indexes: new Map(sorted(indexes).map(([name, keys]) => [name, readKeys(keys, [...place, 'indexes', name])])),
    uniqueIndexes: new Map(sorted(unique).map(([name, one]) => [name, readUnique(one, [...place, 'uniqueIndexes', name])])),
    textIndex: [...new Set(textsAt(body, 'textIndex', place, MAX_INDEXES))].sort(),
    timeline: readTimeline(own(body, 'timeline'), [...place, 'timeline']),
  };
  return { table, labels, access: optionalTextAt(body, 'access', place) };
}

function readField(value: JsonValue, place: Place): FieldPart & { readonly dictionary?: string } {
  const field = knownObjectAt(value, place, fieldKeys);
  const targetClass = optionalTextAt(field, 'targetClass', place);
  const was = optionalTextAt(field, 'was', place);
  const dictionary = optionalTextAt(field, 'dictionary', place);
  const required = booleanAt(field, 'required', place);
  const targetMissing = booleanAt(field, 'targetMissing', place);
  const defaultValue = own(field, 'defaultValue') ?? undefined;
  if (dictionary === '') refuse([...place, 'dictionary'], 'is empty');
  return {
    type: textAt(field, 'type', place),
    ...(targetClass !== undefined && { targetClass }),
    ...(targetMissing && { targetMissing }),
    ...(required && { required }),
    ...(defaultValue !== undefined && { defaultValue }),
    ...(was !== undefined && { was }),
    ...(dictionary !== undefined && { dictionary }),
  };
}

function readKeys(value: JsonValue, place: Place): JsonObject {
  const keys = objectAt(value, place);
  for (const [field, direction] of Object.entries(keys))
    if (direction !== 1 && direction !== -1) refuse([...place, field], 'is neither 1 nor -1');
  return keys;
}

function readUnique(value: JsonValue, place: Place): UniquePart {
  const index = knownObjectAt(value, place, ['fields', 'as']);
  const as = optionalTextAt(index, 'as', place) ?? 'text';
  const form = uniqueForms.find((one) => one === as) ?? refuse([...place, 'as'], `is none of ${uniqueForms.join(', ')}`);
  const fields = textsAt(index, 'fields', place, MAX_INDEXES);
  return { fields, ...(form !== 'text' && { as: form }) };
}

function readTimeline(value: JsonValue | undefined, place: Place): JsonObject | null {
  if (value === undefined || value === null) return null;
  const timeline = knownObjectAt(value, place, ['displayFields', 'index']);
  const mapAt = (key: string): JsonObject => {
    const map = own(timeline, key) ?? {};
    return isJsonObject(map) ? objectAt(map, [...place, key]) : refuse([...place, key], 'is not an object');
  };
  return { displayFields: mapAt('displayFields'), index: mapAt('index') };
}
