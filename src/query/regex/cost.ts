import type { NormalPattern } from './normalise.ts';
import { expandedSize } from './size.ts';

/** Steps of any pattern, however short. */
const EVERY_PATTERN = 10;
/** Signs of a pattern that are none of its steps, such as brackets, are read in the time of one. */
const CHARACTERS_A_STEP = 4;
/** Steps of `\p{L}` and its like: each is hundreds of ranges. Their other cases are looked up one by one. */
const UNICODE_CLASS = 100;
const UNICODE_CLASS_FOLDED = 300;
/** Steps of `\w`, `[:alpha:]` and their like where case does not count. */
const NAMED_CLASS_FOLDED = 20;
/** The backtracking engine takes much longer to compile, and the more so the longer a pattern is. */
const BACKTRACKING_FACTOR = 10;
/** Ends of words and lines that it compiles quickly; each further one may take it three times as long, without end. */
const CHEAP_EDGES = 8;
/** Steps of each property of characters in a backtracking pattern: where the database runs it, all characters are gone through for one. */
const PROPERTY = 6_000;

const token = /\\(?:[pPx]\{[^}]*\}|[pP].|.)|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]?|\(\?<?[=!]|\(\?[a-zA-Z]*i|[$^]/gsu;
const digits = /[0-7]/;
const namedClass = /\\([dDsSwW])|\[:\^?\w+:\]/gsu;
const unicodeClass = /\\[pP](?:\{[^}]*\}|.)/gsu;
const single = String.raw`\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[0-7]{1,3}|\\.|[^\\\]]`;
const member = new RegExp(`(${single})(?:-(${single}))?`, 'gsu');

/** What the parts of a pattern are that cost more than a step. */
interface Parts {
  readonly classes: readonly string[];
  /** Whether case does not count, in all of the pattern or in a part of it. */
  readonly folded: boolean;
  readonly backtracking: boolean;
  /** Ends of words and lines. */
  readonly edges: number;
}

/** What is told of a pattern from its text, before anything is compiled. */
export interface Estimate {
  /**
   * What it costs to compile, in steps of a microsecond or two: its repeats written out, classes by what they are made of. What it costs to match is
   * proportional to it.
   */
  readonly cost: number;
  /** Whether it has lookaround or back references, which RE2 has not. */
  readonly backtracking: boolean;
}

/** Estimates a pattern; a malformed one gets some number. */
export function estimate(normal: NormalPattern): Estimate {
  const { source } = normal;
  const { classes, folded, backtracking, edges } = partsOf(normal);
  const size = EVERY_PATTERN + Math.ceil(source.length / CHARACTERS_A_STEP) + expandedSize(source);
  const ofClasses = classes.reduce((sum, text) => sum + classCost(text, folded), 0);
  if (!backtracking) return { cost: size + ofClasses, backtracking };
  const properties = new Set(source.match(unicodeClass)).size;
  const factor = BACKTRACKING_FACTOR * 3 ** Math.min(100, Math.max(0, edges - CHEAP_EDGES));
  return { cost: factor * size + 2 * ofClasses + PROPERTY * properties, backtracking };
}

function partsOf({ source, flags }: NormalPattern): Parts {
  const classes: string[] = [];
  let folded = flags.includes('i');
  let backtracking = false;
  let edges = 0;
  for (const { 0: text, index } of source.matchAll(token)) {
    if (text.startsWith('[')) classes.push(text);
    else if (text.startsWith('\\')) {
      if (/^\\[pPdDsSwW]/.test(text)) classes.push(text);
      else if (/^\\[bB]/.test(text)) edges++;
      // RE2 reads `\12` as an octal number.
      else if (/^\\[1-9]/.test(text)) backtracking ||= !(text < '\\8' && digits.test(source[index + 2] ?? ''));
      else backtracking ||= text === '\\k';
    } else if (text === '$' || text === '^') edges++;
    else if (text.endsWith('i')) folded = true;
    else backtracking = true;
  }
  return { classes, folded, backtracking, edges };
}

function classCost(text: string, folded: boolean): number {
  const ofUnicode = text.match(unicodeClass)?.length ?? 0;
  const named = folded ? (text.match(namedClass)?.length ?? 0) : 0;
  const cost = ofUnicode * (folded ? UNICODE_CLASS_FOLDED : UNICODE_CLASS) + named * NAMED_CLASS_FOLDED;
  if (!text.startsWith('[')) return cost;
  return [...text.matchAll(member)].reduce((sum, [, first, last]) => sum + rangeCost(first as string, last, folded), cost);
}

/** The other cases of a range's characters are looked up one by one, most of all where they have some. */
function rangeCost(first: string, last: string | undefined, folded: boolean): number {
  if (last === undefined || !folded) return 1;
  const width = Math.max(0, codePointOf(last) - codePointOf(first));
  return 1 + Math.ceil(Math.min(width, 2_000) / 10 + Math.max(0, width - 2_000) / 30);
}

function codePointOf(text: string): number {
  const hex = /^\\x\{?([0-9A-Fa-f]+)/.exec(text)?.[1];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  const octal = /^\\([0-7]+)$/.exec(text)?.[1];
  if (octal !== undefined) return Number.parseInt(octal, 8);
  return text.codePointAt(text.startsWith('\\') ? 1 : 0) as number;
}
