import { fail } from '../../errors/fail.ts';
import { Base64Decoder } from '../../files/index.ts';

const notBase64 = 'base64 is not valid';
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
