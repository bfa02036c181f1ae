import type { JsonObject, JsonValue } from '../../../../src/kernel/json.ts';
import { type DayWord, daysOf, endOfDay, startOfDay } from './days.ts';
import { readDayWord } from './from-where.ts';
import { isJsonObject, own } from './json.ts';
import type { FilterContext } from './to-where.ts';

/** Returns a `where` in which words have their current meaning for the signed-in user; everything else is unchanged. */
export function refreshWords(where: JsonObject, context: FilterContext): JsonObject {
  return refreshed(where, '', context) as JsonObject;
}

function refreshed(value: JsonValue, name: string, context: FilterContext): JsonValue {
  if (Array.isArray(value)) return value.map((one) => refreshed(one, name, context));
  if (!isJsonObject(value)) return value;
  const word = own(value, 'word');
  if (typeof word === 'string') {
    if (own(value, '__type') === 'Date') return { ...value, iso: instantOf(word, name, context) ?? own(value, 'iso') ?? null };
    if (own(value, '__type') === 'Pointer' && word === 'me') return { ...value, objectId: context.meId };
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, refreshed(one, key, context)]));
}

function instantOf(word: string, operator: string, context: FilterContext): string | null {
  const parsed = readDayWord(word);
  if (!parsed) return null;
  const { from, to } = daysOf(parsed.operator as DayWord, Number(parsed.values[0] ?? 0), context);
  if (operator === '$gte') return startOfDay(from, context.timeZone);
  return operator === '$lt' ? endOfDay(to, context.timeZone) : null;
}
