import { createHmac, timingSafeEqual } from 'node:crypto';
import { fail } from '../../errors/fail.ts';
import { fileIdPattern, parseFileName } from '../stores/name.ts';
import type { UploadForm, UploadPolicy } from '../stores/port.ts';

/** What a form allows to upload, once. */
export interface SignedUpload {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  /** Maximum size in bytes. */
  readonly size: number;
}

/** The signed content of a policy. */
interface Signed {
  readonly key: string;
  readonly contentType: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

const SIGNATURE = /^[0-9a-f]{64}$/;

/** Signs and verifies the service's own forms for large uploads (files.md#large-uploads), each valid for one file of one system. */
export class FormSigner {
  readonly #secret: string;

  /** @param secret of this installation */
  constructor(secret: string) {
    this.#secret = secret;
  }

  /** @param url address that receives the form */
  sign(appId: string, name: string, { contentType, size, seconds }: UploadPolicy, url: string): UploadForm {
    const signed: Signed = { key: name, contentType, size, expires: Date.now() + seconds * 1_000 };
    const policy = Buffer.from(JSON.stringify(signed)).toString('base64');
    return { url, fields: { key: name, 'Content-Type': contentType, policy, 'x-signature': this.#signature(appId, policy) } };
  }

  /**
   * Verifies a form and returns what it allows. Field names are case-insensitive, as in S3.
   * @throws uploadRefused (403) for a policy that is forged, expired, or for another file; invalidFileType (403) for another type
   */
  verify(appId: string, form: ReadonlyMap<string, string>): SignedUpload {
    const fields = new Map([...form].map(([name, value]) => [name.toLowerCase(), value]));
    const policy = fields.get('policy') ?? fail('uploadRefused', 'the form has no policy');
    if (!isSameSignature(fields.get('x-signature') ?? '', this.#signature(appId, policy)))
      fail('uploadRefused', 'the policy is not signed');
    const { key, contentType, size, expires } = JSON.parse(Buffer.from(policy, 'base64').toString()) as Signed;
    if (expires < Date.now()) fail('uploadRefused', 'the policy is over');
    const id = parseFileName(key)?.id ?? '';
    if (fields.get('key') !== key || !fileIdPattern.test(id)) fail('uploadRefused', 'the policy is for another file');
    if (fields.get('content-type') !== contentType) fail('invalidFileType');
    return { id, name: key, contentType, size };
  }

  #signature(appId: string, policy: string): string {
    const key = createHmac('sha256', this.#secret).update(`large upload:${appId}`).digest();
    return createHmac('sha256', key).update(policy).digest('hex');
  }
}

function isSameSignature(given: string, expected: string): boolean {
  return SIGNATURE.test(given) && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
