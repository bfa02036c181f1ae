import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import type { NewField } from '../../../schema/change.ts';
import { defaultFields } from '../../../schema/defaults.ts';
import type { FieldType, TableIndex } from '../../../schema/model.ts';
import { isDescribed } from '../../../schema/system-tables.ts';
import type { ParseClass } from '../source/source.ts';

/** Indexes to create, and indexes of the source that cannot be created. */
export interface PlannedIndexes {
  readonly indexes: readonly TableIndex[];
  /** Fields of the text index. */
  readonly textIndex: readonly string[];
  readonly leftOut: readonly string[];
}

/** Types without a meaningful order, or stored in a separate table. */
const unordered: ReadonlySet<FieldType> = new Set(['Relation', 'Array', 'Object', 'File', 'PrivateFile', 'ACL']);
const systemKeys: ReadonlyMap<string, string> = new Map([
  ['_id', 'objectId'],
  ['_created_at', 'createdAt'],
  ['_updated_at', 'updatedAt'],
]);

const isInternal = (key: string) =>
  key.startsWith('_') && !key.startsWith('_p_') && !systemKeys.has(key) && !key.startsWith('_fts');

/** Determines which indexes of a class its table can have. */
export function planIndexes({ className, indexes }: ParseClass, fields: ReadonlyMap<string, NewField>): PlannedIndexes {
  const made = new Map<string, TableIndex>();
  const texts = new Set<string>();
  const leftOut: string[] = [];
  const fieldOf = (key: string) => {
    const name = systemKeys.get(key) ?? (key.startsWith('_p_') ? key.slice(3) : key);
    return isDescribed(className, name) ? (fields.get(name) ?? defaultFields.get(name)) : undefined;
  };
  for (const [name, keys] of indexes) {
    // Skips the primary key, which every table has, and indexes on internal keys of Parse Server.
    if (Object.keys(keys).join() === '_id' || Object.keys(keys).some(isInternal)) continue;
    const isText = Object.values(keys).includes('text');
    const reason = isText ? takeText(keys, fieldOf, texts) : takeOrdered(name, keys, fieldOf, made);
    if (reason !== null) leftOut.push(`index ${className}.${name} (${reason})`);
  }
  return { indexes: [...made.values()], textIndex: [...texts], leftOut };
}

type FieldOf = (key: string) => NewField | undefined;

function takeText(keys: JsonObject, fieldOf: FieldOf, texts: Set<string>): string | null {
  const names = Object.keys(keys).filter((key) => keys[key] === 'text');
  const wrong = names.find((name) => fieldOf(name)?.type !== 'String' && fieldOf(name)?.type !== 'HTML/XML');
  if (wrong !== undefined) return `${wrong} is no text`;
  for (const name of names) texts.add(name);
  return null;
}

function takeOrdered(name: string, keys: JsonObject, fieldOf: FieldOf, made: Map<string, TableIndex>): string | null {
  const columns: [string, 1 | -1][] = [];
  for (const [key, direction] of Object.entries(keys)) {
    const field = fieldOf(key);
    if (!field) return `${key} is no field`;
    if (unordered.has(field.type)) return `${key} is of type ${field.type}`;
    if (direction !== 1 && direction !== -1) return `${JSON.stringify(direction)} is no order`;
    columns.push([field.name, direction]);
  }
  if (columns.length === 0) return 'it has no fields';
  const free = freeName(name, made);
  made.set(free.toLowerCase(), { name: free, keys: columns });
  return null;
}

/** Returns an unused index name: letters, digits and underscores, distinct regardless of case because SQL folds case. */
function freeName(name: string, taken: ReadonlyMap<string, TableIndex>): string {
  const plain = name.replaceAll(/\W/g, '_').slice(0, limits.nameLength - 4);
  const wanted = /^[A-Za-z]/.test(plain) ? plain : `by${plain}`;
  let free = wanted;
  for (let n = 2; taken.has(free.toLowerCase()); n++) free = `${wanted}_${n}`;
  return free;
}
