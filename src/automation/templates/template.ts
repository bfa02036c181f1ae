import { fail } from '../../errors/fail.ts';
import { escapeHtml } from '../../kernel/html.ts';
import { hasMoreParts, isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';
import { isOperator } from '../../values/index.ts';
import { wireDate } from '../../values/json/wire.ts';
import { type ActionDraft, ActionFailed, TemplateAllowance } from '../model/action.ts';
import { runnerShare } from '../model/loop-share.ts';
import type { Template } from '../model/model.ts';
import { piecesOf, soleReference } from './parse.ts';
import { type FoundValue, RecordValues } from './record-values.ts';
import { valueText } from './value-text.ts';

/**
 * Fills templates with values of the triggering record. Values are data: they are never interpreted as templates or operators. All methods throw
 * badOperator (107) and notAType (111) for data that would be interpreted, ActionFailed if the result is too long, and errors of reads (unavailable,
 * timeout).
 * Reference: triggers.md#templates.
 */
export interface Filler {
  /**
   * Fills a value whose texts are templates. A text that is exactly one template yields the value itself, in the wire form in which it is written.
   * @returns `undefined` for such a template whose value is absent; inside Arrays and Objects it is omitted
   */
  value(template: Template): Promise<JsonValue | undefined>;
  /** Fills a text; absent values become empty. */
  text(template: string): Promise<string>;
  /** The pieces of a filled text: literal texts, and for each value its text, or one text per element of an Array. */
  pieces(template: string): Promise<(string | readonly string[])[]>;
  /** Fills HTML; values are escaped, except those of `{{{Field}}}`. */
  html(template: string): Promise<string>;
}

/** Approximate time for resolving one template or value, charged to the time share. A definition may have enough of them to block the event loop. */
const STEP_MS = 0.005;

/** Nested values of a value that is converted to text, which is done in one step. */
const MAX_PARTS = 50_000;

/** Keys that determine the type of an object. They are never templates, so that a record's data cannot determine it. */
const literalKeys: ReadonlySet<string> = new Set(['__op', '__type']);

/** Returns a filler for one run. Referenced records are read once. */
export function fillerFor({ record, reading, sources, allowance }: Filled): Filler {
  return new RecordFiller(new RecordValues(record, reading, sources), reading.store, allowance);
}

/** What templates are filled from. */
export type Filled = Pick<ActionDraft, 'record' | 'reading' | 'sources' | 'allowance'>;

const isDate = (value: JsonObject): boolean => own(value, '__type') === 'Date';

/** Returns the text of a Date in wire form; `null` for other values. */
export function isoOf(value: JsonValue): string | null {
  const iso = isJsonObject(value) && isDate(value) ? own(value, 'iso') : null;
  return typeof iso === 'string' ? iso : null;
}

class RecordFiller implements Filler {
  readonly #values: RecordValues;
  readonly #store: Store;
  /** Cached texts of Arrays and Objects, since templates may use a value many times. */
  readonly #texts = new WeakMap<object, string>();
  readonly #allowance: TemplateAllowance;

  constructor(values: RecordValues, store: Store, allowance = new TemplateAllowance()) {
    this.#values = values;
    this.#store = store;
    this.#allowance = allowance;
  }

  async value(template: Template): Promise<JsonValue | undefined> {
    await this.#waitForTurn();
    if (typeof template === 'string') {
      const reference = soleReference(template);
      return reference ? this.#fieldValue(await this.#values.at(reference.path)) : this.text(template);
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
      await this.#waitForTurn();
      const { value } = await this.#values.at(piece.path);
      const elements = Array.isArray(value) ? value : [value];
      pieces.push(runnerShare.spend(() => elements.map((element) => this.#counted(this.#textOf(element)))));
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

  async #joined(template: string, format: (value: string, isRaw: boolean) => string): Promise<string> {
    let joined = '';
    for (const piece of piecesOf(template)) {
      if (typeof piece === 'string') joined += this.#counted(piece);
      else {
        await this.#waitForTurn();
        const { value } = await this.#values.at(piece.path);
        joined += runnerShare.spend(() => this.#counted(format(this.#textOf(value), piece.isRaw)));
      }
    }
    return joined;
  }

  /** @throws ActionFailed for a value with too many parts */
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

  /** Waits for the time share before each step. */
  #waitForTurn(): Promise<void> {
    const turn = runnerShare.waitForTurn(this.#store);
    runnerShare.charge(STEP_MS);
    return turn;
  }

  /**
   * Returns a value of the record for use in a field.
   * @throws badOperator if a write would interpret it as an operator; notAType for a File object that is not the value of a file field: a write with
   *   full rights would attach it, although inside Objects and Arrays it is only JSON of a client (files.md#attach-a-file)
   */
  #fieldValue({ value, type }: FoundValue): JsonValue | undefined {
    if (value === undefined || value === null) return undefined;
    if (isJsonObject(value) && value.__type === 'File' && type !== 'File' && type !== 'PrivateFile') fail('notAType', 'File');
    if (isOperator(value) || (Array.isArray(value) && value.some(isOperator)))
      fail('badOperator', 'a value of the record looks like an operator');
    runnerShare.spend(() => this.#counted(typeof value === 'string' ? value : JSON.stringify(value)));
    // Reads return `createdAt` and `updatedAt` as strings; writes take Dates.
    return type === 'Date' && typeof value === 'string' ? wireDate(value) : value;
  }

  #counted(text: string): string {
    this.#allowance.spend(text.length);
    return text;
  }
}
