import { z } from 'zod';
import { OperatorError } from '../../kernel/operator-error.ts';
import { applyChanges, emptySchema, type SchemaChange } from '../../schema/change.ts';
import { type FieldType, fieldTypes, optionsOf, type Schema, type TableSchema, uniqueForms } from '../../schema/model.ts';
import { SCHEMA_NAME } from './manifest.ts';

/** Names of tables and fields, including those of the service. They are always quoted in SQL. */
const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/);
const grants = z.record(z.string(), z.union([z.boolean(), z.array(z.string())]));
const action = grants.optional();

const field = z
  .object({
    name,
    type: z.enum(fieldTypes),
    targetClass: name.optional(),
    required: z.literal(true).optional(),
    defaultValue: z.json().optional(),
  })
  .refine(({ type, targetClass }) => (type === 'Pointer' || type === 'Relation') === (targetClass !== undefined));

const permissions = z.object({
  find: action,
  get: action,
  count: action,
  create: action,
  update: action,
  delete: action,
  addField: action,
  protectedFields: z.record(z.string(), z.array(z.string())).optional(),
  readUserFields: z.array(z.string()).optional(),
  writeUserFields: z.array(z.string()).optional(),
});

const keys = z.array(z.tuple([name, z.union([z.literal(1), z.literal(-1)])]));
const settings = z.record(z.string(), z.unknown());

const change = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('createTable'), className: name, fields: z.array(field) }),
  z.object({ kind: z.literal('setPermissions'), className: name, permissions }),
  z.object({
    kind: z.literal('setTimeline'),
    className: name,
    timeline: z.object({ displayFields: settings, index: settings }),
  }),
  z.object({ kind: z.literal('setCopied'), className: name }),
  z.object({ kind: z.literal('setIndex'), className: name, index: z.object({ name: z.string().min(1).max(200), keys }) }),
  z.object({
    kind: z.literal('setUniqueIndex'),
    className: name,
    index: z.object({
      name: z.string().min(1).max(200),
      fields: z.array(name).min(1),
      as: z.enum(uniqueForms).exclude(['text']).optional(),
    }),
  }),
  z.object({ kind: z.literal('setTextIndex'), className: name, fields: z.array(name) }),
  z.object({
    kind: z.literal('setFormerNames'),
    className: name,
    names: z.array(z.tuple([name, name])),
    logged: z.array(z.tuple([name, z.array(name)])),
  }),
  // `version` is the one that a process must know, which versions before `reached` compare with their own.
  z
    .object({ kind: z.literal('setTemplateVersion'), version: z.int().nonnegative(), reached: z.int().nonnegative().optional() })
    .transform(({ kind, version, reached }) => ({
      kind,
      version: reached ?? version,
      ...(reached !== undefined && { required: version }),
    })),
]);

/** Serialises a schema as the changes that create it (`changesTo`). */
export function schemaText(changes: readonly SchemaChange[]): string {
  return JSON.stringify(changes.map(withoutColumns));
}

/** Returns a change as it is written: without column names, which are specific to an engine. */
function withoutColumns(one: SchemaChange): object {
  if (one.kind === 'setTemplateVersion') {
    const { kind, version, required = version } = one;
    return { kind, version: required, ...(required !== version && { reached: version }) };
  }
  if (one.kind !== 'createTable') return one;
  const fields = (one.fields ?? []).map(({ name: fieldName, type, targetClass, ...options }) => ({
    name: fieldName,
    type,
    ...(targetClass !== undefined && { targetClass }),
    ...optionsOf(options),
  }));
  return { ...one, fields };
}

/** A parsed schema. */
export interface SchemaPart {
  readonly changes: readonly SchemaChange[];
  /** The result of applying the changes to an empty schema. */
  readonly schema: Schema;
}

/** Parses a schema. @throws OperatorError if it is invalid */
export function readSchema(text: string): SchemaPart {
  try {
    const changes = z.array(change).parse(JSON.parse(text)) as SchemaChange[];
    const schema = applyChanges(emptySchema, changes);
    for (const table of schema.tables.values()) checkIndexes(table);
    return { changes, schema };
  } catch (error) {
    throw new OperatorError(`${SCHEMA_NAME} makes no schema of this version of the service`, { cause: error });
  }
}

const texts: ReadonlySet<FieldType | undefined> = new Set(['String', 'HTML/XML'] as const);

/** Checks that indexed fields exist and can be indexed. @throws Error */
function checkIndexes({ className, fields, indexes, uniqueIndexes, textIndex }: TableSchema): void {
  const indexed = [
    ...[...indexes.values()].flatMap((index) => index.keys.map(([key]) => key)),
    ...[...uniqueIndexes.values()].flatMap((index) => index.fields),
  ];
  for (const key of [...indexed, ...textIndex]) {
    const type = fields.get(key)?.type;
    if (type === undefined || type === 'Relation') throw new Error(`an index of ${className} has no field ${key}`);
  }
  for (const key of textIndex)
    if (!texts.has(fields.get(key)?.type)) throw new Error(`the text index of ${className} has ${key}, which is no text`);
}

/** Indexes are cheaper to build when the rows are present. */
const isLate = ({ kind }: SchemaChange): boolean => kind === 'setIndex' || kind === 'setUniqueIndex' || kind === 'setTextIndex';

/** Splits changes into those before and after adding rows. */
export function inTwoSteps(changes: readonly SchemaChange[]): { before: SchemaChange[]; after: SchemaChange[] } {
  return { before: changes.filter((one) => !isLate(one)), after: changes.filter(isLate) };
}
