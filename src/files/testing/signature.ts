/** AWS Signature Version 4. S3 checks signatures; the S3 server of the tests does not always. */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Why S3 refuses a request. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
}

const pattern = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

/**
 * @param secrets by key id
 * @returns `null` if the signature is valid
 */
export function checkRequest(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer,
  secrets: ReadonlyMap<string, string>,
): Refusal | null {
  const [, credential = '', names = '', signature = ''] = pattern.exec(headers.authorization ?? '') ?? [];
  if (signature === '') return { status: 403, code: 'AccessDenied' };
  const bodyHash = String(headers['x-amz-content-sha256']);
  if (bodyHash !== 'UNSIGNED-PAYLOAD' && bodyHash !== sha256(body)) return { status: 400, code: 'XAmzContentSHA256Mismatch' };
  const [path = '', query = ''] = url.split('?');
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, query.split('&').sort().join('&'), signed.join(''), names, bodyHash].join('\n');
  const scope = credential.split('/').slice(1).join('/');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  return checkSignature(credential, text, signature, secrets);
}

/** @param credential `key/date/region/service/aws4_request` @returns `null` if the signature is valid */
export function checkSignature(
  credential: string,
  text: string,
  signature: string | undefined,
  secrets: ReadonlyMap<string, string>,
): Refusal | null {
  const [key = '', ...scope] = credential.split('/');
  const secret = secrets.get(key);
  if (secret === undefined) return { status: 403, code: 'InvalidAccessKeyId' };
  const signingKey = scope.reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${secret}`);
  return hmac(signingKey, text).toString('hex') === signature ? null : { status: 403, code: 'SignatureDoesNotMatch' };
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
