/** The connection to a bucket: how long it waits, what it tries again, and what its errors are told as. */
import type { IncomingMessage } from 'node:http';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { S3Location } from '../../config/index.ts';
import { type ServiceError, serviceError } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';

/** How often a request is made at the most. */
export const MAX_ATTEMPTS = 3;
/** How long a store may take until a connection is there, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;
/** How long a store may send or take nothing, in milliseconds. */
const INACTIVITY_TIMEOUT_MS = 30_000;
/** Errors of the way to the store: those of the system, of TLS, of HTTP, and the client's own when it has waited long enough. */
const onTheWay = /^(?:E[A-Z]+(?:_[A-Z]+)*|ERR_(?:SSL|TLS|STREAM|SOCKET)_\w+|HPE_\w+|TimeoutError)$/;

/** What went wrong at the store. It holds no id of a file, since that opens the file, and nothing of a signature. */
export class S3Fault extends Error {
  /** The store's own code (`AccessDenied`), or that of the network (`ECONNREFUSED`). */
  readonly code: string;
  readonly status: number | undefined;

  constructor(operation: string, error: unknown) {
    const { code, status, request } = read(error);
    super(
      `S3 ${operation}: ${code}${status === undefined ? '' : ` (${status})`}${request === undefined ? '' : `, request ${request}`}`,
    );
    this.name = 'S3Fault';
    this.code = code;
    this.status = status;
  }

  /** Whether the store is away or busy: the same request may go well a moment later. */
  get isPassing(): boolean {
    if (this.status === undefined) return onTheWay.test(this.code);
    // A bucket that is missing may come back; files in it are not gone for that.
    return this.status >= 500 || this.status === 408 || this.status === 429 || this.code === 'NoSuchBucket';
  }

  /** Whether the store answered that there is no such object. */
  get isMissing(): boolean {
    return this.status === 404 && this.code !== 'NoSuchBucket';
  }

  /** Whether an object that is to be new is there, or is just being stored by another request. */
  get isTaken(): boolean {
    return this.status === 412 || this.code === 'ConditionalRequestConflict';
  }

  /** Whether the object has another version than the one that was asked for, or lacks the range that this one has. */
  get isAnother(): boolean {
    return this.status === 412 || this.status === 416;
  }
}

/** How the requests to a store go. It tells of the first that finds the store away; from there on only after one went well. */
export class S3Health {
  readonly #report: (fault: string) => void;
  #isAway = false;

  constructor(report: (fault: string) => void) {
    this.#report = report;
  }

  /** The store has answered. */
  well(): void {
    this.#isAway = false;
  }

  /** The error that callers get: `unavailable` (503) where the store is away, with its cause, else the fault itself. */
  errorOf(fault: S3Fault): ServiceError | S3Fault {
    if (!fault.isPassing) {
      this.well();
      return fault;
    }
    if (!this.#isAway) this.#report(fault.message);
    this.#isAway = true;
    const error = serviceError('unavailable');
    error.cause = fault;
    return error;
  }
}

function read(error: unknown): { code: string; status: number | undefined; request: string | undefined } {
  const { name, code, $metadata } = error as {
    name?: string;
    code?: string;
    $metadata?: { httpStatusCode?: number; requestId?: string };
  };
  // Errors of the store have a name, those of the network a code.
  const told = code ?? name ?? 'Error';
  return { code: told, status: $metadata?.httpStatusCode, request: $metadata?.requestId };
}

/** A client that any S3-compatible store understands. Keys come from the standard AWS variables and files. */
export async function connect(location: S3Location): Promise<S3Client> {
  return new S3Client({
    ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
    region: location.region ?? (await usualRegion()),
    forcePathStyle: location.forcePathStyle,
    maxAttempts: MAX_ATTEMPTS,
    // Checksums that only AWS knows make other stores refuse.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    // Faults are thrown, and logged where they are caught.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: INACTIVITY_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      // A client that reads slowly is no reason to cut: `watchBody` tells who is waiting.
      socketTimeout: 0,
      // Each request to the store is part of one to the service: those are bounded already.
      httpAgent: { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY },
      httpsAgent: { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY },
    },
  });
}

async function usualRegion(): Promise<string> {
  const client = new S3Client({});
  try {
    return await client.config.region();
  } catch {
    return 'us-east-1';
  } finally {
    client.destroy();
  }
}

/** Looks whether the bucket can be read with the keys that there are. @throws OperatorError with one line that says what to mend */
export async function checkBucket(client: S3Client, { bucket, prefix, endpoint }: S3Location): Promise<void> {
  try {
    await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }));
  } catch (error) {
    const { code, status } = new S3Fault('ListObjectsV2', error);
    const place = endpoint ?? 'AWS';
    if (code === 'CredentialsProviderError')
      throw new OperatorError('FILES_URL: there are no keys; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
    if (status === undefined) throw new OperatorError(`FILES_URL: ${place} cannot be reached (${code})`);
    if (status === 404) throw new OperatorError(`FILES_URL: there is no bucket ${bucket} at ${place}`);
    if (status === 403) throw new OperatorError(`FILES_URL: ${place} refuses bucket ${bucket} to these AWS keys (${code})`);
    if (status < 400) throw new OperatorError(`FILES_URL: bucket ${bucket} is in another region (${code})`);
    throw new OperatorError(`FILES_URL: bucket ${bucket} at ${place} cannot be used (${code}, ${status})`);
  }
}

/**
 * Looks whether something goes on.
 * @param progress a number that grows while it does; `null` while nothing is to be expected
 * @param stalled called once where it does not for `INACTIVITY_TIMEOUT_MS` at the least, twice that at the most
 * @returns ends the watch
 */
export function watch(progress: () => number | null, stalled: (fault: S3Fault) => void): () => void {
  let seen: number | null = null;
  const timer = setInterval(() => {
    const now = progress();
    if (now !== null && now === seen) {
      clearInterval(timer);
      stalled(new S3Fault(`nothing went on for ${INACTIVITY_TIMEOUT_MS / 1000} seconds`, { code: 'ETIMEDOUT' }));
    }
    seen = now;
  }, INACTIVITY_TIMEOUT_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Cuts an answer whose store sends nothing any more, but not one whose reader is slow.
 * @param errorOf what the reader gets then
 */
export function watchBody(body: IncomingMessage, errorOf: (fault: S3Fault) => Error): void {
  const isAwaited = () => !body.complete && body.readableLength < body.readableHighWaterMark;
  const end = watch(
    () => (isAwaited() ? body.socket.bytesRead : null),
    (fault) => body.destroy(errorOf(fault)),
  );
  body.once('close', end);
}
