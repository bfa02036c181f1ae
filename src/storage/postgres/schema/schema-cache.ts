import { isDeepStrictEqual } from 'node:util';
import { schemaOf } from '../../../schema/change.ts';
import type { Schema, TableSchema } from '../../../schema/model.ts';
import type { Catalog } from './catalog.ts';

/** A schema with its version. */
export type Version = Pick<Catalog, 'schema' | 'changes'>;

/** The newest schema known to this process. */
export class SchemaCache {
  #current: Version;

  constructor(catalog: Version) {
    this.#current = catalog;
  }

  get version(): Version {
    return this.#current;
  }

  get schema(): Schema {
    return this.#current.schema;
  }

  /** Schema version, which the transaction of a write compares with the catalogue. */
  get changes(): number {
    return this.#current.changes;
  }

  /** Adopts a newer schema; ignores an older one. */
  adopt(version: Version): void {
    if (version.changes > this.#current.changes) this.#current = version;
  }

  /**
   * Adopts a schema that was read.
   * @param since the version known before the read. A lower one belongs to a system that was recreated
   */
  adoptRead(version: Version, since: number): void {
    if (version.changes > this.changes || version.changes < since) this.#current = this.merged(version);
  }

  /** Merges a schema that was read: unchanged tables keep their object identity, since compiled statements are cached by it. */
  merged({ changes, schema }: Version): Version {
    if (changes === this.#current.changes) return this.#current;
    const tables = new Map<string, TableSchema>();
    for (const [name, table] of schema.tables) {
      const before = this.schema.tables.get(name);
      tables.set(name, before && isDeepStrictEqual(before, table) ? before : table);
    }
    return { changes, schema: schemaOf({ ...schema, tables }) };
  }
}
