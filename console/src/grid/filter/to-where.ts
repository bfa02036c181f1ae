import type { FieldModel } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../../src/kernel/json.ts';
import { type Condition, type FieldCondition, type Filter, inputOf, isComplete } from './condition.ts';
import { type Clock, daysOf, endOfDay, isDayWord, startOfDay } from './days.ts';

/** The context in which filters are read and written. */
export interface FilterContext extends Clock {
  readonly fields: readonly FieldModel[];
  /** objectId of the signed-in user. */
  readonly meId: string;
}

/**
 * Converts a filter to a `where`. Words are kept beside their current meaning, in `word` of the Dates and Pointers that they stand for: the service
 * ignores it, and `refreshWords` updates the meaning on a later day. Leaves out incomplete conditions and those on unknown fields.
 */
export function toWhere(filter: Filter, context: FilterContext): JsonObject {
  const parts = filter.conditions.map((condition) => wherePart(condition, context)).filter((part) => part !== null);
  if (parts.length === 0) return {};
  if (filter.match === 'any' && parts.length > 1) return { $or: parts };
  const names = parts.flatMap(Object.keys);
  return new Set(names).size === names.length ? Object.assign({}, ...parts) : { $and: parts };
}

function wherePart(condition: Condition, context: FilterContext): JsonObject | null {
  if (condition.kind === 'raw') return condition.where;
  const field = context.fields.find(({ name }) => name === condition.field);
  if (!field || !isComplete(inputOf(condition.operator, field.type), condition.values)) return null;
  return { [field.name]: constraintOf(condition, field, context) };
}

function constraintOf({ operator, values }: FieldCondition, field: FieldModel, context: FilterContext): JsonValue {
  const first = values[0] ?? null;
  const pointers = () => values.map((id) => pointerTo(field, String(id)));
  if (isDayWord(operator)) return daysConstraint(operator, Number(first ?? 0), context);
  switch (operator) {
    case 'is':
      return first;
    case 'isNot':
      return { $ne: first };
    case 'contains':
      return { $regex: quoted(String(first)), $options: 'i' };
    case 'startsWith':
      return { $regex: `^${quoted(String(first))}`, $options: 'i' };
    case 'notContains':
      return { $not: { $regex: quoted(String(first)), $options: 'i' } };
    case 'greater':
      return { $gt: first };
    case 'atLeast':
      return { $gte: first };
    case 'less':
      return { $lt: first };
    case 'atMost':
      return { $lte: first };
    case 'between':
      return { $gte: first, $lte: values[1] ?? null };
    case 'on':
      return between(String(first), String(first), context);
    case 'daysBetween':
      return between(String(first), String(values[1]), context);
    case 'before':
      return { $lt: dateAt(startOfDay(String(first), context.timeZone)) };
    case 'from':
      return { $gte: dateAt(startOfDay(String(first), context.timeZone)) };
    case 'after':
      return { $gte: dateAt(endOfDay(String(first), context.timeZone), 'after') };
    case 'yes':
      return true;
    case 'no':
      return false;
    case 'anyOf':
      return values.length === 1 ? (pointers()[0] as JsonObject) : { $in: pointers() };
    case 'noneOf':
      return { $nin: pointers() };
    case 'allOf':
      return { $all: pointers() };
    case 'me':
      return { ...pointerTo(field, context.meId), word: 'me' };
    case 'has':
      return { $in: elementsLike(String(first)) };
    case 'empty':
      return holdsText(field) ? { $in: [null, ''] } : { $exists: false };
    case 'notEmpty':
      return holdsText(field) ? { $nin: [null, ''] } : { $exists: true };
  }
}

export const holdsText = (field: FieldModel) => field.type === 'String' || field.type === 'HTML/XML';

/** Returns the array elements that a typed text may mean. */
export function elementsLike(text: string): JsonValue[] {
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) && String(number) === text ? [text, number] : [text];
}

/** Quotes a text for a pattern, in the syntax shared by RE2, PCRE and Java. */
export const quoted = (text: string) => `\\Q${text.replaceAll('\\E', '\\E\\\\E\\Q')}\\E`;

const pointerTo = (field: FieldModel, objectId: string): JsonObject => ({
  __type: 'Pointer',
  className: field.targetClass ?? '',
  objectId,
});

const dateAt = (iso: string, word?: string): JsonObject => ({ __type: 'Date', iso, ...(word === undefined ? {} : { word }) });

const between = (from: string, to: string, { timeZone }: Clock): JsonObject => ({
  $gte: dateAt(startOfDay(from, timeZone)),
  $lt: dateAt(endOfDay(to, timeZone)),
});

/** Words with a number of days are written `lastDays:7`. */
function daysConstraint(operator: Parameters<typeof daysOf>[0], count: number, clock: Clock): JsonObject {
  const word = operator === 'lastDays' || operator === 'nextDays' ? `${operator}:${count}` : operator;
  const { from, to } = daysOf(operator, count, clock);
  return { $gte: dateAt(startOfDay(from, clock.timeZone), word), $lt: dateAt(endOfDay(to, clock.timeZone), word) };
}
