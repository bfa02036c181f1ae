import { ServiceError } from '../../../errors/fail.ts';
import { type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { fieldTypes, type Schema } from '../../../schema/model.ts';
import { advise } from '../../errors/advice.ts';
import { badArguments } from '../records.ts';

/** Fields of one call: an answer names them all. */
export const MOST_FIELDS = 200;
export const MOST_LABEL = 200;

/** Fields as a tool is sent them: `[{name, type, targetClass?, label?}]`. */
export interface SentFields {
  /** As `fields` of POST schemas. */
  readonly definitions: JsonObject;
  /** By field; those that are sent. */
  readonly labels: ReadonlyMap<string, string>;
}

const keys: ReadonlySet<string> = new Set(['name', 'type', 'targetClass', 'label']);

/** @throws invalidArguments (107) for a form that is another, or a name that comes twice; types are looked at by the schema's own rules */
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
    definitions.set(name, { type: textOf(own(item, 'type'), `${place}.type`), ...(isTarget && { targetClass }) });
    const label = own(item, 'label');
    if (label !== undefined && label !== null) labels.set(name, labelOf(label, `${place}.label`));
  });
  return { definitions: Object.fromEntries(definitions), labels };
}

const wrong = (why: string): never => badArguments(why, { expected: 'fields: [{name, type, targetClass?, label?}]' });

const textOf = (value: JsonValue | undefined, place: string): string =>
  typeof value === 'string' && value !== '' ? value : wrong(`${place} must be a text`);

/** A label that was sent. @throws invalidArguments (107) */
export function labelOf(value: JsonValue | undefined, place: string): string {
  if (typeof value !== 'string') return badArguments(`${place} must be a text`);
  return value.length <= MOST_LABEL ? value : badArguments(`${place} must have at most ${MOST_LABEL} characters`);
}

/** Pointers and Relations to tables that there are not yet: their names may be misspelt. */
export function missingTargets({ tables }: Schema, definitions: JsonObject): string[] {
  return Object.entries(definitions).flatMap(([name, definition]) => {
    const target = (definition as JsonObject).targetClass;
    if (typeof target !== 'string' || tables.has(target)) return [];
    return [`${name} points at ${target}, a table that there is not yet`];
  });
}

const kinds = fieldTypes.filter((type) => type !== 'ACL').join(', ');

/** Does a change of a schema; its refusals come with what tools of schemas know. */
export async function withSchemaAdvice<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.key === 'invalidFieldType') throw advise(error, { expected: `A type is one of ${kinds}` });
    if (error.key === 'classExists') throw advise(error, { expected: 'Add what it lacks', next: 'Add-Fields' });
    if (error.key === 'missingClassName')
      throw advise(error, {
        expected: 'A Pointer or Relation takes targetClass, the table that it points at',
        next: 'Get-Schema',
      });
    if (error.key === 'fieldCannotBeAdded')
      throw advise(error, {
        expected: 'Every table has objectId, createdAt, updatedAt, ACL, createdBy, updatedBy',
        next: 'Get-Schema',
      });
    if (error.key === 'schemaOperation')
      throw advise(error, { expected: 'A type can never be changed: take another name', next: 'Get-Schema' });
    throw error;
  }
}
