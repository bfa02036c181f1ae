import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { checkFieldName, rootOf } from '../../schema/model.ts';
import { checkPath } from '../../values/index.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { Action, ActionData, ActionType, Template } from '../model/model.ts';
import { arrayOf, at, booleanAt, excerpt, filledText, objectOf, optionalText, refuse, textAt } from './assertions.ts';

export const MAX_ACTIONS = 100;
/** Length of all actions together as JSON, in characters. Bounded because definitions are kept in memory. */
export const MAX_ACTIONS_LENGTH = 5_000_000;
export const MAX_ADDRESSES_LENGTH = 10_000;
export const MAX_SUBJECT_LENGTH = 1_000;
export const MAX_HTML_LENGTH = 1_000_000;
export const MAX_CONTENT_LENGTH = 10_000;
export const MAX_ICON_LENGTH = 2_000;

/** Action ids: 10 characters. */
const actionId = /^[0-9A-Za-z_-]{10}$/;

/** @param place path of `actionData` for messages, with a trailing dot */
type Reader<Type extends ActionType> = (data: JsonObject, place: string) => ActionData[Type];

/** The keys of the `actionData` of an action type, and how to read them (triggers.md#actions). */
interface Form<Type extends ActionType> {
  readonly keys: readonly string[];
  readonly read: Reader<Type>;
}

const forms: { readonly [Type in ActionType]: Form<Type> } = {
  'create-object': {
    keys: ['table', 'fields'],
    read: (data, place) => ({
      table: filledText(data, 'table', place, limits.nameLength),
      fields: templatesAt(data, `${place}fields`),
    }),
  },
  'update-object': {
    keys: ['target', 'fields'],
    read: (data, place) => ({
      target: filledText(data, 'target', place, limits.nameLength),
      fields: templatesAt(data, `${place}fields`),
    }),
  },
  'e-mail': {
    keys: ['to', 'cc', 'bcc', 'subject', 'html'],
    read: (data, place) => ({
      to: filledText(withAddresses(data, 'to', place), 'to', place, MAX_ADDRESSES_LENGTH),
      cc: optionalText(withAddresses(data, 'cc', place), 'cc', place, MAX_ADDRESSES_LENGTH),
      bcc: optionalText(withAddresses(data, 'bcc', place), 'bcc', place, MAX_ADDRESSES_LENGTH),
      subject: textAt(data, 'subject', place, MAX_SUBJECT_LENGTH),
      html: textAt(data, 'html', place, MAX_HTML_LENGTH),
    }),
  },
  notification: {
    keys: ['user', 'content', 'icon'],
    read: (data, place) => ({
      ...userAt(data, place),
      content: textAt(data, 'content', place, MAX_CONTENT_LENGTH),
      icon: optionalText(data, 'icon', place, MAX_ICON_LENGTH),
    }),
  },
  'server-side-code': {
    keys: ['functionName', 'useQueue'],
    read: (data, place) => ({
      functionName: filledText(data, 'functionName', place, limits.nameLength),
      useQueue: booleanAt(data, 'useQueue', place, false),
    }),
  },
};

const isType = (type: JsonValue): type is ActionType => typeof type === 'string' && Object.hasOwn(forms, type);

/**
 * Reads the actions of a definition. Each must have its id already.
 * @throws invalidTrigger (107)
 */
export function readActions(value: JsonValue): readonly Action[] {
  const actions = arrayOf(value, 'actions', MAX_ACTIONS).map(readAction);
  if (new Set(actions.map((action) => action.id)).size < actions.length) refuse('two actions have the same _id');
  if (JSON.stringify(value).length > MAX_ACTIONS_LENGTH)
    refuse(`actions are longer than ${MAX_ACTIONS_LENGTH.toLocaleString('en')} characters`);
  return actions;
}

function readAction(value: JsonValue, index: number): Action {
  const place = `actions[${index}]`;
  const action = objectOf(value, place, ['_id', 'type', 'Active', 'actionData']);
  const _id = at(action, '_id');
  if (typeof _id !== 'string' || !actionId.test(_id)) refuse(`${place}._id is not 10 letters, digits, _ or -`);
  const type = filledText(action, 'type', `${place}.`, MAX_CONTENT_LENGTH);
  if (!isType(type)) refuse(`${place}.type is unknown: ${excerpt(type)}`);
  const isActive = booleanAt(action, 'Active', `${place}.`, true);
  const { keys, read } = forms[type];
  const data = read(objectOf(at(action, 'actionData'), `${place}.actionData`, keys), `${place}.actionData.`);
  return { id: _id, type, isActive, data } as Action;
}

/** Turns an array of addresses into the equivalent comma-separated text. */
function withAddresses(data: JsonObject, key: string, place: string): JsonObject {
  const value = at(data, key);
  if (!Array.isArray(value)) return data;
  const texts = value.map((text, index) => (typeof text === 'string' ? text : refuse(`${place}${key}[${index}] is not a text`)));
  return { [key]: texts.filter((text) => text.trim() !== '').join(', ') };
}

/** Reads the user to notify: a text, or a Pointer to `_User`. */
function userAt(data: JsonObject, place: string): Pick<ActionData['notification'], 'user' | 'isPointer'> {
  const value = at(data, 'user');
  if (!isJsonObject(value)) return { user: filledText(data, 'user', place, MAX_SUBJECT_LENGTH) };
  const pointer = pointerOf(value);
  if (pointer?.className !== '_User') refuse(`${place}user is no Pointer to _User`);
  return { user: filledText(value, 'objectId', `${place}user.`, MAX_SUBJECT_LENGTH), isPointer: true };
}

/** Reads the fields that are written into a record. Names are checked; values may be anything. */
function templatesAt(data: JsonObject, place: string): Readonly<Record<string, Template>> {
  const value = own(data, 'fields') ?? null;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(value === null ? `${place} is missing` : `${place} is not an object`);
  for (const name of Object.keys(value)) if (!isName(name)) refuse(`${place} has an invalid name: ${excerpt(name)}`);
  return value;
}

/**
 * Whether a name may be that of a field, or of a path inside one. Leading underscores are allowed, because system tables have such fields; whether
 * they exist is checked later.
 */
function isName(name: string): boolean {
  const root = rootOf(name);
  try {
    checkFieldName(root.replace(/^_+/, ''));
    if (root !== name) checkPath(name.slice(root.length + 1).split('.'));
    return true;
  } catch {
    return false;
  }
}
