import { setImmediate as nextTurn } from 'node:timers/promises';
import { bodyShare, inTurns } from '../admission/body-share.ts';
import { fail, ServiceError } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import {
  type CheckedAhead,
  type Container,
  forgetAhead,
  keepAclAhead,
  keepAhead,
  keepDistinctAhead,
  keepPlainAhead,
  plainAhead,
  textAhead,
} from './json/checked-ahead.ts';
import { checkKey, checkKeys, checkWrapper, withoutIncluded } from './json/keys.ts';
import { forgetStringText, isLongString, keepStringText, longStringText } from './json/long-strings.ts';
import { distinct } from './operators/equality.ts';
import { aclSteps } from './types/acl.ts';

/** Weight of what is checked in one turn of the event loop. */
const TURN_WEIGHT = 20_000;
/** Weight up to which a field is cheap enough to be checked where it is planned, even in a record with very many of them. */
const SMALL_WEIGHT = 8;
/** Characters of a text that weigh as much as a value. */
const CHARACTERS_PER_WEIGHT = 64;

/** The large values of the records that are being written. */
const checked = new WeakMap<JsonObject, (Container | string)[]>();

/**
 * Checks the insides of the large values of a record, and writes their texts, before the write is planned: a plan is made in one turn of the event loop,
 * so it would take a tenth of a second for a value of megabytes. What is wrong is thrown where the value is used.
 * @param fields values and operators, as a client has sent them
 * @param system whose turns are used
 * @param isCopied whether rows of logs may have the values: then the JSON texts of long strings are written too
 */
export async function checkAhead(fields: JsonObject, system: string, mode: 'create' | 'update', isCopied = false): Promise<void> {
  const values: (Container | string)[] = [];
  checked.set(fields, values);
  for (const [at, name] of Object.keys(fields).entries()) {
    if (at % TURN_WEIGHT === TURN_WEIGHT - 1) await nextTurn();
    const sent = fields[name] as JsonValue;
    const value = operandOf(sent);
    if (isCopied && isLongString(value)) {
      await keepStringText(value, system);
      values.push(value);
    }
    if (!isContainer(value)) continue;
    forgetAhead(value);
    if (weightOf(value, SMALL_WEIGHT) <= SMALL_WEIGHT) continue;
    values.push(value);
    keepAhead(value, await outcomeOf(() => textOf(value, system)));
    if (name === 'ACL' && isJsonObject(value)) keepAclAhead(value, await outcomeOf(() => inTurns(system, aclSteps(value))));
    const isUnique = mode === 'create' && Array.isArray(value) && value !== sent && (sent as JsonObject).__op === 'AddUnique';
    if (isUnique) await removeDuplicates(plainAhead(value) ?? value, system);
  }
}

/** To be called when the values are stored, or never will be. */
export function forgetChecked(fields: JsonObject): void {
  for (const value of checked.get(fields) ?? [])
    if (typeof value === 'string') forgetStringText(value);
    else forgetAhead(value);
  checked.delete(fields);
}

async function textOf(value: Container, system: string): Promise<string> {
  const text = await new LargeValue(system).textOf(value, 0);
  // Makes one text of its parts now.
  await bodyShare.inTurn(system, () => text.charCodeAt(0));
  return text;
}

async function outcomeOf(check: () => Promise<string>): Promise<CheckedAhead> {
  try {
    return { text: await check() };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { error };
  }
}

/** Makes what AddUnique stores in a new record. */
async function removeDuplicates(operands: JsonValue[], system: string): Promise<void> {
  if (textAhead(operands) === undefined) return;
  const kept = await inTurns(system, distinct(operands));
  if (kept.length === operands.length) {
    keepDistinctAhead(operands, operands);
    return;
  }
  keepAhead(kept, await outcomeOf(() => textOf(kept, system)));
  keepDistinctAhead(operands, kept);
}

/** Returns the operand of a field operator, or the value itself. */
function operandOf(value: JsonValue): JsonValue {
  const isOperator = isContainer(value) && !Array.isArray(value) && Object.hasOwn(value, '__op');
  return isOperator ? (value.objects ?? value.amount ?? null) : value;
}

