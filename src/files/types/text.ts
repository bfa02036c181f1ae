import type { Shape } from './table.ts';

/** Encoding of a text; `one-byte` is a national code page, which the bytes do not identify. */
export type Encoding = 'utf-8' | 'utf-16' | 'one-byte';

/** A sample that is text. */
export interface SampleText {
  readonly encoding: Encoding;
  /** Without a byte order mark. */
  readonly text: string;
}

/** The kind of a text, determined by its content. */
export type Content = 'html' | 'svg' | 'xml' | 'json' | 'calendar' | 'vcard' | 'plain';

/** Control characters that do not occur in Unicode text. BEL to CR, ESC and the separators occur in logs, mail and messages. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const foreign = /[\0-\x06\x0e-\x1a]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const foreignByte = /[\0-\x08\x0e-\x1f\x7f]/;
/** The end-of-file mark of DOS. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const endMark = /\x1a$/;
const jsonStart = /^(?:[{["]|-?\d|(?:true|false|null)\b)/;
/** Tags that an HTML document may begin with. */
const htmlTags = new Set(
  'html head body title meta link base script style iframe div span p a b i br hr h1 h2 h3 h4 h5 h6 table font img form ul ol pre center'.split(
    ' ',
  ),
);

/**
 * Decodes a sample as text.
 * @param isWhole whether it is the whole file; otherwise it may end within a character
 * @returns `null` if it is not text
 */
export function readText(sample: Buffer, isWhole: boolean): SampleText | null {
  const [first, second] = sample;
  if (first === 0xff && second === 0xfe) return decode(sample, isWhole, 'utf-16le');
  if (first === 0xfe && second === 0xff) return decode(sample, isWhole, 'utf-16be');
  return decode(sample, isWhole, 'utf-8') ?? readOneByte(sample, isWhole);
}

function decode(sample: Buffer, isWhole: boolean, label: 'utf-8' | 'utf-16le' | 'utf-16be'): SampleText | null {
  let text: string;
  try {
    text = new TextDecoder(label, { fatal: true }).decode(sample, { stream: !isWhole });
  } catch {
    return null;
  }
  if (isWhole) text = text.replace(endMark, '');
  return foreign.test(text) ? null : { encoding: label === 'utf-8' ? 'utf-8' : 'utf-16', text };
}

function readOneByte(sample: Buffer, isWhole: boolean): SampleText | null {
  const whole = sample.toString('latin1');
  const text = isWhole ? whole.replace(endMark, '') : whole;
  return foreignByte.test(text) ? null : { encoding: 'one-byte', text };
}

/** Bytes that do not occur in Hebrew text of windows-1255: everything except letters, ASCII, quotes, dashes and similar punctuation. */
const notHebrew = /[^\xe0-\xfa\x20-\x7e\t-\r\x84\x85\x91-\x97\xa0]/;

/** Whether text in a code page is text with certainty: at least an eighth of it is spaces, digits and other ASCII, or all of it is Hebrew. */
export function isCertainlyText({ encoding, text }: SampleText): boolean {
  return encoding !== 'one-byte' || text.replace(/[^\x20-\x7e\s]+/g, '').length * 8 >= text.length || !notHebrew.test(text);
}

/** Whether text has the form that a type requires. */
export function hasShape({ text }: SampleText, shape: Shape | undefined): boolean {
  if (shape === undefined) return true;
  const start = text.trimStart();
  if (shape === 'json') return jsonStart.test(start);
  if (!start.startsWith('<')) return false;
  if (shape === 'markup') return true;
  const root = rootOf(start);
  return root === null || root === 'svg';
}

/** Identifies text without a known extension. @param isWhole whether it is the whole file */
export function contentOf({ text }: SampleText, isWhole: boolean): Content {
  const start = text.trimStart();
  if (start.startsWith('<')) return markupOf(start);
  if (/^[{[]/.test(start)) return isJson(start, isWhole) ? 'json' : 'plain';
  const begin = /^BEGIN:(VCALENDAR|VCARD)\b/i.exec(start)?.[1]?.toUpperCase();
  if (begin === undefined) return 'plain';
  return begin === 'VCARD' ? 'vcard' : 'calendar';
}

function markupOf(start: string): Content {
  if (/^<!doctype\s+html/i.test(start)) return 'html';
  const root = rootOf(start);
  if (root === 'svg') return 'svg';
  if (root !== null && htmlTags.has(root)) return 'html';
  return root === null && !/^<[?!]/.test(start) ? 'plain' : 'xml';
}

/** A truncated text counts as JSON by its first characters. */
function isJson(start: string, isWhole: boolean): boolean {
  if (!isWhole) return /^(?:\{\s*"|\[\s*[[{"\d-])/.test(start);
  try {
    JSON.parse(start);
    return true;
  } catch {
    return false;
  }
}

/** Returns the local name of the root element in lower case, skipping declarations and comments; `null` if the sample contains none. */
function rootOf(start: string): string | null {
  let at = 0;
  for (;;) {
    while (/\s/.test(start.charAt(at))) at++;
    const end = endOfProlog(start, at);
    if (end === null) break;
    if (end === -1) return null;
    at = end;
  }
  const tag = /^<(?:[\w.-]+:)?([\w-]+)/.exec(start.slice(at, at + 200));
  return tag?.[1]?.toLowerCase() ?? null;
}

/** Returns the end of a declaration or comment; -1 if it does not end in the text, `null` if there is none. */
function endOfProlog(text: string, at: number): number | null {
  if (text.startsWith('<?', at)) return after(text, '?>', at);
  if (text.startsWith('<!--', at)) return after(text, '-->', at);
  if (!text.startsWith('<!', at)) return null;
  const close = text.indexOf('>', at);
  const subset = text.indexOf('[', at);
  if (subset === -1 || close < subset) return close === -1 ? -1 : close + 1;
  const subsetEnd = text.indexOf(']', subset);
  return subsetEnd === -1 ? -1 : after(text, '>', subsetEnd);
}

function after(text: string, mark: string, at: number): number {
  const found = text.indexOf(mark, at);
  return found === -1 ? -1 : found + mark.length;
}
