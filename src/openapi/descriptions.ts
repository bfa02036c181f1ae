import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { FairQueue } from '../admission/fair-queue.ts';
import type { CallableFunction } from '../functions/index.ts';
import type { RecordContext } from '../records/index.ts';
import type { Store } from '../storage/port.ts';
import { documentOf } from './document/assembly/document.ts';
import { selectTables } from './model/read-tables.ts';

/** Maximum size of the remembered descriptions of one system, and number of systems that have some; together at most 32 MiB. */
export const REMEMBERED = { bytesOfSystem: 1024 * 1024, systems: 32 };

/** Descriptions that are made at a time, because each takes memory and time of the event loop, and that wait. */
const BOUNDS = { concurrency: 1, maxWaiting: 100 };

/** A description of a system. */
export interface Description {
  /** Strong: a hash of the text. */
  readonly etag: string;
  /** The JSON text, compressed by gzip. */
  readonly bytes: Buffer;
}

/** What a description depends on besides records. */
export interface DescriptionParts {
  /** The public address of the service, without a trailing slash. */
  readonly base: string;
  readonly functions: readonly CallableFunction[];
}

const compressed = promisify(gzip);
const decompressed = promisify(gunzip);

/** Returns the JSON text of a description. */
export const textOf = async ({ bytes }: Pick<Description, 'bytes'>): Promise<string> => (await decompressed(bytes)).toString();

/**
 * Returns the OpenAPI description of a system as JSON text. Reference: openapi.md.
 * @param names tables to describe; empty: all
 * @throws masterKeyRequired (403), classMissing (103)
 */
export async function describeSystem(context: RecordContext, names: readonly string[], parts: DescriptionParts): Promise<string> {
  return documentOf({ appId: context.appId, ...parts, tables: await selectTables(context, names) });
}

/** Remembers the descriptions of systems until what they depend on changes. Bounded in bytes for each system and in all. */
export class Descriptions {
  readonly #systems = new LRUCache<number, LRUCache<string, Description>>({ max: REMEMBERED.systems });
  readonly #numbers = new WeakMap<Store, number>();
  #lastNumber = 0;
  /** Descriptions that are being made, so that requests of one moment share one. */
  readonly #made = new Map<string, Promise<Description>>();
  readonly #queue = new FairQueue(BOUNDS);

  /**
   * Returns the description of a system.
   * @param names tables to describe; empty: all
   * @throws masterKeyRequired (403), classMissing (103); unavailable (503) if too many are being made
   */
  async of(context: RecordContext, names: readonly string[], parts: DescriptionParts): Promise<Description> {
    const { store, appId } = context;
    // Before the schema is read, so that a label that is written meanwhile counts for the next request.
    const labels = store.tableVersion('_Dictionary');
    const tables = await selectTables(context, names);
    const { schema, selected, identifiers } = tables;
    const chosen = selected.length === identifiers.size ? '*' : selected.map(({ className }) => className).join(',');
    const state = createHash('sha256')
      .update(JSON.stringify([schema.version, labels, parts, chosen]))
      .digest('base64url');
    const number = this.#numberOf(store);
    const remembered = this.#of(number).get(state);
    if (remembered) return remembered;
    const key = `${number} ${state}`;
    let made = this.#made.get(key);
    if (!made) {
      made = this.#queue
        .run({ system: store, caller: '' }, async () => {
          const description = await compress(await documentOf({ appId, ...parts, tables }));
          this.#of(number).set(state, description);
          return description;
        })
        .finally(() => this.#made.delete(key));
      this.#made.set(key, made);
    }
    return made;
  }

  /** A store is that of one system as long as it is open; another one of the same application id has another number. */
  #numberOf(store: Store): number {
    const known = this.#numbers.get(store) ?? ++this.#lastNumber;
    this.#numbers.set(store, known);
    return known;
  }

  #of(number: number): LRUCache<string, Description> {
    let ofSystem = this.#systems.get(number);
    if (!ofSystem) {
      ofSystem = new LRUCache({ maxSize: REMEMBERED.bytesOfSystem, sizeCalculation: ({ bytes }) => bytes.byteLength });
      this.#systems.set(number, ofSystem);
    }
    return ofSystem;
  }
}

async function compress(text: string): Promise<Description> {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return { etag, bytes: await compressed(text, { level: 5 }) };
}
