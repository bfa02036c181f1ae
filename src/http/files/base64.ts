import { fail } from '../../errors/fail.ts';

const notBase64 = 'base64 is not valid';
/** What browsers' `FileReader` puts before it. */
const dataHead = /^\s*data:[^,]{0,1000};base64,/i;
const blank = /[ \t\r\n\f\v]+/g;
const foreign = /[^\w+/-]/;
/** Letters and padding that are kept until more come: three of the one, or all of a last group. */
const LONGEST_REST = 4;

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
    if (this.#rest.length > LONGEST_REST) fail('badUpload', notBase64);
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

/** As JSON never writes them; other control characters are no white space either. */
const unescapedBlank = /[\t\r\n\f\v]/;
const escaped = /\\(?:u([0-9a-f]{4})|([^u]))/gi;
/** An escape that goes on in the next piece. */
const brokenEscape = /\\(?:u[0-9a-f]{0,3})?$/i;
const shortEscapes: ReadonlyMap<string | undefined, string> = new Map(
  Object.entries({ '/': '/', n: '\n', r: '\r', t: '\t', f: '\f' }),
);

/**
 * Reads what stands between the quotes of a JSON string that is base64.
 * @param pieces its bytes
 * @throws badUpload (107) where it is none
 */
export async function* decodeJsonBase64(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const decoder = new Base64Decoder();
  let rest = '';
  for await (const piece of pieces) {
    let text = rest + piece.toString('latin1');
    rest = '';
    if (unescapedBlank.test(text)) fail('badUpload', notBase64);
    if (text.includes('\\')) {
      rest = brokenEscape.exec(text)?.[0] ?? '';
      text = withoutEscapes(text.slice(0, text.length - rest.length));
    }
    const bytes = decoder.push(text);
    if (bytes.length > 0) yield bytes;
  }
  if (rest !== '') fail('badUpload', notBase64);
  const last = decoder.end();
  if (last.length > 0) yield last;
}

function withoutEscapes(text: string): string {
  // What is no escape of base64 is none of its letters either.
  return text.replace(escaped, (whole, code?: string, letter?: string) =>
    code === undefined ? (shortEscapes.get(letter) ?? whole) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
