import { holdsKey, type Principal } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { FileKeeper, HeldFile, NamedFile, RecordContext, ResolvedFiles } from '../records/index.ts';
import type { Schema } from '../schema/model.ts';
import type { Mutation } from '../storage/port.ts';
import { holds, isReferenced, recordFieldOf } from './file-access.ts';
import { attachFile, findFile } from './metadata/file-metadata.ts';
import type { FileRow, FileSystem } from './metadata/model.ts';
import { parseFileName } from './stores/name.ts';

/**
 * Checks whether the bytes of an awaited upload have arrived, and records it if so.
 * @returns the updated file; `null` if its bytes have not arrived
 */
export type CompleteUpload = (system: FileSystem, file: FileRow) => Promise<FileRow | null>;

/** Makes the part of record writes that attaches files. Reference: files.md#attach-a-file. */
export function fileKeeper(complete: CompleteUpload): FileKeeper {
  return {
    attach,
    async resolve(context, write) {
      const kept = new Set<string>();
      const granted = new Set<string>();
      for (const sent of write.files)
        if (await mayAttach(context, sent, complete)) granted.add(sent.name);
        // The value does not change, so neither the file nor a right to it is needed.
        else if (await isReferenced(context, { ...write, field: sent.field }, sent.name)) kept.add(sent.field);
        else fail('unknownFile');
      return { kept, granted };
    },
  };
}

async function mayAttach(context: RecordContext, sent: NamedFile, complete: CompleteUpload): Promise<boolean> {
  const known = await findNamed(context, sent.name);
  const file = known && known.size === null ? await complete(context, known) : known;
  return file !== null && (await mayUse(context, sent, file));
}

async function findNamed({ store }: RecordContext, name: string): Promise<FileRow | null> {
  const id = parseFileName(name)?.id;
  const file = id === undefined ? null : await findFile(store, id);
  return file?.name === name ? file : null;
}

/**
 * Returns whether the caller may attach a file. For a private file, a session user must be able to read it in the record that its address names; one
 * that is also public may be attached by everybody.
 * Reference: files.md#private-files.
 */
async function mayUse(context: RecordContext, { url }: NamedFile, { name, isPrivate, isPublic }: FileRow): Promise<boolean> {
  if (mayAttachAny(context.principal) || context.ownFiles?.has(name) || !isPrivate || isPublic) return true;
  const place = recordFieldOf(url, name);
  return place !== null && (await holds(context, place, name)) === 'yes';
}

function attach(
  schema: Schema,
  principal: Principal,
  files: readonly HeldFile[],
  granted: ResolvedFiles['granted'],
): readonly Mutation[] {
  const flags = new Map<string, { isPublic?: true; isPrivate?: true }>();
  for (const { name, type } of files)
    flags.set(name, { ...flags.get(name), ...(type === 'File' ? { isPublic: true } : { isPrivate: true }) });
  // Sorted, so that two writes cannot deadlock.
  return Array.from(flags.keys())
    .sort()
    .map((name) => {
      const { id } = parseFileName(name) ?? fail('unknownFile');
      return attachFile(schema, { id, name }, flags.get(name) ?? {}, mayAttachAny(principal) || granted.has(name));
    });
}

/** Callers with a key may attach private files by name; others need more. */
const mayAttachAny = holdsKey;
