import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { isDefaultField } from '../../schema/change.ts';
import { type FieldType, typeText } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { badArguments } from '../refusals.ts';

/** Types whose values can be compared as a whole, the most selective first: lookups use the first. */
export const comparable: readonly FieldType[] = ['String', 'HTML/XML', 'Number', 'Date', 'Pointer', 'Boolean'];

/**
 * Returns the `where` for records whose fields equal those of a new record.
 * @param matchOn names of fields
 * @param data the record's fields in wire form
 * @throws invalidArguments (107) for a field without a value, or of a type that is not compared as a whole
 */
export function matchOf(context: CrmContext, className: string, matchOn: readonly string[], data: JsonObject): JsonObject {
  if (matchOn.length === 0) badArguments('matchOn must name a field');
  const fields = context.store.schema().tables.get(className)?.fields;
  const entries = matchOn.map((name): [string, JsonValue] => {
    if (isOwn(name))
      badArguments(`matchOn names ${name}, which the service sets`, {
        expected: 'matchOn names fields whose values come with data',
        next: 'Update-Record',
      });
    const value = own(data, name) ?? null;
    if (value === null || value === '' || (isJsonObject(value) && Object.hasOwn(value, '__op')))
      badArguments(`matchOn names ${shown(name)}, which data has no value for`, {
        expected: 'Each field of matchOn stands in data with the value that is looked for',
      });
    const field = fields?.get(name);
    if (!field) return [name, comparedAs(name, value)];
    if (!comparable.includes(field.type))
      badArguments(`matchOn names ${shown(name)}, which is of type ${typeText(field.type, field.targetClass)}`, {
        expected: `Fields of type ${comparable.join(', ')} can be matched on`,
        next: 'Get-Schema',
      });
    // A String field stores a number as its text (types.md#string).
    const isText = field.type === 'String' || field.type === 'HTML/XML';
    return [name, typeof value === 'number' && isText ? String(value) : comparedAs(name, value)];
  });
  return Object.fromEntries(entries);
}

/** Fields set by the service: a created record would not get the sent value, so the next call would not find it. */
const isOwn = (name: string): boolean => isDefaultField(name) && name !== 'ACL';

/** Refuses values that a `where` would read as operators. @throws invalidArguments (107) */
function comparedAs(name: string, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return Array.isArray(value) ? refuse(name) : value;
  return value.__type === 'Object' ? { ...pointerIn(value) } : Object.hasOwn(value, '__type') ? value : refuse(name);
}

/** Returns the Pointer for an included record that is sent back. */
const pointerIn = ({ className = null, objectId = null }: JsonObject): JsonObject => ({
  __type: 'Pointer',
  className,
  objectId,
});

const refuse = (name: string): never => badArguments(`${shown(name)} of data is not a value that can be matched on`);

const shown = (name: string): string => name.slice(0, 100);
