import { fail } from '../errors/fail.ts';

const notBase64 = 'base64 is not valid';
/** The prefix that browsers' `FileReader` adds. */
const dataPrefix = /^\s*data:[^,]{0,1000};base64,/i;
const whitespace = /[ \t\r\n\f\v]+/g;
const nonBase64 = /[^\w+/-]/;
/** Characters kept until more arrive: up to three letters of a group, or a complete last group with padding. */
const MAX_REST_LENGTH = 4;

/**
 * Decodes base64 incrementally, as leniently as Parse Server: accepts white space, the URL-safe alphabet, missing padding, and a `data:` prefix in
 * the first piece. Rejects other characters, which a lenient decoder would skip.
 */
export class Base64Decoder {
  #begun = false;
  /** Characters not decoded yet: less than a group, or the beginning of padding. */
  #rest = '';
  #isPadded = false;

  /** @throws badUpload (107) */
  push(piece: string): Buffer {
    const text = this.#begun ? piece : piece.replace(dataPrefix, '');
    this.#begun = true;
    const letters = this.#rest + text.replace(whitespace, '');
    const end = this.#isPadded ? 0 : letters.search(nonBase64);
    this.#isPadded = end >= 0;
    const whole = (end < 0 ? letters.length : end) & ~3;
    this.#rest = letters.slice(whole);
    if (this.#rest.length > MAX_REST_LENGTH) fail('badUpload', notBase64);
    return Buffer.from(letters.slice(0, whole), 'base64');
  }

  /** Decodes the rest. @throws badUpload (107) */
  end(): Buffer {
    const letters = this.#rest;
    const found = letters.search(nonBase64);
    const length = found < 0 ? letters.length : found;
    const padding = letters.slice(length);
    const isPadded = (padding === '=' || padding === '==') && letters.length % 4 === 0;
    if ((padding !== '' && !isPadded) || length % 4 === 1) fail('badUpload', notBase64);
    return Buffer.from(letters, 'base64');
  }
}

/** Characters decoded per step, so that other requests run in between. */
const CHUNK_LENGTH = 1024 * 1024;

/** Decodes a complete base64 text in pieces. @throws badUpload (107) if it is invalid */
export async function* decodeBase64(text: string): AsyncGenerator<Buffer, void> {
  const decoder = new Base64Decoder();
  for (let at = 0; at < text.length; at += CHUNK_LENGTH) {
    const bytes = decoder.push(text.slice(at, at + CHUNK_LENGTH));
    if (bytes.length > 0) yield bytes;
  }
  const last = decoder.end();
  if (last.length > 0) yield last;
}
