import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type RecordContext, readRow } from '../../records/index.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import { copyFields, secretFieldsOf } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';

/** A value that was copied, with the ACL of its record; `null` if it had none. */
type Source = readonly [className: string, objectId: string, field: string, acl: JsonObject | null];

/** Maximum length of a list of sources, in characters. */
const MAX_LIST_LENGTH = 100_000;
/** Replaces a list that is too long: only holders of keys may read the row then. */
const unreadable = JSON.stringify([['', '', '', null]]);

const sourcesAlone = [copyFields.sources] as const;

/** Whether rows of a table record their sources. */
const keepsSources = (className: string): boolean => secretFieldsOf(className).has(copyFields.sources);

/** Collects the values of records that an action copies (adr/0016). */
export class Sources {
  readonly #values = new Map<string, Source>();

  /** Adds a value. @param fields its record in wire form */
  async add(store: Store, className: string, fields: JsonObject, field: string): Promise<void> {
    const { objectId } = fields;
    if (typeof objectId !== 'string' || field === 'objectId' || !this.#put([className, objectId, field, aclOf(fields)])) return;
    // The sources of that record count too.
    await this.addOf(store, className, objectId);
  }

  /** Adds the sources of a row that is about to be changed. */
  async addOf(store: Store, className: string, objectId: string): Promise<void> {
    this.#putAll(await sourcesOf(store, className, objectId));
  }

  /** Returns the sources as rows store them; `null` if there are none. */
  text(): string | null {
    if (this.#values.size === 0) return null;
    const text = JSON.stringify([...this.#values.values()]);
    return text.length > MAX_LIST_LENGTH ? unreadable : text;
  }

  classes(): string[] {
    return [...new Set([...this.#values.values()].map(([className]) => className))];
  }

  #put(source: Source): boolean {
    const key = JSON.stringify(source.slice(0, 3));
    const isNew = !this.#values.has(key);
    if (isNew) this.#values.set(key, source);
    return isNew;
  }

  #putAll(sources: readonly Source[]): void {
    for (const source of sources) this.#put(source);
  }
}

function aclOf(fields: JsonObject): JsonObject | null {
  const acl = own(fields, 'ACL');
  return isJsonObject(acl) && Object.keys(acl).length > 0 ? acl : null;
}

async function sourcesOf(store: Store, className: string, objectId: string): Promise<readonly Source[]> {
  if (!keepsSources(className) || !store.schema().tables.get(className)?.fields.has(copyFields.sources)) return [];
  const row = await readRow<JsonObject>(store, className, sourcesAlone, objectId);
  const text: JsonValue | undefined = row?.[copyFields.sources];
  return typeof text === 'string' ? (JSON.parse(text) as Source[]) : [];
}

/**
 * Returns a context for a write that copies values into a table, so that its row records the sources.
 * @throws errors of schema changes
 */
export async function withSources(context: RecordContext, className: string, sources: Sources): Promise<RecordContext> {
  const text = keepsSources(className) ? sources.text() : null;
  if (text === null) return context;
  await markCopied(context.store, sources.classes(), className);
  return { ...context, sources: text };
}

/**
 * Marks tables as copied, once in the life of each: access checks of log rows look up only such tables.
 * @param holder the table whose rows store sources
 */
export async function markCopied(store: Store, classes: readonly string[], holder?: string): Promise<void> {
  const changesFor = ({ tables }: Schema): SchemaChange[] => {
    const changes: SchemaChange[] = [];
    for (const className of classes)
      if (tables.get(className)?.isCopied === undefined && tables.has(className)) changes.push({ kind: 'setCopied', className });
    const rows = holder === undefined ? undefined : tables.get(holder);
    if (rows && !rows.fields.has(copyFields.sources) && rows.fields.size < limits.fieldsPerTable)
      changes.push({ kind: 'addField', className: rows.className, name: copyFields.sources, type: 'String' });
    return changes;
  };
  if (changesFor(store.schema()).length === 0) return;
  await store.write({ plan: (schema) => ({ changes: changesFor(schema), mutations: [] }) });
}
