import { holdsKey, type Principal } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { FileKeeper, HeldFile, NamedFile, RecordContext, SettledFiles } from '../records/index.ts';
import type { Schema } from '../schema/model.ts';
import type { Mutation } from '../storage/port.ts';
import { holds, isHeld, placeOf } from './file-access.ts';
import { attachFile, findFile } from './metadata/file-metadata.ts';
import type { FileRow, FileSystem } from './metadata/model.ts';
import { parseFileName } from './stores/name.ts';

/**
 * Looks whether the bytes of an awaited upload are there, and notes it.
 * @returns the file as it is then; `null` where its bytes have not come
 */
export type CompleteUpload = (system: FileSystem, file: FileRow) => Promise<FileRow | null>;

/** The files of records. SPEC "Files" rule 5, "States and transitions". */
export function fileKeeper(complete: CompleteUpload): FileKeeper {
  return {
    attach,
    async settle(context, write) {
      const kept = new Set<string>();
      const granted = new Set<string>();
      for (const sent of write.files)
        if (await mayAttach(context, sent, complete)) granted.add(sent.name);
        // Nothing changes, so that it needs neither the file nor a right to it.
        else if (await isHeld(context, { ...write, field: sent.field }, sent.name)) kept.add(sent.field);
        else fail('unknownFile');
      return { kept, granted };
    },
  };
}

async function mayAttach(context: RecordContext, sent: NamedFile, complete: CompleteUpload): Promise<boolean> {
  const known = await find(context, sent.name);
  const file = known && known.size === null ? await complete(context, known) : known;
  return file !== null && (await mayHave(context, sent, file));
}

async function find({ store }: RecordContext, name: string): Promise<FileRow | null> {
  const id = parseFileName(name)?.id;
  const file = id === undefined ? null : await findFile(store, id);
  return file?.name === name ? file : null;
}

/**
 * docs/decisions.md "Files": a private file is for the session user who may read it by the record that its address names. One that is
 * public, too, everybody may read.
 */
async function mayHave(context: RecordContext, { url }: NamedFile, { name, isPrivate, isPublic }: FileRow): Promise<boolean> {
  if (mayAttachAny(context.principal) || context.ownFiles?.has(name) || !isPrivate || isPublic) return true;
  const place = placeOf(url, name);
  return place !== null && (await holds(context, place, name)) === 'yes';
}

function attach(
  schema: Schema,
  principal: Principal,
  files: readonly HeldFile[],
  granted: SettledFiles['granted'],
): readonly Mutation[] {
  const flags = new Map<string, { isPublic?: true; isPrivate?: true }>();
  for (const { name, type } of files)
    flags.set(name, { ...flags.get(name), ...(type === 'File' ? { isPublic: true } : { isPrivate: true }) });
  // In one order, so that two writes do not wait for each other.
  return Array.from(flags.keys())
    .sort()
    .map((name) => {
      const { id } = parseFileName(name) ?? fail('unknownFile');
      return attachFile(schema, { id, name }, flags.get(name) ?? {}, mayAttachAny(principal) || granted.has(name));
    });
}

/** Of who holds no key a private file asks for more than its name. */
const mayAttachAny = holdsKey;
