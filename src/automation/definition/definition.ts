import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { rootOf } from '../../schema/model.ts';
import { type Trigger, type TriggerEvent, triggerEvents } from '../model/model.ts';
import { readActions } from './actions.ts';
import { arrayOf, at, booleanAt, excerpt, filledText, isId, optionalText, refuse } from './assertions.ts';
import { readSchedule } from './schedule.ts';

/** The fields of `_Trigger` that form a definition (triggers.md#definition). */
export const definitionFields = [
  'Name',
  'table',
  'events',
  'criteria',
  'changedFields',
  'schedule',
  'actions',
  'Active',
] as const;

/** Hidden field with the objectId of the user with whose rights a trigger acts; empty for the master. */
export const authorField = '_author';

export const MAX_NAME_LENGTH = 1_000;
const MAX_EVENTS = 1_000;
/** Length of criteria as JSON, in characters. Bounded because definitions are kept in memory. */
export const MAX_CRITERIA_LENGTH = 1_000_000;
const none: ReadonlySet<TriggerEvent> = new Set();

/**
 * Parses a definition on its own; `typecheck` checks it against the tables.
 * @param row in wire form
 * @throws invalidTrigger (107)
 */
export function readDefinition(row: JsonObject): Trigger {
  const id = at(row, 'objectId');
  if (typeof id !== 'string' || !isId(id)) refuse('objectId is not 10 letters and digits');
  const name = readName(row);
  const table = filledText(row, 'table', '', limits.nameLength);
  const events = readEvents(at(row, 'events'));
  const timing = at(row, 'schedule');
  if (timing === null && events.has('schedule')) refuse('schedule is missing');
  if (timing !== null && !events.has('schedule')) refuse('schedule is there, but events have no schedule');
  return {
    id,
    name,
    table,
    events,
    criteria: readCriteria(at(row, 'criteria')),
    changedFields: readChangedFields(at(row, 'changedFields')),
    schedule: timing === null ? null : readSchedule(timing),
    actions: readActions(at(row, 'actions')),
    isActive: booleanAt(row, 'Active', '', true),
    author: authorOf(row),
  };
}

/**
 * Parses a stored row of `_Trigger`, whatever wrote it. A row that is not a valid definition becomes an inactive trigger. Never throws.
 * @param row in wire form
 */
export function parseTrigger(row: JsonObject): Trigger {
  try {
    return readDefinition(row);
  } catch {
    return unreadable(row);
  }
}

/** Returns what can be read of an invalid definition, as an inactive trigger. */
function unreadable(row: JsonObject): Trigger {
  const textOf = (key: string): string | null => {
    const value = at(row, key);
    return typeof value === 'string' ? value : null;
  };
  return {
    id: textOf('objectId') ?? '',
    name: textOf('Name'),
    table: textOf('table') ?? '',
    events: none,
    criteria: null,
    changedFields: [],
    schedule: null,
    actions: [],
    isActive: false,
    author: authorOf(row),
  };
}

/** Returns the length of a definition as JSON, in characters. @param row in wire form; other fields do not count */
export function sizeOf(row: JsonObject): number {
  return definitionFields.reduce((sum, name) => sum + JSON.stringify(at(row, name)).length, 0);
}

function authorOf(row: JsonObject): string | null {
  const author = at(row, authorField);
  return typeof author === 'string' ? author : null;
}

/** @throws invalidTrigger (107) */
export function readName(row: JsonObject): string | null {
  return optionalText(row, 'Name', '', MAX_NAME_LENGTH);
}

function readEvents(value: JsonValue): ReadonlySet<TriggerEvent> {
  const events = new Set<TriggerEvent>();
  for (const [index, event] of arrayOf(value, 'events', MAX_EVENTS).entries()) {
    const known = triggerEvents.find((each) => each === event);
    events.add(known ?? refuse(`events[${index}] is unknown: ${excerpt(textOf(event))}`));
  }
  return events.size > 0 ? events : refuse('events are empty');
}

function readCriteria(value: JsonValue): JsonObject | null {
  if (value === null) return null;
  if (!isJsonObject(value)) refuse('criteria are not an object');
  if (JSON.stringify(value).length > MAX_CRITERIA_LENGTH)
    refuse(`criteria are longer than ${MAX_CRITERIA_LENGTH.toLocaleString('en')} characters`);
  return Object.keys(value).length > 0 ? value : null;
}

/** A path inside a field stands for the whole field. */
function readChangedFields(value: JsonValue): readonly string[] {
  if (value === null) return [];
  const names = arrayOf(value, 'changedFields', limits.fieldsPerTable).map((name, index) =>
    typeof name === 'string' && name !== '' ? rootOf(name) : refuse(`changedFields[${index}] is not a name`),
  );
  return [...new Set(names)];
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));
