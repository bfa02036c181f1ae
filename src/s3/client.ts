import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { S3Location } from '../config/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { S3Fault } from './fault.ts';
import { INACTIVITY_TIMEOUT_MS } from './stall.ts';

/** How often a request is made at the most. */
export const MAX_ATTEMPTS = 3;
/** How long a store may take until a connection is there, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;

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

/**
 * A client of a bucket that can be read.
 * @param setting what named the bucket, for messages
 * @throws OperatorError with one line that says what to mend
 */
export async function connectBucket(location: S3Location, setting: string): Promise<S3Client> {
  const client = await connect(location);
  try {
    await checkBucket(client, location, setting);
    return client;
  } catch (error) {
    client.destroy();
    throw error;
  }
}

/** Looks whether the bucket can be read with the keys that there are. @throws OperatorError as `connectBucket` */
async function checkBucket(client: S3Client, { bucket, prefix, endpoint }: S3Location, setting: string): Promise<void> {
  try {
    await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }));
  } catch (error) {
    const { code, status } = new S3Fault('ListObjectsV2', error);
    const place = endpoint ?? 'AWS';
    if (code === 'CredentialsProviderError')
      throw new OperatorError(`${setting}: there are no keys; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
    if (status === undefined) throw new OperatorError(`${setting}: ${place} cannot be reached (${code})`);
    if (status === 404) throw new OperatorError(`${setting}: there is no bucket ${bucket} at ${place}`);
    if (status === 403) throw new OperatorError(`${setting}: ${place} refuses bucket ${bucket} to these AWS keys (${code})`);
    if (status < 400) throw new OperatorError(`${setting}: bucket ${bucket} is in another region (${code})`);
    throw new OperatorError(`${setting}: bucket ${bucket} at ${place} cannot be used (${code}, ${status})`);
  }
}