/** Returns the weight of a value; something beyond `max` if it is heavier. */
function weightOf(value: JsonValue, max: number): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS_PER_WEIGHT;
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && weight <= max; at++) weight += weightOf(value[at] as JsonValue, max - weight);
    return weight;
  }
  for (const key in value) {
    weight += 1 + key.length / CHARACTERS_PER_WEIGHT + weightOf(value[key] as JsonValue, max - weight);
    if (weight > max) break;
  }
  return weight;
}

/** Checks a value and writes its text, a part in each turn. */
class LargeValue {
  readonly #system: string;

  constructor(system: string) {
    this.#system = system;
  }

  /** @throws what `checkKeys` throws */
  async textOf(value: Container, depth: number): Promise<string> {
    if (depth >= limits.jsonDepth) fail('nestedTooDeep');
    return Array.isArray(value) ? this.#textOfArray(value, depth) : this.#textOfObject(value, depth);
  }

  async #textOfArray(elements: JsonValue[], depth: number): Promise<string> {
    const texts = new Texts();
    const plain: JsonValue[] = [];
    let isPlain = true;
    await this.#inParts(elements.length, (at) => elements[at] as JsonValue, {
      depth,
      whole: (text) => texts.add(text),
      part: (from, to) => {
        const sent = elements.slice(from, to);
        // Only elements of a field itself are included records.
        const part = depth === 0 ? withoutIncluded(sent) : sent;
        isPlain &&= part === sent;
        for (const element of part) checkKeys(element, depth + 1);
        if (depth === 0) for (const element of part) plain.push(element);
        texts.add(JSON.stringify(part).slice(1, -1));
      },
      heavy: (at) => depth === 0 && plain.push(elements[at] as JsonValue),
    });
    const text = `[${texts.text}]`;
    if (!isPlain) {
      keepAhead(plain, { text });
      keepPlainAhead(elements, plain);
    }
    return text;
  }

  async #textOfObject(object: JsonObject, depth: number): Promise<string> {
    const names = Object.keys(object);
    const texts = new Texts();
    const longNames = new Map<string, string>();
    for (const name of names) if (isLongString(name)) longNames.set(name, await longStringText(name, this.#system));
    const nameText = (at: number) => longNames.get(names[at] as string) ?? JSON.stringify(names[at]);
    const valueAt = (at: number) => object[names[at] as string] as JsonValue;
    await this.#inParts(names.length, valueAt, {
      depth,
      whole: (text, at) => texts.add(`${nameText(at)}:${text}`),
      part: (from, to) => {
        for (let at = from; at < to; at++) {
          checkKey(names[at] as string);
          checkKeys(valueAt(at), depth + 1);
          texts.add(`${nameText(at)}:${JSON.stringify(valueAt(at))}`);
        }
      },
      heavy: (at) => checkKey(names[at] as string),
    });
    checkWrapper(object);
    return `{${texts.text}}`;
  }

  /** Works through the members of a container: those that are light together, each heavy one by itself. */
  async #inParts(count: number, valueAt: (at: number) => JsonValue, { depth, part, heavy, whole }: PartWork): Promise<void> {
    for (let at = 0; at < count; ) {
      const from = at;
      at = await bodyShare.inTurn(this.#system, () => {
        let to = from;
        for (let weight = 0; to < count && weight < TURN_WEIGHT; to++) {
          const own = weightOf(valueAt(to), TURN_WEIGHT);
          if (own > TURN_WEIGHT) break;
          weight += own;
        }
        if (to > from) part(from, to);
        return to;
      });
      if (at > from) continue;
      heavy(at);
      const next = valueAt(at);
      whole(isContainer(next) ? await this.textOf(next, depth + 1) : await longStringText(next as string, this.#system), at);
      at++;
    }
  }
}

interface PartWork {
  readonly depth: number;
  /** Checks and writes members. */
  part(from: number, to: number): void;
  /** Prepares a heavy member. */
  heavy(at: number): void;
  /** Takes the text of a heavy member. */
  whole(text: string, at: number): void;
}

const isContainer = (value: JsonValue | undefined): value is Container => typeof value === 'object' && value !== null;

/** Texts with commas between them: a rope, which is made one text where it is stored. */
class Texts {
  text = '';

  add(text: string): void {
    this.text = this.text === '' ? text : `${this.text},${text}`;
  }
}
