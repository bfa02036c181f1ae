import { fail } from '../../errors/fail.ts';

/** Letters that are decoded at once: other requests have their turn in between. */
const PIECE = 1024 * 1024;

/** What browsers put before it. */
const head = /^\s*data:[^,]{0,1000};base64,/i;
const blank = /\s+/g;
const foreign = /[^\w+/-]/;

/**
 * The bytes of base64, piece by piece. White space, the letters of addresses (`-`, `_`), missing padding and a `data:` head are taken.
 * @throws badUpload (107) where it is none
 */
export async function* bytesOf(sent: string): AsyncGenerator<Buffer, void> {
  const base64 = sent.trimEnd();
  let rest = '';
  for (let at = head.exec(base64.slice(0, 2_000))?.[0].length ?? 0; at < base64.length; at += PIECE) {
    const letters = rest + base64.slice(at, at + PIECE).replace(blank, '');
    const isLast = at + PIECE >= base64.length;
    const whole = isLast ? letters.length : letters.length & ~3;
    rest = letters.slice(whole);
    const bytes = decoded(letters.slice(0, whole), isLast);
    if (bytes.length > 0) yield bytes;
  }
}

function decoded(letters: string, isLast: boolean): Buffer {
  const found = letters.search(foreign);
  const length = found < 0 ? letters.length : found;
  const padding = letters.slice(length);
  const isPadded = isLast && (padding === '=' || padding === '==') && letters.length % 4 === 0;
  if ((padding !== '' && !isPadded) || length % 4 === 1) fail('badUpload', 'base64 is not valid');
  return Buffer.from(letters, 'base64');
}
