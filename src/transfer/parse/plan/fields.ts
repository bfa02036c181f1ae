import { ServiceError } from '../../../errors/fail.ts';
import { limits } from '../../../kernel/limits.ts';
import type { NewField } from '../../../schema/change.ts';
import { defaultFields } from '../../../schema/defaults.ts';
import { checkClassName, checkFieldName, type FieldType, fieldTypes, type TableSchema, typeText } from '../../../schema/model.ts';
import { fixedType, isDescribed } from '../../../schema/system-tables.ts';
import type { ParseClass, ParseField } from '../source/source.ts';

/** Types that do not exist here; their values are stored as Objects. */
const asObjects: ReadonlySet<string> = new Set(['GeoPoint', 'Bytes', 'Polygon']);
const known: ReadonlySet<string> = new Set(fieldTypes);

/** The fields of a class, mapped to its table. */
export interface PlannedFields {
  /** Fields by source name, as they are in the table, including Relations. */
  readonly fields: ReadonlyMap<string, NewField>;
  /** Fields to be added to the table. */
  readonly added: readonly NewField[];
  /** Fields stored as Objects, with their original types. */
  readonly asObjects: ReadonlyMap<string, string>;
  /** Fields that are not imported, with reasons. */
  readonly leftOut: readonly string[];
  /** Reasons why the class cannot be imported. */
  readonly refusals: readonly string[];
}

/** Fields of `_User` that are handled separately. */
const notFields: ReadonlySet<string> = new Set(['password', 'authData', 'sessionToken']);
/** Fields that confer rights here, whereas users of the source may write them freely. */
const rightsOfUsers: ReadonlySet<string> = new Set(['mcpPermissions']);

/** Fields of Parse Server's own classes that its schema may omit. */
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

/** Maps the fields of a class to its table. @param table `undefined` if it does not exist yet */
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

/** Pairs of source and target types that are compatible without being equal. */
const compatible: ReadonlySet<string> = new Set(['String HTML/XML', 'File PrivateFile']);

function clashOf(className: string, wanted: NewField, found: NewField): string | null {
  if (!isDescribed(className, found.name)) return `${className}.${wanted.name} is a field that this service keeps`;
  const isSame = wanted.type === found.type && wanted.targetClass === found.targetClass;
  if (isSame || compatible.has(`${wanted.type} ${found.type}`)) return null;
  const [there, here] = [wanted, found].map(({ type, targetClass }) => typeText(type, targetClass));
  return `${className}.${wanted.name} is ${there} in the source and ${here} here`;
}

function obstacleTo(className: string, { name, type, targetClass }: NewField): string | null {
  const onlyType = fixedType(className, name);
  if (onlyType !== undefined && onlyType !== type)
    return `${className}.${name} is ${type} in the source and can only be ${onlyType} here`;
  return refusedBy(() => {
    checkFieldName(name);
    if (targetClass !== undefined) checkClassName(targetClass);
  }, `${className}.${name}`);
}

/** Returns the error of a check as text; `null` if it passes. */
export function refusedBy(check: () => void, what: string): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return `${what}: ${error.message}`;
    throw error;
  }
}
