import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Field, FieldType, Schema, TableSchema } from '../../schema/model.ts';
import type { Assignment, Mutation } from '../../storage/port.ts';
import { storedFileName } from '../../values/file.ts';
import type { RecordContext } from '../context.ts';

/** A file that a record is to hold. */
export interface HeldFile {
  /** As the upload answered it. */
  readonly name: string;
  /** Of the field. */
  readonly type: 'File' | 'PrivateFile';
}

/** A File object of a body. */
export interface NamedFile {
  readonly field: string;
  /** What the client sent for its name. */
  readonly name: string;
  /** What the client sent for its address; may be anything. */
  readonly url: JsonValue | undefined;
}

/** A write of one record, before it is planned. */
export interface FileWrite {
  readonly className: string;
  readonly objectId: string;
  /** One at least. */
  readonly files: readonly NamedFile[];
}

/** Who knows the stored files. `app.ts` hands it to the records, which know nobody above them. SPEC "Files" rule 5. */
export interface FileKeeper {
  /**
   * Looks at the files that a body names before the write is planned: uploads that went past the service are noted, and a private file is
   * for who may read it. Asked where there are any and the caller may write such records.
   * @returns fields to be left as they are: they hold a file already that the caller could not attach, or that is deleted, and clients
   *   send whole forms
   * @throws unknownFile (1)
   */
  prepare(context: RecordContext, write: FileWrite): Promise<ReadonlySet<string>>;
  /**
   * Steps of the record's own commit, before the record's, which fail where a file is not there. Pure.
   * @param files one at least
   * @throws unknownFile (1) for a name that no upload has; the steps fail with it too
   */
  attach(schema: Schema, files: readonly HeldFile[]): readonly Mutation[];
}

/**
 * The File objects of a body that its fields would hold. Those at places inside Objects and Arrays are plain JSON; those for fields of
 * another type are told of when the write is planned.
 * @param table `undefined` where there is none yet
 */
export function namedFiles(fields: JsonObject, table: TableSchema | undefined): readonly NamedFile[] {
  const found: NamedFile[] = [];
  for (const field of Object.keys(fields)) {
    const sent = fields[field] as JsonValue;
    if (typeof sent !== 'object' || sent === null || field.includes('.')) continue;
    const file = fileOf(sent);
    if (file && isFor(table?.fields.get(field))) found.push({ field, name: file.name, url: own(file, 'url') });
  }
  return found;
}

/** SPEC "Field operators on update": of all operators only SetOnInsert brings a value as it is. */
function fileOf(sent: JsonValue): (JsonObject & { readonly name: string }) | null {
  if (!isJsonObject(sent)) return null;
  const value = own(sent, '__op') === 'SetOnInsert' ? own(sent, 'amount') : sent;
  const isFile = isJsonObject(value) && own(value, '__type') === 'File' && typeof own(value, 'name') === 'string';
  return isFile ? (value as JsonObject & { readonly name: string }) : null;
}

const isFileType = (type: FieldType): type is HeldFile['type'] => type === 'File' || type === 'PrivateFile';

/** A field that is new becomes a File. */
const isFor = (field: Field | undefined): boolean => field === undefined || isFileType(field.type);

/** The steps of a plan that attach what the record is to hold. @throws unknownFile (1) */
export function attachments({ hooks }: RecordContext, schema: Schema, assignments: Iterable<Assignment>): readonly Mutation[] {
  let held: HeldFile[] | undefined;
  for (const assignment of assignments) {
    const { kind, field } = assignment;
    if (!isFileType(field.type) || kind !== 'set' || assignment.value === null) continue;
    held ??= [];
    held.push({ name: storedFileName(assignment.value as string), type: field.type });
  }
  return held ? hooks.files.attach(schema, held) : [];
}
