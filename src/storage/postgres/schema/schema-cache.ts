import { isDeepStrictEqual } from 'node:util';
import { schemaOf } from '../../../schema/change.ts';
import type { Schema, TableSchema } from '../../../schema/model.ts';
import type { Catalog } from './catalog.ts';

/** A schema, and how often it had been changed by then. */
export type Version = Pick<Catalog, 'schema' | 'changes'>;

/** The newest schema that this process knows of. */
export class SchemaCache {
  #now: Version;

  constructor(catalog: Version) {
    this.#now = catalog;
  }

  get version(): Version {
    return this.#now;
  }

  get schema(): Schema {
    return this.#now.schema;
  }

  /** What a write's transaction compares with the catalogue. */
  get changes(): number {
    return this.#now.changes;
  }

  /** Takes a newer schema on; an older one, which was read meanwhile, is passed over. */
  adopt(version: Version): void {
    if (version.changes > this.#now.changes) this.#now = version;
  }

  /**
   * Takes on a schema that was read.
   * @param since the number of changes that was known before it was read: a lower one is that of a system that was made anew
   */
  adoptRead(version: Version, since: number): void {
    if (version.changes > this.changes || version.changes < since) this.#now = this.merged(version);
  }

  /** A schema that was read anew, where tables that are as they were stay the same objects, since what is compiled hangs on them. */
  merged({ changes, schema }: Version): Version {
    if (changes === this.#now.changes) return this.#now;
    const tables = new Map<string, TableSchema>();
    for (const [name, table] of schema.tables) {
      const before = this.schema.tables.get(name);
      tables.set(name, before && isDeepStrictEqual(before, table) ? before : table);
    }
    return { changes, schema: schemaOf({ ...schema, tables }) };
  }
}
