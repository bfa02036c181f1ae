import { newObjectId } from '../../kernel/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { badArguments } from '../refusals.ts';
import { mapTexts } from '../wire/short-text.ts';
import { isScriptUrl } from './urls.ts';

const ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Recursion limit. Pages have a lower limit, checked later. */
const MAX_LEVELS = 50;

/**
 * Validates a sent component and assigns an `_id` wherever one is missing.
 * @param taken ids of the page; those of the component are added
 * @throws invalidArguments (107)
 */
export function newComponent(sent: JsonValue, place: string, taken: Set<string>, level = 0): JsonObject {
  if (!isJsonObject(sent)) return badArguments(`${place} must be an object`);
  if (level > MAX_LEVELS) badArguments(`${place} is nested too deep`);
  const { _id: _sent, children, ...others } = sent;
  const type = own(sent, 'type');
  if (typeof type !== 'string' || type === '' || type.length > 100) badArguments(`${place}.type must be a text`);
  checkUrls(others, place);
  const _id = idFor(own(sent, '_id'), place, taken);
  if (children === undefined) return { _id, ...others };
  if (!Array.isArray(children)) return badArguments(`${place}.children must be a list of components`);
  const inner = children.map((child, index) => newComponent(child, `${place}.children[${index}]`, taken, level + 1));
  return { _id, ...others, children: inner };
}

function idFor(sent: JsonValue | undefined, place: string, taken: Set<string>): string {
  if (sent !== undefined && (typeof sent !== 'string' || !ID.test(sent)))
    badArguments(`${place}._id must have 1 to 64 letters, digits, _ or -`);
  const id = sent === undefined ? newObjectId() : String(sent);
  if (taken.has(id)) badArguments(`${place}._id: the page has a component ${id}`);
  taken.add(id);
  return id;
}

const urlKey = /(?:url|href|link|src|action)$/i;

/** Refuses addresses that a browser would execute as a script. @throws invalidArguments (107) */
export function checkUrls(value: JsonValue, place: string): void {
  mapTexts(value, (text, key) => {
    if (urlKey.test(key) && isScriptUrl(text)) badArguments(`${place}: ${key.slice(0, 100)} must not be a script`);
    return text;
  });
}
