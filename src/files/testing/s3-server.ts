/** An S3-compatible server for tests, which checks signatures and the conditions of forms. */
import crypto, { createCipheriv, createDecipheriv } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import S3rver from '@20minutes/s3rver';
import { checkForm } from './post-policy.ts';
import { checkRequest, type Refusal } from './signature.ts';

/** The only bucket. */
const BUCKET = 'files';
/** The only key id, which S3rver knows as well. */
const KEY = 'S3RVER';
const SECRET = 'the-secret-of-the-test-server';
const secrets = new Map([[KEY, SECRET]]);

/** A running server with one empty bucket. */
export interface TestS3 {
  /** FILES_URL for files below a prefix. @param parameters further ones, such as `&forms=false` */
  filesUrl(prefix: string, parameters?: string): string;
  /** The environment variables with the keys. */
  readonly env: Readonly<Record<string, string>>;
  /** The received requests, such as `PUT /files/prefix/id`. */
  readonly requests: string[];
  /** Handles a request instead of the server if it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** Closes all connections and refuses new ones. Stored objects stay. */
  down(): Promise<void>;
  /** Accepts connections again, at the same address. */
  up(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** Starts a server in this process. */
export async function startS3(): Promise<TestS3> {
  allowOldTokens();
  const directory = await mkdtemp(join(tmpdir(), 'test-s3-'));
  const options = {
    address: '127.0.0.1',
    port: 0,
    silent: true,
    vhostBuckets: false,
    allowMismatchedSignatures: true,
    configureBuckets: [{ name: BUCKET }],
  };
  const server = new S3rver({ ...options, directory });
  // Requests interrupted by the stop are still logged.
  server.logger.close = () => {};
  readFirstBytes(server);
  const { port: behind } = await server.run();
  const front = createServer((incoming, response) => {
    made.requests.push(`${incoming.method} ${incoming.url?.split('?')[0]}`);
    if (!made.intercept?.(incoming, response)) answer(incoming, response, behind).catch(() => response.destroy());
  });
  await listen(front, 0);
  const { port } = front.address() as AddressInfo;
  const made: TestS3 = {
    filesUrl: (prefix, parameters = '') =>
      `s3://${BUCKET}/${prefix}?endpoint=http://127.0.0.1:${port}&region=us-east-1${parameters}`,
    env: { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: SECRET },
    requests: [],
    intercept: null,
    down: () => close(front),
    up: () => listen(front, port),
    async stop() {
      await close(front);
      await close(server.httpServer);
      await rm(directory, { recursive: true, force: true });
    },
  };
  return made;
}

/** Refuses what S3 refuses and S3rver does not. Forwards a body when it is complete, so that no partial object is stored. */
async function answer(incoming: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  const body = await buffer(incoming);
  const refusal = await refusalOf(incoming, body);
  if (refusal) {
    refuse(response, refusal);
    return;
  }
  const { method, url, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false });
  onward.end(body);
  const [answered] = (await once(onward, 'response')) as [IncomingMessage];
  // S3rver does not support this condition.
  const { 'if-match': wanted } = headers;
  if (wanted !== undefined && answered.statusCode !== 404 && answered.headers.etag !== wanted) {
    answered.resume();
    refuse(response, { status: 412, code: 'PreconditionFailed' });
    return;
  }
  response.writeHead(answered.statusCode ?? 500, answered.headers);
  pipeline(answered, response, () => {});
}

function refuse(response: ServerResponse, { status, code }: Refusal): void {
  response.writeHead(status, { 'Content-Type': 'application/xml' });
  response.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>Refused</Message></Error>`);
}

async function refusalOf(incoming: IncomingMessage, body: Buffer<ArrayBuffer>): Promise<Refusal | null> {
  const type = incoming.headers['content-type'] ?? '';
  const isForm = incoming.method === 'POST' && type.startsWith('multipart/form-data');
  return isForm ? checkForm(type, body, secrets) : checkRequest(incoming, body, secrets);
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** S3rver treats a range that ends with the first byte as open-ended. */
function readFirstBytes({ store }: S3rver): void {
  const getObject = store.getObject.bind(store);
  store.getObject = async (bucket, key, range) => {
    const object = await getObject(bucket, key, range);
    if (range?.end === 0 && object?.content && object.range) {
      object.content.destroy();
      object.content = createReadStream(object.content.path, { end: 0 }) as typeof object.content;
      object.range.end = 0;
    }
    return object;
  };
}

/** S3rver encrypts list tokens by DES, which OpenSSL no longer supports. */
function allowOldTokens(): void {
  const twice = (bytes: unknown) => Buffer.concat([bytes as Buffer, bytes as Buffer]);
  const instead = <Make extends typeof createCipheriv | typeof createDecipheriv>(make: Make) =>
    ((name: string, key: Buffer, iv: Buffer) =>
      name === 'des' ? make('aes-128-cbc', twice(key), twice(iv)) : make(name, key, iv)) as unknown as Make;
  crypto.createCipheriv = instead(createCipheriv);
  crypto.createDecipheriv = instead(createDecipheriv);
}
