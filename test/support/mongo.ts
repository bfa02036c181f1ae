/**
 * A server that implements as much of MongoDB's protocol as its driver needs to read collections
 * (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/). The registries that tests install from offer no MongoDB.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after } from 'node:test';
import { type Document, deserialize, Long, serialize, Timestamp } from 'bson';

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

export interface MongoOptions {
  /** Whether it supports snapshots. */
  isReplicaSet?: boolean;
  /** The snapshot expires after this number of documents. */
  snapshotDocuments?: number;
}

export interface MongoFake {
  url: string;
  /** Received commands, in order. */
  commands: Document[];
}

type Collections = Readonly<Record<string, readonly Document[]>>;

/** Starts a server on a free port; it stops after the surrounding tests. */
export async function startMongo(collections: Collections, options: MongoOptions = {}): Promise<MongoFake> {
  const fake = new Fake(collections, options);
  const server: Server = createServer((socket) => fake.serve(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    fake.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `mongodb://127.0.0.1:${port}/app?directConnection=true`, commands: fake.commands };
}

class Fake {
  readonly commands: Document[] = [];
  readonly #collections: Collections;
  readonly #options: MongoOptions;
  readonly #sockets = new Set<Socket>();
  /** Remaining documents, by cursor. */
  readonly #cursors = new Map<number, { left: Document[]; isSnapshot: boolean; namespace: string }>();
  #given = 0;

  constructor(collections: Collections, options: MongoOptions) {
    this.#collections = collections;
    this.#options = options;
  }

  serve(socket: Socket): void {
    this.#sockets.add(socket);
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= HEADER_BYTES && bytes.length >= bytes.readInt32LE(0)) {
        const length = bytes.readInt32LE(0);
        socket.write(this.#answer(bytes.subarray(0, length)));
        bytes = bytes.subarray(length);
      }
    });
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #answer(message: Buffer): Buffer {
    const request = message.readInt32LE(4);
    if (message.readInt32LE(12) === OP_QUERY) {
      const name = message.indexOf(0, HEADER_BYTES + 4);
      const body = serialize(this.#run(deserialize(message.subarray(name + 9))));
      const head = Buffer.alloc(20);
      head.writeInt32LE(8, 0);
      head.writeInt32LE(1, 16);
      return framed(OP_REPLY, request, Buffer.concat([head, body]));
    }
    // Flags, then one section of kind 0: the command.
    const body = serialize(this.#run(deserialize(message.subarray(HEADER_BYTES + 5))));
    return framed(OP_MSG, request, Buffer.concat([Buffer.alloc(5), body]));
  }

  #run(command: Document): Document {
    const [name = ''] = Object.keys(command);
    this.commands.push(command);
    switch (name.toLowerCase()) {
      case 'hello':
      case 'ismaster':
        return {
          ok: 1,
          helloOk: true,
          isWritablePrimary: true,
          ismaster: true,
          maxWireVersion: 21,
          minWireVersion: 9,
          ...sizes,
          ...this.#kind(),
        };
      case 'listcollections':
        return this.#first('$cmd.listCollections', this.#named(command.filter?.name), command);
      case 'count':
        return { ok: 1, n: this.#collections[command.count]?.length ?? 0 };
      case 'find':
        return this.#first(command.find, this.#found(command), command);
      case 'getmore':
        return this.#more(command);
      case 'saslstart':
        return { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' };
      default:
        return { ok: 1 };
    }
  }

  #kind(): Document {
    return this.#options.isReplicaSet ? { setName: 'rs0', hosts: [], secondary: false } : {};
  }

  #named(name: string): Document[] {
    return Object.keys(this.#collections).flatMap((one) => (one === name ? [{ name: one, type: 'collection' }] : []));
  }

  #found({ find, filter }: Document): Document[] {
    const sorted = [...(this.#collections[find] ?? [])].sort((a, b) => (String(a._id) < String(b._id) ? -1 : 1));
    const after = filter?.$expr?.$gt?.[1]?.$literal;
    return after === undefined ? sorted : sorted.filter(({ _id }) => String(_id) > String(after));
  }

  #first(collection: string, left: Document[], command: Document): Document {
    const id = this.#cursors.size + 1;
    const isSnapshot = command.readConcern?.level === 'snapshot';
    this.#cursors.set(id, { left, isSnapshot, namespace: `app.${collection}` });
    return this.#batch(id, command.batchSize ?? command.cursor?.batchSize ?? 101, 'firstBatch');
  }

  #more({ getMore, batchSize }: Document): Document {
    return this.#batch(Number(getMore), batchSize ?? 101, 'nextBatch');
  }

  #batch(id: number, size: number, kind: 'firstBatch' | 'nextBatch'): Document {
    const cursor = this.#cursors.get(id);
    if (!cursor) return { ok: 0, code: 43, errmsg: 'cursor not found' };
    const { isSnapshot, namespace: ns } = cursor;
    if (isSnapshot && this.#given >= (this.#options.snapshotDocuments ?? Number.POSITIVE_INFINITY))
      return { ok: 0, code: 239, codeName: 'SnapshotTooOld', errmsg: 'the snapshot is too old' };
    // Small batches, so that there are several.
    const batch = cursor.left.splice(0, Math.min(size, 2));
    if (isSnapshot) this.#given += batch.length;
    const atClusterTime = isSnapshot ? { atClusterTime: new Timestamp({ t: 1, i: 1 }) } : {};
    return { ok: 1, cursor: { id: Long.fromNumber(cursor.left.length > 0 ? id : 0), ns, [kind]: batch, ...atClusterTime } };
  }
}

const sizes = {
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  logicalSessionTimeoutMinutes: 30,
};

function framed(opcode: number, answered: number, body: Buffer): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeInt32LE(HEADER_BYTES + body.length, 0);
  head.writeInt32LE(answered, 8);
  head.writeInt32LE(opcode, 12);
  return Buffer.concat([head, body]);
}
