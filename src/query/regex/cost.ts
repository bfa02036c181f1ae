import type { NormalPattern } from './normalise.ts';
import { expandedSize } from './size.ts';

/** Base cost of any pattern, in steps. */
const BASE_STEPS = 10;
/** Characters of a pattern that are no steps, such as brackets, read in the time of one step. */
const CHARACTERS_PER_STEP = 4;
/** Steps of `\p{L}` and the like: each is hundreds of ranges. Without case the other cases of each are looked up one by one. */
const UNICODE_CLASS_STEPS = 100;
const FOLDED_UNICODE_CLASS_STEPS = 300;
/** Steps of `\w`, `[:alpha:]` and the like without case. */
const FOLDED_NAMED_CLASS_STEPS = 20;
/** The backtracking engine takes much longer to compile, the more so the longer a pattern is. */
const BACKTRACKING_FACTOR = 10;
/** Number of word and line edges that the backtracking engine compiles quickly; each further one may triple the time, without bound. */
const CHEAP_EDGES = 8;
/** Steps of each Unicode property in a backtracking pattern: in the database each takes a pass over all characters. */
const PROPERTY_STEPS = 6_000;

const token = /\\(?:[pPx]\{[^}]*\}|[pP].|.)|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]?|\(\?<?[=!]|\(\?[a-zA-Z]*i|[$^]/gsu;
const digits = /[0-7]/;
const namedClass = /\\([dDsSwW])|\[:\^?\w+:\]/gsu;
const unicodeClass = /\\[pP](?:\{[^}]*\}|.)/gsu;
const single = String.raw`\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[0-7]{1,3}|\\.|[^\\\]]`;
const member = new RegExp(`(${single})(?:-(${single}))?`, 'gsu');

/** The parts of a pattern that cost more than a step. */
interface Parts {
  readonly classes: readonly string[];
  /** Whether case is ignored, in all of the pattern or in a part of it. */
  readonly folded: boolean;
  readonly backtracking: boolean;
  /** Number of edges of words and lines. */
  readonly edges: number;
}

/** An estimate of a pattern from its text, before anything is compiled. */
export interface Estimate {
  /**
   * Cost of compiling, in steps of one to two microseconds: counted repeats written out, classes by what they are made of. The cost of matching is
   * proportional to it.
   */
  readonly cost: number;
  /** Whether it has lookaround or back references, which RE2 does not support. */
  readonly backtracking: boolean;
}

/** Estimates a pattern; the result for a malformed one is arbitrary. */
export function estimate(normal: NormalPattern): Estimate {
  const { source } = normal;
  const { classes, folded, backtracking, edges } = partsOf(normal);
  const size = BASE_STEPS + Math.ceil(source.length / CHARACTERS_PER_STEP) + expandedSize(source);
  const ofClasses = classes.reduce((sum, text) => sum + classCost(text, folded), 0);
  if (!backtracking) return { cost: size + ofClasses, backtracking };
  const properties = new Set(source.match(unicodeClass)).size;
  const factor = BACKTRACKING_FACTOR * 3 ** Math.min(100, Math.max(0, edges - CHEAP_EDGES));
  return { cost: factor * size + 2 * ofClasses + PROPERTY_STEPS * properties, backtracking };
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
  const cost = ofUnicode * (folded ? FOLDED_UNICODE_CLASS_STEPS : UNICODE_CLASS_STEPS) + named * FOLDED_NAMED_CLASS_STEPS;
  if (!text.startsWith('[')) return cost;
  return [...text.matchAll(member)].reduce((sum, [, first, last]) => sum + rangeCost(first as string, last, folded), cost);
}

/** The other cases of a range's characters are looked up one by one, which costs most where characters have other cases. */
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
