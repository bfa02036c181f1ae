import type { FieldModel } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../../src/kernel/json.ts';
import { type Condition, type FieldCondition, type Filter, type Operator, operatorsOf, type Values } from './condition.ts';
import { dayBefore, dayOf, isDayWord, startOfDay } from './days.ts';
import { isJsonObject, own } from './json.ts';
import { elementsLike, type FilterContext, holdsText } from './to-where.ts';

type Said = { readonly operator: Operator; readonly values: Values };

/** Converts a `where` to a filter. Parts that the builder would write differently are kept as raw conditions. */
export function fromWhere(where: JsonObject, context: FilterContext): Filter {
  const names = Object.keys(where);
  const alternatives = own(where, '$or');
  if (names.length === 1 && isObjects(alternatives) && alternatives.length > 1)
    return { match: 'any', conditions: alternatives.map((branch) => only(partsOf(branch, context), branch)) };
  return { match: 'all', conditions: partsOf(where, context) };
}

function partsOf(where: JsonObject, context: FilterContext): Condition[] {
  return Object.entries(where).flatMap(([name, value]): Condition[] => {
    if (name === '$and' && isObjects(value)) return value.flatMap((branch) => partsOf(branch, context));
    const field = context.fields.find((one) => one.name === name);
    const parsed = field && read(value, field, context);
    if (!parsed) return [{ kind: 'raw', where: { [name]: value } }];
    return [{ kind: 'field', field: name, ...parsed } satisfies FieldCondition];
  });
}

/** Returns a branch of an `$or` as one condition; a branch of several stays raw. */
function only(parts: readonly Condition[], branch: JsonObject): Condition {
  const [part] = parts;
  return part && parts.length === 1 ? part : { kind: 'raw', where: branch };
}

function read(value: JsonValue, field: FieldModel, context: FilterContext): Said | null {
  const parsed = readPresence(value, field) ?? readers[field.type]?.(value, field, context) ?? null;
  return parsed && operatorsOf(field).includes(parsed.operator) ? parsed : null;
}

const say = (operator: Operator, ...values: Values): Said => ({ operator, values });

function readPresence(value: JsonValue, field: FieldModel): Said | null {
  if (value === null) return say('empty');
  if (!isJsonObject(value)) return null;
  const [only, ...more] = Object.entries(value);
  if (!only || more.length > 0) return null;
  const [name, operand] = only;
  if (name === '$exists' && typeof operand === 'boolean') return say(operand ? 'notEmpty' : 'empty');
  if (name === '$ne' && operand === null) return say('notEmpty');
  if (!holdsText(field) || !isNothing(operand)) return null;
  if (name === '$in') return say('empty');
  return name === '$nin' ? say('notEmpty') : null;
}

const isNothing = (operand: JsonValue) =>
  Array.isArray(operand) && operand.length === 2 && operand.includes(null) && operand.includes('');

type Reader = (value: JsonValue, field: FieldModel, context: FilterContext) => Said | null;

const readers: Partial<Record<FieldModel['type'], Reader>> = {
  String: readText,
  'HTML/XML': readText,
  Number: readNumber,
  Boolean: (value) => {
    const parsed = equalTo(value) ?? value;
    return typeof parsed === 'boolean' ? say(parsed ? 'yes' : 'no') : null;
  },
  Date: (value, _field, context) => readDate(value, context),
  Pointer: readPointers,
  Relation: readPointers,
  Array: (value, field) => (field.targetClass ? readPointers(value, field) : readElement(value)),
};

/** Returns the value of `{$eq: value}`. */
function equalTo(value: JsonValue): JsonValue | undefined {
  return isJsonObject(value) && Object.keys(value).length === 1 ? own(value, '$eq') : undefined;
}

function readText(value: JsonValue): Said | null {
  const bare = equalTo(value) ?? value;
  if (typeof bare === 'string') return bare === '' ? null : say('is', bare);
  if (!isJsonObject(value)) return null;
  const names = Object.keys(value).sort().join();
  const different = own(value, '$ne');
  if (names === '$ne' && typeof different === 'string' && different !== '') return say('isNot', different);
  const inverse = own(value, '$not');
  if (names === '$not' && isJsonObject(inverse)) {
    const parsed = readPattern(inverse);
    return parsed?.operator === 'contains' ? say('notContains', ...parsed.values) : null;
  }
  return readPattern(value);
}

function readPattern(value: JsonObject): Said | null {
  if (Object.keys(value).sort().join() !== '$options,$regex' || own(value, '$options') !== 'i') return null;
  const pattern = own(value, '$regex');
  const literal = typeof pattern === 'string' ? /^(\^?)\\Q([\s\S]+)\\E$/.exec(pattern) : null;
  if (!literal) return null;
  const text = (literal[2] as string).replaceAll('\\E\\\\E\\Q', '\\E');
  // Quoting the text again shows whether the pattern was a quoted text and nothing else.
  if ((literal[2] as string) !== text.replaceAll('\\E', '\\E\\\\E\\Q')) return null;
  return say(literal[1] ? 'startsWith' : 'contains', text);
}

