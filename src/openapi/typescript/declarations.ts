import type { DescribedField, DescribedTable } from '../model/table.ts';
import { isWriteOnly } from '../model/table.ts';
import { typesOf } from './fields.ts';
import { prelude } from './prelude.ts';
import { commentText, literal, propertyName, templateText } from './text.ts';

/**
 * Returns the declarations of tables as one TypeScript file without imports. Reference: openapi.md#typescript-types.
 * @param tables in the order of the file
 * @param source what the first line names
 */
export function declarationsOf(tables: readonly DescribedTable[], source: string): string {
  const names = new Map(tables.map((table) => [table.className, table.identifier]));
  return [
    `// Types of ${commentText(source)}. Made by record-service types: do not edit.\n`,
    ...tables.map((table) => tableTypes(table, names)),
    schemaType(tables),
    prelude,
  ].join('\n');
}

function tableTypes(table: DescribedTable, names: ReadonlyMap<string, string>): string {
  const { className, identifier, fields } = table;
  const readable = fields.filter(({ name }) => !isWriteOnly(className, name));
  const about = table.label === undefined ? '' : `: ${commentText(table.label)}`;
  const through = readable
    .filter(({ type, target }) => type === 'Pointer' && target !== undefined && names.has(target))
    .map(({ name, target }) => `,\n    Through<${literal(name)}, ${names.get(target as string)}Conditions>`)
    .join('');
  return [
    `/** A record of \`${commentText(className)}\`${about}. */`,
    `export interface ${identifier}Record extends SystemFields {`,
    ...readable.map((field) => property(field, isAlwaysThere(field) ? '' : '?', typesOf(field).read)),
    '}',
    `/** Creates a record of \`${commentText(className)}\`. */`,
    `export interface ${identifier}Create extends WriteFlags {`,
    '  /** Counts under a key alone. */\n  objectId?: string;\n  ACL?: Acl;',
    ...fields.map((field) => property(field, mustBeSent(field) ? '' : '?', createType(field))),
    '}',
    `/** Changes a record of \`${commentText(className)}\`. */`,
    `export interface ${identifier}Update extends WriteFlags {`,
    '  ACL?: Change<Acl>;',
    ...fields.map((field) => property(field, '?', updateType(field))),
    ...places(fields, ['Object', 'Array'], 'PlaceChange'),
    '}',
    `export interface ${identifier}Conditions extends ConditionsOfSystemFields {`,
    ...readable.map((field) => property(field, '?', typesOf(field).condition)),
    '}',
    `/** Which records of \`${commentText(className)}\` to find. */`,
    `export interface ${identifier}Where\n  extends ${identifier}Conditions,\n    Logical<${identifier}Where>${through} {`,
    ...places(readable, ['Object', 'Array', 'File', 'PrivateFile'], 'PlaceCondition'),
    ...deeperNames(readable),
    '}\n',
  ].join('\n');
}

/** Relations have no absent value, and required fields no record without one. */
const isAlwaysThere = ({ type, isRequired }: DescribedField): boolean => type === 'Relation' || isRequired;

const mustBeSent = ({ isRequired, defaultValue }: DescribedField): boolean => isRequired && defaultValue === undefined;

function createType(field: DescribedField): string {
  const { write } = typesOf(field);
  return field.isRequired ? write : `${write} | null`;
}

/** A required field cannot be cleared. */
function updateType(field: DescribedField): string {
  const { change } = typesOf(field);
  return field.isRequired ? `Exclude<${change}, null | Delete>` : change;
}

function property(field: DescribedField, mark: '' | '?', type: string): string {
  const about = aboutField(field);
  const comment = about === '' ? '' : `  /** ${about} */\n`;
  return `${comment}  ${propertyName(field.name)}${mark}: ${type};`;
}

function aboutField({ label, defaultValue }: DescribedField): string {
  const parts = label === undefined ? [] : [commentText(label)];
  if (defaultValue !== undefined) parts.push(`@default ${commentText(JSON.stringify(defaultValue))}`);
  return parts.join(' ');
}

/** Dotted names that lead into the values of fields: `Details.Floor`. */
function places(fields: readonly DescribedField[], types: readonly string[], type: string): string[] {
  const within = fields.filter((field) => types.includes(field.type));
  return within.map(({ name }) => `  [place: \`${templateText(name)}.\${string}\`]: ${type};`);
}

/** Dotted names through two Pointers or more are not checked further. */
function deeperNames(fields: readonly DescribedField[]): string[] {
  const pointers = [...fields.filter(({ type }) => type === 'Pointer').map(({ name }) => name), 'createdBy', 'updatedBy'];
  return pointers.map((name) => `  [path: \`${templateText(name)}.\${string}.\${string}\`]: unknown;`);
}

function schemaType(tables: readonly DescribedTable[]): string {
  const members = tables.map(({ className, identifier }) => {
    const of = (kind: string) => `${kind.toLowerCase()}: ${identifier}${kind}`;
    return `  ${propertyName(className)}: { ${['Record', 'Create', 'Update', 'Where'].map(of).join('; ')} };`;
  });
  return ['/** The tables of the system, by name. */', 'export interface Schema {', ...members, '}\n'].join('\n');
}
