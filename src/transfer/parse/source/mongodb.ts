import { deserialize } from 'bson';
import type { Db, Document, MongoClient } from 'mongodb';
import type { JsonObject } from '../../../kernel/json.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { type MongoDocument, recordOfDocument } from './mongo-record.ts';
import { classOfDocument } from './mongo-schema.ts';
import { joinName, type ParseClass, type ParseMember, type ParseRecord, type ParseSource } from './source.ts';
import { volatileClasses } from './volatile.ts';

/** Timeout for connecting, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Maximum number of documents per answer of the server. */
const BATCH_DOCUMENTS = 500;
/** MongoDB 5.0, the first version with snapshot reads. */
const SNAPSHOT_WIRE_VERSION = 13;
/** Error code of an expired snapshot; servers keep snapshots for some minutes. */
const SNAPSHOT_TOO_OLD = 239;

/** Parse Server's collections in MongoDB. Reads use one snapshot if the server is a replica set and as long as it keeps the snapshot. */
export class MongoSource implements ParseSource {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #session: ReturnType<MongoClient['startSession']> | null;
  #hasSnapshot: boolean;

  /** Connects to the database. @throws OperatorError if it cannot be reached, or contains no Parse Server */
  static async open(url: string): Promise<MongoSource> {
    const { MongoClient: Client } = await import('mongodb');
    let client: MongoClient | undefined;
    try {
      // Settings in the address take precedence.
      const isBounded = /[?&]serverSelectionTimeoutMS=/i.test(url);
      client = new Client(
        url,
        isBounded ? {} : { serverSelectionTimeoutMS: CONNECT_TIMEOUT_MS, connectTimeoutMS: CONNECT_TIMEOUT_MS },
      );
      await client.connect();
      const db = client.db();
      const hello = await db.admin().command({ hello: 1 });
      const [found] = await db.listCollections({ name: '_SCHEMA' }, { nameOnly: true }).toArray();
      if (!found)
        throw new OperatorError(`--from: the database ${db.databaseName} has no collection _SCHEMA, which Parse Server keeps`);
      const isReplicated = hello.setName !== undefined || hello.msg === 'isdbgrid';
      return new MongoSource(client, db, isReplicated && hello.maxWireVersion >= SNAPSHOT_WIRE_VERSION);
    } catch (error) {
      await client?.close().catch(() => {});
      throw describedError(error);
    }
  }

  private constructor(client: MongoClient, db: Db, hasSnapshots: boolean) {
    this.#client = client;
    this.#db = db;
    this.#session = hasSnapshots ? client.startSession({ snapshot: true }) : null;
    this.#hasSnapshot = hasSnapshots;
  }

  async classes(): Promise<readonly ParseClass[]> {
    const found: ParseClass[] = [];
    for await (const document of this.#documents('_SCHEMA')) found.push(classOfDocument(document as JsonObject));
    return found;
  }

  async others(): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const name of volatileClasses) {
      const count = await this.count(name);
      if (count > 0) found.set(name, count);
    }
    return found;
  }

  async count(className: string): Promise<number> {
    try {
      return await this.#db.collection(className).estimatedDocumentCount();
    } catch (error) {
      throw describedError(error);
    }
  }

  async *records(parseClass: ParseClass): AsyncGenerator<ParseRecord> {
    for await (const document of this.#documents(parseClass.className)) yield recordOfDocument(document, parseClass);
  }

  async *members(className: string, field: string): AsyncGenerator<ParseMember> {
    for await (const { owningId, relatedId } of this.#documents(joinName(className, field)))
      yield { owner: String(owningId), member: String(relatedId) };
  }

  notes(): readonly string[] {
    return this.#hasSnapshot
      ? []
      : ['the source has no snapshots (no replica set, or one that was too old): what was written meanwhile may be missing'];
  }

  async close(): Promise<void> {
    await this.#session?.endSession().catch(() => {});
    await this.#client.close().catch(() => {});
  }

  /** Returns the documents of a collection by id. If the snapshot expires, the remaining ones are read in their current state. */
  async *#documents(collection: string): AsyncGenerator<MongoDocument> {
    let last: unknown;
    let isResumed = false;
    for (;;)
      try {
        // `$gt` inside `$expr` compares ids across types; in a plain filter it does not.
        const filter: Document = isResumed ? { $expr: { $gt: ['$_id', { $literal: last }] } } : {};
        const session = this.#hasSnapshot ? this.#session : null;
        const options = { sort: { _id: 1 }, batchSize: BATCH_DOCUMENTS, raw: true, ...(session && { session }) } as const;
        for await (const bytes of this.#db.collection(collection).find(filter, options)) {
          const document = deserialize(bytes as unknown as Uint8Array);
          last = document._id;
          isResumed = true;
          yield document;
        }
        return;
      } catch (error) {
        if ((error as { code?: unknown }).code !== SNAPSHOT_TOO_OLD || !this.#hasSnapshot) throw describedError(error);
        this.#hasSnapshot = false;
      }
  }
}

/** Returns an error with a message for the operator, without the address, which may contain a password. */
function describedError(error: unknown): Error {
  if (error instanceof OperatorError) return error;
  const { name, message } = error as Error;
  // The driver's message would contain the unparsable part of the address.
  if (name === 'MongoParseError' || name === 'MongoInvalidArgumentError' || name === 'TypeError')
    return new OperatorError('--from: this address of MongoDB cannot be read: mongodb://user:password@host:port/database');
  if (!name.startsWith('Mongo')) return error as Error;
  return new OperatorError(`--from: MongoDB: ${message.replaceAll(/\s+/g, ' ')}`);
}