const inequalities = new Map<string, Operator>([
  ['$ne', 'isNot'],
  ['$gt', 'greater'],
  ['$gte', 'atLeast'],
  ['$lt', 'less'],
  ['$lte', 'atMost'],
]);

function readNumber(value: JsonValue): Said | null {
  const bare = equalTo(value) ?? value;
  if (typeof bare === 'number') return say('is', bare);
  if (!isJsonObject(value)) return null;
  const entries = Object.entries(value);
  if (!entries.every((entry): entry is [string, number] => typeof entry[1] === 'number')) return null;
  const [first, second, ...more] = entries;
  if (!first || more.length > 0) return null;
  if (!second) {
    const operator = inequalities.get(first[0]);
    return operator ? say(operator, first[1]) : null;
  }
  const low = own(value, '$gte');
  const high = own(value, '$lte');
  return typeof low === 'number' && typeof high === 'number' ? say('between', low, high) : null;
}

function readDate(value: JsonValue, context: FilterContext): Said | null {
  if (!isJsonObject(value)) return null;
  const names = Object.keys(value).sort().join();
  const start = dateIn(own(value, '$gte'));
  const end = dateIn(own(value, '$lt'));
  if (names === '$gte,$lt' && start && end) {
    if (start.word !== undefined && start.word === end.word) return readDayWord(start.word);
    const from = wholeDay(start, context);
    const after = wholeDay(end, context);
    if (from === null || after === null || after <= from) return null;
    return dayBefore(after) === from ? say('on', from) : say('daysBetween', from, dayBefore(after));
  }
  const day = start ? wholeDay(start, context) : end ? wholeDay(end, context) : null;
  if (day === null) return null;
  if (names === '$lt') return say('before', day);
  if (names === '$gte') return start?.word === 'after' ? say('after', dayBefore(day)) : say('from', day);
  return null;
}

/** Parses the word of a Date or Pointer, and its number of days. */
export function readDayWord(text: string): { operator: Operator; values: Values } | null {
  const [word = '', count] = text.split(':');
  if (!isDayWord(word)) return null;
  const takesCount = word === 'lastDays' || word === 'nextDays';
  if (takesCount !== (count !== undefined)) return null;
  if (!takesCount) return say(word);
  return /^[1-9]\d{0,4}$/.test(count as string) ? say(word, Number(count)) : null;
}

function dateIn(value: JsonValue | undefined): { iso: string; word: string | undefined } | null {
  if (value === undefined || !isJsonObject(value) || own(value, '__type') !== 'Date') return null;
  const iso = own(value, 'iso');
  const word = own(value, 'word');
  const time = typeof iso === 'string' ? Date.parse(iso) : Number.NaN;
  return Number.isNaN(time) ? null : { iso: new Date(time).toISOString(), word: typeof word === 'string' ? word : undefined };
}

/** Returns the day that begins at an instant, or `null`. */
function wholeDay({ iso }: { iso: string }, { timeZone }: FilterContext): string | null {
  const day = dayOf(iso, timeZone);
  return startOfDay(day, timeZone) === iso ? day : null;
}

function readPointers(value: JsonValue, field: FieldModel): Said | null {
  const single = pointerIn(value, field);
  if (single) return single.isMe ? say('me') : say('anyOf', single.objectId);
  if (!isJsonObject(value)) return null;
  const [only, ...more] = Object.entries(value);
  if (!only || more.length > 0) return null;
  const operator = ({ $in: 'anyOf', $nin: 'noneOf', $all: 'allOf', $ne: 'noneOf', $eq: 'anyOf' } as const)[only[0]];
  if (!operator) return null;
  const pointers = (Array.isArray(only[1]) ? only[1] : [only[1]]).map((one) => pointerIn(one, field));
  if (pointers.length === 0 || !pointers.every((one) => one !== null)) return null;
  return say(operator, ...pointers.map((one) => one.objectId));
}

function pointerIn(value: JsonValue, field: FieldModel): { objectId: string; isMe: boolean } | null {
  if (!isJsonObject(value) || own(value, '__type') !== 'Pointer' || own(value, 'className') !== field.targetClass) return null;
  const objectId = own(value, 'objectId');
  return typeof objectId === 'string' ? { objectId, isMe: own(value, 'word') === 'me' } : null;
}

function readElement(value: JsonValue): Said | null {
  if (typeof value === 'string' && value !== '') return say('has', value);
  const elements = isJsonObject(value) && Object.keys(value).length === 1 ? own(value, '$in') : undefined;
  const [text] = Array.isArray(elements) ? elements : [];
  if (typeof text !== 'string' || text === '') return null;
  return JSON.stringify(elementsLike(text)) === JSON.stringify(elements) ? say('has', text) : null;
}

const isObjects = (value: JsonValue | undefined): value is JsonObject[] => Array.isArray(value) && value.every(isJsonObject);
