import { z } from 'zod';
import { serviceError } from '../../../errors/fail.ts';
import { fileNameOf, type OpenFile } from '../../../files/index.ts';
import { isJsonObject, type JsonObject, own } from '../../../kernel/json.ts';
import { prefix } from '../../../kernel/prefix.ts';
import { choice, objectId, table, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { advise } from '../../errors/advice.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { decodeText, fitting, isText, MOST_BASE64, readStart } from '../../kit/files/content.ts';
import { type FilePlace, requireFileField } from '../../kit/files/fields.ts';
import { getRow } from '../../kit/reading/records.ts';

/** Bytes of a file that one answer may show. */
const MOST = 48_000;

/** SPEC "Files" rule 6: who may read the record and the field may read the file. */
export const getFileContent = defineTool({
  name: 'Get-File-Content',
  group: 'files',
  description:
    'Read the file held in a record field, as text where possible; or, with url alone, an upload that no record holds yet.',
  input: {
    table: table().optional(),
    objectId: objectId().optional(),
    field: text(128).optional(),
    as: choice(['text', 'base64', 'link']).default('text'),
    maxBytes: z.int('must be a whole number').min(1, 'must be at least 1').max(MOST, `must be at most ${MOST}`).default(MOST),
    url: text(8_000).optional(),
  },
  required: ['table', 'objectId', 'field'],
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { as, maxBytes, ...asked }) {
    const { name, url, isPrivate, opened } =
      asked.url === undefined
        ? await ofField(call, placeOf({ table: undefined, objectId: undefined, field: undefined, ...asked }))
        : await ofUpload(call, asked.url);
    const { size, contentType } = opened.file;
    const about = { fileName: fileNameOf(name).slice(0, 300), contentType, size };
    if (as === 'link')
      return { ...about, url, access: isPrivate ? 'The address asks for the credentials of who may read the record' : 'public' };
    if (as === 'text' && !isText(contentType)) return { ...about, url, hint: 'It is no text. Ask for it as base64 or link.' };
    const bytes = await readStart(opened, Math.min(maxBytes, as === 'base64' ? MOST_BASE64 : MOST), call.signal);
    if (!bytes) throw missing();
    return { ...about, ...contentOf(bytes, as, size) };
  },
});

function contentOf(bytes: Buffer, as: 'text' | 'base64', size: number): JsonObject {
  const isWhole = bytes.length === size;
  if (as === 'base64') return { base64: bytes.toString('base64'), ...(!isWhole && { truncated: true, bytes: bytes.length }) };
  const all = decodeText(bytes, isWhole);
  const shown = fitting(all);
  return { text: shown, ...((!isWhole || shown.length < all.length) && { truncated: true }) };
}

interface Found {
  readonly name: string;
  readonly url: string;
  readonly isPrivate: boolean;
  readonly opened: OpenFile;
}

type AskedPlace = { readonly [Part in keyof FilePlace]: string | undefined };

/** @throws invalidArguments (107) where a part of the place is missing */
function placeOf({ table: className, objectId: id, field }: AskedPlace): FilePlace {
  if (className !== undefined && id !== undefined && field !== undefined) return { table: className, objectId: id, field };
  const parts = Object.entries({ table: className, objectId: id, field });
  const absent = parts.filter(([, value]) => value === undefined).map(([name]) => `${name} is required`);
  return badArguments(absent.join('; '), { expected: 'table, objectId and field, or the url of an upload' });
}

async function ofField(call: ToolCall, place: FilePlace): Promise<Found> {
  const held = await heldFile(call, place);
  return { ...held, opened: await open(call, place, held.name, held.isPrivate) };
}

/**
 * CONTRACT "Forms and files": an upload's own address serves who knows it, until a PrivateFile field has held the file.
 * @throws fileNotFound (404)
 */
async function ofUpload(call: ToolCall, url: string): Promise<Found> {
  const start = `${call.services.baseUrl()}${prefix}/files/${call.system.appId}/`;
  const name = url.startsWith(start) ? url.slice(start.length) : '';
  const opened = name === '' || name.includes('/') ? null : await call.services.files.openUpload(call.system, name);
  if (!opened) throw missing();
  return { name, url, isPrivate: false, opened };
}

/** What a field of a record holds, for the caller. @throws fileNotFound (404) where it holds nothing */
async function heldFile(call: ToolCall, place: FilePlace): Promise<{ name: string; url: string; isPrivate: boolean }> {
  const record = await getRow(call, place.table, place.objectId, { keys: [place.field] });
  requireFileField(call, place, 'get', ['File', 'PrivateFile']);
  const held = own(record, place.field);
  if (!isJsonObject(held) || typeof held.name !== 'string' || typeof held.url !== 'string') throw missing();
  return { name: held.name, url: held.url, isPrivate: held.private === true };
}

async function open(
  call: ToolCall,
  { table: className, objectId: id, field }: FilePlace,
  name: string,
  isPrivate: boolean,
): Promise<OpenFile> {
  const { files } = call.services;
  const opened = isPrivate
    ? await files.openPrivate(call.context, { className, objectId: id, field, name })
    : await files.openPublic(call.system, name);
  if (opened === null || opened === 'signIn') throw missing();
  return opened;
}

const missing = () =>
  advise(serviceError('fileNotFound'), {
    expected: 'A field that holds a file which is still there, or the url that an upload answered',
    next: 'Get-Record',
  });
