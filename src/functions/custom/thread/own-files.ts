import { isJsonObject, type JsonObject, own } from '../../../kernel/json.ts';

/**
 * The File objects that a function received from the service, by reading records with full rights. They are known by identity, so nothing that a
 * caller sends can be one of them.
 */
export class OwnFiles {
  readonly #given = new WeakSet<object>();

  /** Adds the files of a record that is passed to the function, and of records included in it. @returns the record */
  give<Given extends JsonObject>(record: Given): Given {
    for (const value of Object.values(record)) {
      if (!isJsonObject(value)) continue;
      const type = own(value, '__type');
      if (type === 'File') this.#given.add(value);
      else if (type === 'Object') this.give(value);
    }
    return record;
  }

  /** Returns the names of those files, among the fields to write, that the function received. */
  namesIn(fields: unknown): ReadonlySet<string> {
    const names = new Set<string>();
    for (const value of Object.values((fields ?? {}) as object)) {
      const file = (value as { readonly __op?: unknown } | null)?.__op === 'SetOnInsert' ? (value as JsonObject).amount : value;
      if (typeof file === 'object' && file !== null && this.#given.has(file)) names.add(String((file as JsonObject).name));
    }
    return names;
  }
}
