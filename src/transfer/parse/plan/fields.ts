import { ServiceError } from '../../../errors/fail.ts';
import { limits } from '../../../kernel/limits.ts';
import type { NewField } from '../../../schema/change.ts';
import { defaultFields } from '../../../schema/defaults.ts';
import { checkClassName, checkFieldName, type FieldType, fieldTypes, type TableSchema, typeText } from '../../../schema/model.ts';
import { fixedType, isDescribed } from '../../../schema/system-tables.ts';
import type { ParseClass, ParseField } from '../source/source.ts';

/** Types that have none of their own here: their values are kept as Objects. */
const asObjects: ReadonlySet<string> = new Set(['GeoPoint', 'Bytes', 'Polygon']);
const known: ReadonlySet<string> = new Set(fieldTypes);

/** How a class's fields lie in its table. */
export interface PlannedFields {
  /** Those of the source by name, as they are in the table, Relations too. */
  readonly fields: ReadonlyMap<string, NewField>;
  /** Those that the table lacks. */
  readonly added: readonly NewField[];
  /** Kept as Objects: names, and the types that they had. */
  readonly asObjects: ReadonlyMap<string, string>;
  /** Left out, and why. */
  readonly leftOut: readonly string[];
  /** Why the class cannot be taken over. */
  readonly refusals: readonly string[];
}

/** Fields of `_User` that have another place here. */
const notFields: ReadonlySet<string> = new Set(['password', 'authData', 'sessionToken']);
/** Those that give rights here: in the source users may write what they like into them. */
const rightsOfUsers: ReadonlySet<string> = new Set(['mcpPermissions']);

/** Fields that Parse Server's own classes have, whatever the schema says. */
const ownToClass: ReadonlyMap<string, readonly NewField[]> = new Map([
  [
    '_Role',
    [
      { name: 'name', type: 'String' },
      { name: 'users', type: 'Relation', targetClass: '_User' },
      { name: 'roles', type: 'Relation', targetClass: '_Role' },
    ],
  ],
]);

/** Finds the fields of a class in its table, and those that it lacks. @param table `undefined`: there is none yet */
export function planFields(parseClass: ParseClass, table: TableSchema | undefined): PlannedFields {
  const { className } = parseClass;
  const fields = new Map<string, NewField>();
  const added: NewField[] = [];
  const objects = new Map<string, string>();
  const leftOut: string[] = [];
  const refusals: string[] = [];
  const take = (wanted: NewField) => {
    const found = table?.fields.get(wanted.name) ?? defaultFields.get(wanted.name);
    const reason = found ? clashOf(className, wanted, found) : obstacleTo(className, wanted);
    if (reason !== null) refusals.push(reason);
    fields.set(wanted.name, found ?? wanted);
    if (!found) added.push(wanted);
  };
  for (const [name, field] of parseClass.fields) {
    if (className === '_User' && notFields.has(name)) continue;
    const type = typeOf(field);
    if (className === '_User' && rightsOfUsers.has(name)) {
      leftOut.push(`${className}.${name}, which gives rights here`);
      continue;
    }
    if (type === null) {
      leftOut.push(`${className}.${name} of type ${field.type}`);
      continue;
    }
    if (asObjects.has(field.type)) objects.set(name, field.type);
    for (const option of field.options) leftOut.push(`${option} of ${className}.${name}`);
    const { targetClass } = field;
    if (isTargeted(type) && targetClass === undefined) leftOut.push(`${className}.${name}, which does not tell its class`);
    else take({ name, type, ...(isTargeted(type) && targetClass !== undefined && { targetClass }) });
  }
  for (const field of ownToClass.get(className) ?? []) if (!fields.has(field.name)) take(field);
  if ((table?.fields.size ?? defaultFields.size) + added.length > limits.fieldsPerTable)
    refusals.push(`${className} has more than ${limits.fieldsPerTable} fields`);
  return { fields, added, asObjects: objects, leftOut, refusals };
}

const isTargeted = (type: FieldType) => type === 'Pointer' || type === 'Relation';

function typeOf({ type }: ParseField): FieldType | null {
  if (asObjects.has(type)) return 'Object';
  return known.has(type) ? (type as FieldType) : null;
}

/** Types that take over what the source has, without being the same. */
const alike: ReadonlySet<string> = new Set(['String HTML/XML', 'File PrivateFile']);

function clashOf(className: string, wanted: NewField, found: NewField): string | null {
  if (!isDescribed(className, found.name)) return `${className}.${wanted.name} is a field that this service keeps`;
  const isSame = wanted.type === found.type && wanted.targetClass === found.targetClass;
  if (isSame || alike.has(`${wanted.type} ${found.type}`)) return null;
  const [there, here] = [wanted, found].map(({ type, targetClass }) => typeText(type, targetClass));
  return `${className}.${wanted.name} is ${there} in the source and ${here} here`;
}

function obstacleTo(className: string, { name, type, targetClass }: NewField): string | null {
  const settled = fixedType(className, name);
  if (settled !== undefined && settled !== type)
    return `${className}.${name} is ${type} in the source and can only be ${settled} here`;
  return refusedBy(() => {
    checkFieldName(name);
    if (targetClass !== undefined) checkClassName(targetClass);
  }, `${className}.${name}`);
}

/** What a rule says against a name; `null` for nothing. */
export function refusedBy(check: () => void, what: string): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return `${what}: ${error.message}`;
    throw error;
  }
}
