import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const cipher = 'aes-256-gcm';

/** Encrypts stored sign-in items, so that a copy of the database does not grant access. */
export class ItemEncryption {
  readonly #key: Buffer;

  /** @param secret of this installation, stored outside the system's tables */
  constructor(secret: string, appId: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, appId, 'sign-in items', 32));
  }

  /** Encrypts a text. @param place where it is stored, authenticated so that it cannot be decrypted elsewhere */
  encrypt(text: string, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const encryptor = createCipheriv(cipher, this.#key, nonce).setAAD(Buffer.from(place));
    const encrypted = [encryptor.update(text, 'utf8'), encryptor.final()];
    return Buffer.concat([nonce, encryptor.getAuthTag(), ...encrypted]).toString('base64url');
  }

  /** Decrypts a text; `null` if it was encrypted for another place or by another installation, or is malformed. */
  decrypt(encrypted: string, place: string): string | null {
    const bytes = Buffer.from(encrypted, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    try {
      const decryptor = createDecipheriv(cipher, this.#key, nonce, { authTagLength: TAG_BYTES });
      decryptor.setAAD(Buffer.from(place)).setAuthTag(tag);
      return Buffer.concat([decryptor.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decryptor.final()]).toString('utf8');
    } catch {
      return null;
    }
  }
}

/** Returns the key of an item: a hash of its id, which may be a token. Ids are long random strings, so the hash needs no salt. */
export const keyOf = (kind: string, id: string): string => hash('sha256', `${kind}\n${id}`, 'base64url');
