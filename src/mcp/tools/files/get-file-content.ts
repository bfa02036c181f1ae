import { z } from 'zod';
import { type FilePlace, requireFileField } from '../../../crm/commands/attach-file.ts';
import { getRow } from '../../../crm/queries/records.ts';
import { advise, badArguments } from '../../../crm/refusals.ts';
import { serviceError } from '../../../errors/fail.ts';
import { fileNameOf, type OpenFile } from '../../../files/index.ts';
import { isJsonObject, type JsonObject, jsonBytes, own } from '../../../kernel/json.ts';
import { prefix } from '../../../kernel/prefix.ts';
import { choice, objectId, table, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { MAX_RESULT_BYTES } from '../../results/page.ts';

/** Maximum number of bytes of a file in one answer. */
const MAX_BYTES = 48_000;

/** A file may be read by a caller that may read the record and the field. Reference: tools.md#get-file-content, files.md#private-files. */
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
    maxBytes: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(MAX_BYTES, `must be at most ${MAX_BYTES}`)
      .default(MAX_BYTES),
    url: text(8_000).optional(),
  },
  required: ['table', 'objectId', 'field'],
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { as, maxBytes, ...request }) {
    const { name, url, isPrivate, opened } =
      request.url === undefined
        ? await ofField(call, placeOf({ table: undefined, objectId: undefined, field: undefined, ...request }))
        : await ofUpload(call, request.url);
    const { size, contentType } = opened.file;
    const about = { fileName: fileNameOf(name).slice(0, 300), contentType, size };
    if (as === 'link')
      return { ...about, url, access: isPrivate ? 'The address asks for the credentials of who may read the record' : 'public' };
    if (as === 'text' && !isText(contentType)) return { ...about, url, hint: 'It is no text. Ask for it as base64 or link.' };
    const bytes = await readHead(opened, Math.min(maxBytes, as === 'base64' ? MAX_BASE64_BYTES : MAX_BYTES), call.signal);
    if (!bytes) throw missing();
    return { ...about, ...contentOf(bytes, as, size) };
  },
});

function contentOf(bytes: Buffer, as: 'text' | 'base64', size: number): JsonObject {
  const isWhole = bytes.length === size;
  if (as === 'base64') return { base64: bytes.toString('base64'), ...(!isWhole && { truncated: true, bytes: bytes.length }) };
  const all = decodeText(bytes, isWhole);
  const shown = truncateText(all);
  return { text: shown, ...((!isWhole || shown.length < all.length) && { truncated: true }) };
}

interface Found {
  readonly name: string;
  readonly url: string;
  readonly isPrivate: boolean;
  readonly opened: OpenFile;
}

type RequestedPlace = { readonly [Part in keyof FilePlace]: string | undefined };

/** @throws invalidArguments (107) if a part of the place is missing */
function placeOf({ table: className, objectId: id, field }: RequestedPlace): FilePlace {
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
 * Opens an upload by its address, which works until a PrivateFile field has held the file. Reference: files.md#private-files.
 * @throws fileNotFound (404)
 */
async function ofUpload(call: ToolCall, url: string): Promise<Found> {
  const start = `${call.services.addresses.base}${prefix}/files/${call.system.appId}/`;
  const name = url.startsWith(start) ? url.slice(start.length) : '';
  const opened = name === '' || name.includes('/') ? null : await call.services.files.openUpload(call.system, name);
  if (!opened) throw missing();
  return { name, url, isPrivate: false, opened };
}

/** Returns the file in a field of a record. @throws fileNotFound (404) if there is none */
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
    ? await files.openPrivate(call, { className, objectId: id, field, name })
    : await files.openPublic(call.system, name);
  if (opened === null || opened === 'signIn') throw missing();
  return opened;
}

const missing = () =>
  advise(serviceError('fileNotFound'), {
    expected: 'A field that holds a file which is still there, or the url that an upload answered',
    next: 'Get-Record',
  });

/** Reads the first bytes of a file. @returns `null` if the file is missing */
export async function readHead({ file, read }: OpenFile, maxBytes: number, signal: AbortSignal): Promise<Buffer | null> {
  const stream = await read(file.size > maxBytes ? { start: 0, end: maxBytes - 1 } : undefined);
  if (!stream) return null;
  const parts: Buffer[] = [];
  for await (const part of stream) {
    signal.throwIfAborted();
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

/** Whether a content type is text. */
export function isText(contentType: string): boolean {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type.startsWith('text/') || /[/+](?:json|xml|yaml|javascript|sql)$/.test(type);
}

/** Fallback for bytes that are not Unicode: the Hebrew code page. */
const CODE_PAGE = 'windows-1255';

/** Decodes text in the encoding that its bytes suggest. @param isWhole whether the bytes are complete; else they may end within a character */
export function decodeText(bytes: Buffer, isWhole: boolean): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes, { stream: !isWhole });
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes, { stream: !isWhole });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return new TextDecoder(CODE_PAGE).decode(bytes);
  }
}

/** Room for what surrounds the content: name, type, address. */
const FRAME_BYTES = 4_000;

/** Number of bytes that fill an answer in base64. */
export const MAX_BASE64_BYTES = Math.floor(((MAX_RESULT_BYTES - FRAME_BYTES) / 4) * 3);

/** Returns as much of a text as fits into an answer as JSON. */
export function truncateText(text: string): string {
  let shown = text;
  for (;;) {
    const size = jsonBytes(shown);
    if (size <= MAX_RESULT_BYTES - FRAME_BYTES) return shown;
    shown = shown.slice(0, Math.floor((shown.length * (MAX_RESULT_BYTES - FRAME_BYTES)) / size)).toWellFormed();
  }
}
