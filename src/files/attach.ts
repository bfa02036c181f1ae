import { master } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { FileKeeper, FileWrite, HeldFile, NamedFile, RecordContext } from '../records/index.ts';
import type { Schema } from '../schema/model.ts';
import type { Mutation } from '../storage/port.ts';
import { attachFile, findFile } from './catalog.ts';
import { holds, placeOf } from './holder.ts';
import type { FileRow, FileSystem } from './model.ts';
import { parseFileName } from './name.ts';

/**
 * Looks whether the bytes of an awaited upload are there, and notes it.
 * @returns the file as it is then; `null` where its bytes have not come
 */
export type CompleteUpload = (system: FileSystem, file: FileRow) => Promise<FileRow | null>;

/** The files of records. SPEC "Files" rule 5, "States and transitions". */
export function fileKeeper(complete: CompleteUpload): FileKeeper {
  return {
    async prepare(context, write) {
      for (const file of write.files) await check(context, write, file, complete);
    },
    attach,
  };
}

async function check(context: RecordContext, write: FileWrite, sent: NamedFile, complete: CompleteUpload): Promise<void> {
  const { name } = sent;
  const known = await find(context, name);
  const file = known && known.size === null ? await complete(context, known) : known;
  if (!file || !(await mayHave(context, write, sent, file))) fail('unknownFile');
}

async function find({ store }: RecordContext, name: string): Promise<FileRow | null> {
  const id = parseFileName(name)?.id;
  const file = id === undefined ? null : await findFile(store, id);
  return file?.name === name ? file : null;
}

/**
 * docs/decisions.md "Files": a private file is for the session user who may read it, by the record that its address names or that he
 * writes. One that is public, too, everybody may read.
 */
async function mayHave(
  context: RecordContext,
  { className, objectId }: FileWrite,
  { field, url }: NamedFile,
  { name, isPrivate, isPublic }: FileRow,
): Promise<boolean> {
  if (context.principal.kind !== 'user' || !isPrivate || isPublic) return true;
  const named = placeOf(url, name);
  if (named && (await holds(context, named, name)) === 'yes') return true;
  // Whether he may read it or not: nothing changes.
  return (await holds({ ...context, principal: master }, { className, objectId, field }, name)) === 'yes';
}

function attach(schema: Schema, files: readonly HeldFile[]): readonly Mutation[] {
  const flags = new Map<string, { isPublic?: true; isPrivate?: true }>();
  for (const { name, type } of files)
    flags.set(name, { ...flags.get(name), ...(type === 'File' ? { isPublic: true } : { isPrivate: true }) });
  // In one order, so that two writes do not wait for each other.
  return Array.from(flags.keys())
    .sort()
    .map((name) => attachFile(schema, (parseFileName(name) ?? fail('unknownFile')).id, name, flags.get(name) ?? {}));
}
