import { type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Schema } from '../../schema/model.ts';
import { badArguments } from '../refusals.ts';

/** Maximum number of fields per call, since the answer lists them all. */
export const MAX_FIELDS = 200;
export const MAX_LABEL_LENGTH = 200;

/** Parsed form of `[{name, type, targetClass?, label?, required?, defaultValue?}]`. */
export interface SentFields {
  /** The member `fields` of a request to the schema endpoints. */
  readonly definitions: JsonObject;
  /** By field, if a label was sent. */
  readonly labels: ReadonlyMap<string, string>;
}

const keys: ReadonlySet<string> = new Set(['name', 'type', 'targetClass', 'label', 'required', 'defaultValue']);

/** Parses fields. Types are validated by the schema layer. @throws invalidArguments (107) for a malformed item or a duplicate name */
export function readFields(sent: readonly JsonObject[]): SentFields {
  const definitions = new Map<string, JsonObject>();
  const labels = new Map<string, string>();
  sent.forEach((item, index) => {
    const place = `fields[${index}]`;
    const unknown = Object.keys(item).find((key) => !keys.has(key));
    if (unknown !== undefined) wrong(`${place} ${unknown.slice(0, 100)} is unknown`);
    const name = textOf(own(item, 'name'), `${place}.name`);
    if (definitions.has(name)) wrong(`${place} ${name.slice(0, 128)} comes twice`);
    const targetClass = own(item, 'targetClass');
    const isTarget = targetClass !== undefined && targetClass !== null;
    definitions.set(name, {
      type: textOf(own(item, 'type'), `${place}.type`),
      ...(isTarget && { targetClass }),
      ...optionsOf(item),
    });
    const label = own(item, 'label');
    if (label !== undefined && label !== null) labels.set(name, labelOf(label, `${place}.label`));
  });
  return { definitions: Object.fromEntries(definitions), labels };
}

function optionsOf(item: JsonObject): JsonObject {
  const [required, defaultValue] = [own(item, 'required'), own(item, 'defaultValue')];
  return { ...(required !== undefined && { required }), ...(defaultValue !== undefined && { defaultValue }) };
}

const wrong = (why: string): never =>
  badArguments(why, { expected: 'fields: [{name, type, targetClass?, label?, required?, defaultValue?}]' });

const textOf = (value: JsonValue | undefined, place: string): string =>
  typeof value === 'string' && value !== '' ? value : wrong(`${place} must be a text`);

/** Returns a label that was sent. @throws invalidArguments (107) */
export function labelOf(value: JsonValue | undefined, place: string): string {
  if (typeof value !== 'string') return badArguments(`${place} must be a text`);
  return value.length <= MAX_LABEL_LENGTH ? value : badArguments(`${place} must have at most ${MAX_LABEL_LENGTH} characters`);
}

/** Returns warnings about Pointers and Relations to tables that do not exist: a name may be misspelt. */
export function missingTargets({ tables }: Schema, definitions: JsonObject): string[] {
  return Object.entries(definitions).flatMap(([name, definition]) => {
    const target = (definition as JsonObject).targetClass;
    if (typeof target !== 'string' || tables.has(target)) return [];
    return [`${name} points at ${target}, a table that there is not yet`];
  });
}
