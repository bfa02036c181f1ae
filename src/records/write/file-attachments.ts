import type { Principal } from '../../access/index.ts';
import { errorOfItem } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { type Field, isFileType, type Schema, type TableSchema } from '../../schema/model.ts';
import type { Assignment, Mutation } from '../../storage/port.ts';
import { storedFileName } from '../../values/types/file.ts';
import type { RecordContext } from '../context/context.ts';
import type { HeldFile, NamedFile, ResolvedFiles } from '../context/file-keeper.ts';

/** No files were resolved. */
export const noResolvedFiles: ResolvedFiles = { kept: new Set(), granted: new Set() };

/** The parts of a write of one record that concern files. */
export interface FieldsWrite {
  readonly className: string;
  readonly objectId: string;
  /** What the client sent, without flags. */
  readonly fields: JsonObject;
}

/**
 * Resolves the files of records whose commit refused a file.
 * @returns one result per record
 * @throws unknownFile (1) if a file cannot be attached, with the position of its record
 */
export async function resolveFiles(context: RecordContext, writes: readonly FieldsWrite[]): Promise<readonly ResolvedFiles[]> {
  const asking = { ...context, principal: attacherOf(context) };
  const resolved: ResolvedFiles[] = [];
  for (const { className, objectId, fields } of writes) {
    const files = namedFiles(fields, context.store.schema().tables.get(className));
    if (files.length === 0) {
      resolved.push(noResolvedFiles);
      continue;
    }
    try {
      resolved.push(await context.hooks.files.resolve(asking, { className, objectId, files }));
    } catch (error) {
      throw errorOfItem(error, resolved.length);
    }
  }
  return resolved;
}

/** Returns the principal whose rights to files count. */
const attacherOf = ({ attacher, principal }: RecordContext): Principal => attacher ?? principal;

/**
 * Returns the File objects of a body that its fields would hold. Those at places inside Objects and Arrays are plain JSON; those for fields of
 * another type are refused when the write is planned.
 * @param table `undefined` if it does not exist yet
 */
function namedFiles(fields: JsonObject, table: TableSchema | undefined): readonly NamedFile[] {
  const found: NamedFile[] = [];
  for (const field of Object.keys(fields)) {
    const sent = fields[field] as JsonValue;
    if (typeof sent !== 'object' || sent === null || field.includes('.')) continue;
    const file = fileOf(sent);
    if (file && isFor(table?.fields.get(field))) found.push({ field, name: file.name, url: own(file, 'url') });
  }
  return found;
}

/** Of all operators only SetOnInsert brings a value unchanged (records.md#field-operators). */
function fileOf(sent: JsonValue): (JsonObject & { readonly name: string }) | null {
  if (!isJsonObject(sent)) return null;
  const value = own(sent, '__op') === 'SetOnInsert' ? own(sent, 'amount') : sent;
  const isFile = isJsonObject(value) && own(value, '__type') === 'File' && typeof own(value, 'name') === 'string';
  return isFile ? (value as JsonObject & { readonly name: string }) : null;
}

/** A new field becomes a File. */
const isFor = (field: Field | undefined): boolean => field === undefined || isFileType(field.type);

/** Returns the steps that attach the files of a plan. @throws unknownFile (1) */
export function attachments(
  context: RecordContext,
  schema: Schema,
  assignments: Iterable<Assignment>,
  { granted }: ResolvedFiles,
): readonly Mutation[] {
  let held: HeldFile[] | undefined;
  for (const assignment of assignments) {
    const { kind, field } = assignment;
    if (!isFileType(field.type) || kind !== 'set' || assignment.value === null) continue;
    held ??= [];
    held.push({ name: storedFileName(assignment.value as string), type: field.type });
  }
  return held ? context.hooks.files.attach(schema, attacherOf(context), held, granted) : [];
}
