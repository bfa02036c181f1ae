import { fail } from '../../errors/fail.ts';
import { escapeHtml } from '../../kernel/html.ts';
import { hasMoreParts, isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';
import { isOperator } from '../../values/index.ts';
import { wireDate } from '../../values/json/wire.ts';
import { type ActionDraft, ActionFailed, TemplateAllowance } from '../model/action.ts';
import { workingOff } from '../model/loop-share.ts';
import type { Template } from '../model/model.ts';
import { piecesOf, wholePlace } from './parse.ts';
import { type FoundValue, RecordValues } from './record-values.ts';
import { valueText } from './value-text.ts';

/**
 * Fills templates with values of the triggering record (docs/decisions.md "Triggers": templates). What stands in a record is data: it is never
 * read as a template, nor as an operator. Every method throws badOperator (107), notAType (111) for data that would be more, ActionFailed
 * where it becomes too long, and errors of reading (unavailable, timeout).
 */
export interface Filler {
  /**
   * A value whose texts are templates. One that is a template alone takes over the value in the wire form in which it is written.
   * @returns `undefined` for a template alone whose value is absent; inside Arrays and Objects such a one is left out
   */
  value(template: Template): Promise<JsonValue | undefined>;
  /** A text with values in it, absent ones as nothing. */
  text(template: string): Promise<string>;
  /** The same before it is put together: texts of the template's own, and of each value its text, of an Array one for each element. */
  pieces(template: string): Promise<(string | readonly string[])[]>;
  /** HTML with values in it, escaped but for those of `{{{Field}}}`. */
  html(template: string): Promise<string>;
}

/** Milliseconds that a template or a value takes, about: so many of them may be in a definition that they would hold the event loop up. */
const STEP_MS = 0.005;

/** Values inside a value, whatever their depth, that become a text: it is made in one go. */
const MAX_PARTS = 50_000;

/** What says of an object what it is: never a template, so that the data of a record do not say it. */
const literalKeys: ReadonlySet<string> = new Set(['__op', '__type']);

/** The filler of a run. Records that Pointers name are read once. */
export function fillerFor({ record, reading, sources, allowance }: Filled): Filler {
  return new RecordFiller(new RecordValues(record, reading, sources), reading.store, allowance);
}

/** What templates are filled from. */
export type Filled = Pick<ActionDraft, 'record' | 'reading' | 'sources' | 'allowance'>;

const isDate = (value: JsonObject): boolean => own(value, '__type') === 'Date';

/** The text of a Date in wire form; `null` for any other value. */
export function isoOf(value: JsonValue): string | null {
  const iso = isJsonObject(value) && isDate(value) ? own(value, 'iso') : null;
  return typeof iso === 'string' ? iso : null;
}

class RecordFiller implements Filler {
  readonly #values: RecordValues;
  readonly #store: Store;
  /** Texts of Arrays and Objects: a template may name one a thousand times. */
  readonly #texts = new WeakMap<object, string>();
  readonly #allowance: TemplateAllowance;

  constructor(values: RecordValues, store: Store, allowance = new TemplateAllowance()) {
    this.#values = values;
    this.#store = store;
    this.#allowance = allowance;
  }

  async value(template: Template): Promise<JsonValue | undefined> {
    await this.#turn();
    if (typeof template === 'string') {
      const place = wholePlace(template);
      return place ? this.#data(await this.#values.at(place.path)) : this.text(template);
    }
    if (Array.isArray(template)) {
      const elements: JsonValue[] = [];
      for (const element of template) {
        const value = await this.value(element);
        if (value !== undefined) elements.push(value);
      }
      return elements;
    }
    return isJsonObject(template) ? this.#object(template) : template;
  }

  text(template: string): Promise<string> {
    return this.#joined(template, (value) => value);
  }

  async pieces(template: string): Promise<(string | readonly string[])[]> {
    const pieces: (string | readonly string[])[] = [];
    for (const piece of piecesOf(template)) {
      if (typeof piece === 'string') {
        pieces.push(this.#counted(piece));
        continue;
      }
      await this.#turn();
      const { value } = await this.#values.at(piece.path);
      const elements = Array.isArray(value) ? value : [value];
      pieces.push(workingOff.spend(() => elements.map((element) => this.#counted(this.#textOf(element)))));
    }
    return pieces;
  }

  html(template: string): Promise<string> {
    return this.#joined(template, (value, isRaw) => (isRaw ? value : escapeHtml(value)));
  }

  async #object(template: JsonObject): Promise<JsonObject> {
    const members: [string, JsonValue][] = [];
    for (const [key, inner] of Object.entries(template)) {
      const value = literalKeys.has(key) ? inner : await this.value(inner);
      if (value !== undefined) members.push([key, key === 'iso' && isDate(template) ? (isoOf(value) ?? value) : value]);
    }
    return Object.fromEntries(members);
  }

  async #joined(template: string, shown: (value: string, isRaw: boolean) => string): Promise<string> {
    let joined = '';
    for (const piece of piecesOf(template)) {
      if (typeof piece === 'string') joined += this.#counted(piece);
      else {
        await this.#turn();
        const { value } = await this.#values.at(piece.path);
        joined += workingOff.spend(() => this.#counted(shown(this.#textOf(value), piece.isRaw)));
      }
    }
    return joined;
  }

  /** @throws ActionFailed for a value of too many parts */
  #textOf(value: JsonValue | undefined): string {
    if (typeof value !== 'object' || value === null) return valueText(value);
    let text = this.#texts.get(value);
    if (text === undefined) {
      if (hasMoreParts(value, MAX_PARTS)) throw new ActionFailed(`A value with more than ${MAX_PARTS} parts is no text.`);
      text = valueText(value);
      this.#texts.set(value, text);
    }
    return text;
  }

  /** Before each step. */
  #turn(): Promise<void> {
    const turn = workingOff.waitForTurn(this.#store);
    workingOff.charge(STEP_MS);
    return turn;
  }

  /**
   * A value of the record as the value of a field.
   * @throws badOperator where a write would take it for an operator; notAType for a File object that no field holds: a write with full rights
   *   would attach it, and inside Objects and Arrays it is plain JSON of a client's (docs/decisions.md "Files")
   */
  #data({ value, type }: FoundValue): JsonValue | undefined {
    if (value === undefined || value === null) return undefined;
    if (isJsonObject(value) && value.__type === 'File' && type !== 'File' && type !== 'PrivateFile') fail('notAType', 'File');
    if (isOperator(value) || (Array.isArray(value) && value.some(isOperator)))
      fail('badOperator', 'a value of the record looks like an operator');
    workingOff.spend(() => this.#counted(typeof value === 'string' ? value : JSON.stringify(value)));
    // Reads show `createdAt` and `updatedAt` as texts; writes take Dates.
    return type === 'Date' && typeof value === 'string' ? wireDate(value) : value;
  }

  #counted(text: string): string {
    this.#allowance.spend(text.length);
    return text;
  }
}
