import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { S3Location } from '../config/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { S3Fault } from './fault.ts';
import { INACTIVITY_TIMEOUT_MS } from './stall.ts';

/** Attempts per request, the first one included. */
export const MAX_ATTEMPTS = 3;
/** Timeout for establishing a connection to the store. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Creates a client that works with any S3-compatible store. Keys come from the standard AWS variables and files. */
export async function connect(location: S3Location): Promise<S3Client> {
  return new S3Client({
    ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
    region: location.region ?? (await defaultRegion()),
    forcePathStyle: location.forcePathStyle,
    maxAttempts: MAX_ATTEMPTS,
    // Checksums that only AWS supports make other stores refuse the request.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    // Errors are thrown, and logged by the code that catches them.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: INACTIVITY_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      // A reader that is slow must not cut the connection; `watchBody` detects a store that stalls.
      socketTimeout: 0,
      // No socket limit is needed: each request to the store belongs to a request to the service, and those are bounded.
      httpAgent: { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY },
      httpsAgent: { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY },
    },
  });
}

async function defaultRegion(): Promise<string> {
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
 * Returns a client for a bucket, after checking that the bucket can be listed.
 * @param setting name of the setting that named the bucket, for messages
 * @throws OperatorError one line that says what to correct
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

/** Checks that the bucket can be listed with the current keys. @throws OperatorError as `connectBucket` */
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
