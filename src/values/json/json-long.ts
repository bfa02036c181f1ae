import { randomUUID } from 'node:crypto';
import { bodyShare, MIN_LONG_BODY_LENGTH } from '../../admission/body-share.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { collectYoung } from '../../kernel/young-generation.ts';
import { parseRequestJson, parseScanned } from './json-input.ts';
import { type Cut, type JsonBounds, JsonScan } from './json-scan.ts';

/** Number of characters that are scanned in one turn of the event loop: some milliseconds, also before the code is compiled. */
const SCAN_CHARACTERS = 500_000;

/** Number of parts, of some megabytes of values each, after which the values move to the old generation. */
const PARTS_PER_COLLECTION = 12;

/** A JSON text that was scanned but not yet parsed. */
export type ScannedJson = Pick<JsonScan, 'text' | 'marks' | 'cuts'>;

/**
 * Scans a long JSON text before it is parsed, in steps, with turns of the event loop between them. Malformed text is left to the parser.
 * @param system whose turns are used
 * @throws tooManyValues (116); nestedTooDeep, invalidJson (107)
 */
export async function scanJson(text: string, bounds: JsonBounds, system: string): Promise<ScannedJson> {
  // Makes one text of the parts that have arrived.
  await bodyShare.inTurn(system, () => text.charCodeAt(0));
  const scan = new JsonScan(text, bounds);
  while (!(await bodyShare.inTurn(system, () => scan.step(SCAN_CHARACTERS))));
  return scan;
}

/**
 * Parses a scanned text, like `parseRequestJson`, but part by part, with turns of the event loop between them.
 * @throws invalidJson (107)
 */
export async function parseScannedJson({ text, cuts }: ScannedJson, levels: number, system: string): Promise<JsonValue> {
  const parts = new JsonParts(text, levels);
  for (let at = 0; at <= cuts.length; at++) {
    await bodyShare.inTurn(system, () => parts.add(cuts[at - 1], cuts[at]));
    if (at % PARTS_PER_COLLECTION === PARTS_PER_COLLECTION - 1) await bodyShare.inTurn(system, collectYoung);
  }
  return parts.value;
}

/**
 * Parses a JSON text from outside, a long one in parts. For texts whose memory is bounded otherwise.
 * @param system whose turns are used
 * @throws what `parseRequestJson` throws
 */
export async function parseJson(text: string, bounds: JsonBounds, system: string): Promise<JsonValue> {
  if (text.length < MIN_LONG_BODY_LENGTH) return parseRequestJson(text, bounds.levels, bounds.marksApart);
  return parseScannedJson(await scanJson(text, bounds, system), bounds.levels, system);
}

type Container = JsonValue[] | JsonObject;

/**
 * Puts a value together from the parts of its text. The containers that are open where a part begins are opened again before it, and those open where it
 * ends are closed behind it: so each part is JSON by itself, whose members are then moved into the containers that are open.
 */
export class JsonParts {
  value: JsonValue = null;
  readonly #text: string;
  readonly #levels: number;
  /** The key of the member that goes on from the part before; a client cannot guess it. */
  readonly #mark = randomUUID();
  /** The containers that are open after the last part, outermost first. */
  #open: Container[] = [];

  constructor(text: string, levels: number) {
    this.#text = text;
    this.#levels = levels;
  }

  /** Adds the part between two cuts; the first one has no start, the last one no end. */
  add(start: Cut | undefined, end: Cut | undefined): void {
    const from = start ? start.at + (start.isInString ? 0 : 1) : 0;
    const own = this.#text.slice(from, end?.at);
    const part = parseScanned(this.#opening(start) + own + closing(end), this.#levels);
    if (start) this.#merge(0, part as Container, start);
    else this.value = part;
    if (end) this.#follow(end);
  }

  #opening(cut: Cut | undefined): string {
    if (!cut) return '';
    let text = '';
    for (let at = 0; at < cut.open.length; at++) {
      const isContinued = at < cut.open.length - 1 || cut.isInString;
      if (cut.open[at] === '[') text += '[';
      else text += isContinued ? `{"${this.#mark}":` : '{';
    }
    return cut.isInString ? `${text}"` : text;
  }

  /** Moves the members of a container that a part has opened again into the container that is open. */
  #merge(depth: number, from: Container, cut: Cut): void {
    const to = this.#open[depth] as Container;
    const isInnermost = depth === cut.open.length - 1;
    const isContinued = !isInnermost || cut.isInString;
    if (isContinued) {
      const first = (Array.isArray(from) ? from[0] : from[this.#mark]) as JsonValue;
      if (!isInnermost) this.#merge(depth + 1, first as Container, cut);
      else if (Array.isArray(to)) to.push(`${to.pop() as string}${first as string}`);
      else setMember(to, cut.keys[depth] as string, (before) => `${before as string}${first as string}`);
    }
    if (Array.isArray(from)) {
      // Nothing after a comma.
      if (!isContinued && from.length === 0) fail('invalidJson', 'the text is not JSON');
      for (let at = isContinued ? 1 : 0; at < from.length; at++) (to as JsonValue[]).push(from[at] as JsonValue);
      return;
    }
    const names = Object.keys(from);
    if (names.length === 0) fail('invalidJson', 'the text is not JSON');
    for (const name of names) if (name !== this.#mark) define(to as JsonObject, name, from[name] as JsonValue);
  }

  /** Finds the containers that are open at a cut. */
  #follow({ open, kept, keys, isInString }: Cut): void {
    this.#open.length = kept;
    for (let depth = kept; depth < open.length; depth++) {
      const outer = this.#open[depth - 1];
      if (outer === undefined) this.#open.push(this.value as Container);
      else if (Array.isArray(outer)) this.#open.push(outer.at(-1) as Container);
      else this.#open.push(outer[JSON.parse(keys[depth - 1] as string)] as Container);
    }
    // Nothing before a comma. A container that was open at the cut before has members.
    if (!isInString && kept < open.length && isEmpty(this.#open.at(-1) as Container)) fail('invalidJson', 'the text is not JSON');
  }
}

function isEmpty(container: Container): boolean {
  // `for … in` makes a list of all keys first.
  if (Array.isArray(container)) return container.length === 0;
  for (const _ in container) return false;
  return true;
}

/** Returns what closes a part: the string and the containers that are open at its end. */
function closing(cut: Cut | undefined): string {
  if (!cut) return '';
  let text = cut.isInString ? '"' : '';
  for (let at = cut.open.length - 1; at >= 0; at--) text += cut.open[at] === '[' ? ']' : '}';
  return text;
}

function setMember(object: JsonObject, key: string, change: (before: JsonValue) => JsonValue): void {
  const name = JSON.parse(key) as string;
  define(object, name, change(object[name] as JsonValue));
}

function define(object: JsonObject, name: string, value: JsonValue): void {
  // `__proto__` is an ordinary key here.
  if (name === '__proto__') Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}
