import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const cipher = 'aes-256-gcm';

/** Encrypts what a system keeps of sign-ins, so that a copy of its database lets nobody in. */
export class Sealer {
  readonly #key: Buffer;

  /** @param secret of this installation; it lies outside the system's own tables */
  constructor(secret: string, appId: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, appId, 'sign-in items', 32));
  }

  /** @param place where the text will lie; it opens nowhere else */
  seal(text: string, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const sealing = createCipheriv(cipher, this.#key, nonce).setAAD(Buffer.from(place));
    const sealed = [sealing.update(text, 'utf8'), sealing.final()];
    return Buffer.concat([nonce, sealing.getAuthTag(), ...sealed]).toString('base64url');
  }

  /** The text; `null` where it was sealed for another place, by another installation, or not at all. */
  open(sealed: string, place: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    try {
      const opening = createDecipheriv(cipher, this.#key, nonce, { authTagLength: TAG_BYTES });
      opening.setAAD(Buffer.from(place)).setAuthTag(tag);
      return Buffer.concat([opening.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), opening.final()]).toString('utf8');
    } catch {
      return null;
    }
  }
}

/** The key of an item by its id, which may be a token: only this hash of it is kept. Ids are long random texts. */
export const keyOf = (kind: string, id: string): string => hash('sha256', `${kind}\n${id}`, 'base64url');
