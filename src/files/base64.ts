import { fail } from '../errors/fail.ts';

const notBase64 = 'base64 is not valid';
/** What browsers' `FileReader` puts before it. */
const dataHead = /^\s*data:[^,]{0,1000};base64,/i;
const blank = /[ \t\r\n\f\v]+/g;
const foreign = /[^\w+/-]/;
/** Letters and padding that are kept until more come: three of the one, or all of a last group. */
const MAX_REST_LENGTH = 4;

/**
 * Reads base64 piece by piece. As lenient as Parse's decoder: white space, the letters of addresses, missing padding and a `data:` head, which
 * has to be in the first piece, are taken. What that would pass over is not.
 */
export class Base64Decoder {
  #begun = false;
  /** Not yet decoded: less than a group, or what the padding begins in. */
  #rest = '';
  #isPadded = false;

  /** @throws badUpload (107) */
  push(piece: string): Buffer {
    const text = this.#begun ? piece : piece.replace(dataHead, '');
    this.#begun = true;
    const letters = this.#rest + text.replace(blank, '');
    const end = this.#isPadded ? 0 : letters.search(foreign);
    this.#isPadded = end >= 0;
    const whole = (end < 0 ? letters.length : end) & ~3;
    this.#rest = letters.slice(whole);
    if (this.#rest.length > MAX_REST_LENGTH) fail('badUpload', notBase64);
    return Buffer.from(letters.slice(0, whole), 'base64');
  }

  /** What is left at the end. @throws badUpload (107) */
  end(): Buffer {
    const letters = this.#rest;
    const found = letters.search(foreign);
    const length = found < 0 ? letters.length : found;
    const padding = letters.slice(length);
    const isPadded = (padding === '=' || padding === '==') && letters.length % 4 === 0;
    if ((padding !== '' && !isPadded) || length % 4 === 1) fail('badUpload', notBase64);
    return Buffer.from(letters, 'base64');
  }
}

/** Letters that are decoded at once: other requests have their turn in between. */
const PIECE_LENGTH = 1024 * 1024;

/** The bytes of a whole text in base64, piece by piece. @throws badUpload (107) where it is none */
export async function* decodeBase64(text: string): AsyncGenerator<Buffer, void> {
  const decoder = new Base64Decoder();
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    const bytes = decoder.push(text.slice(at, at + PIECE_LENGTH));
    if (bytes.length > 0) yield bytes;
  }
  const last = decoder.end();
  if (last.length > 0) yield last;
}
