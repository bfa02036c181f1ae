import type { OpenFile } from '../../../files/index.ts';
import { bytesOf } from '../answers/bytes.ts';
import { RESULT_BYTES } from '../answers/page.ts';

/** The first bytes of a file. @returns `null` where they are gone */
export async function readStart({ file, read }: OpenFile, most: number, signal: AbortSignal): Promise<Buffer | null> {
  const stream = await read(file.size > most ? { start: 0, end: most - 1 } : undefined);
  if (!stream) return null;
  const parts: Buffer[] = [];
  for await (const part of stream) {
    signal.throwIfAborted();
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}

/** Whether bytes of a content type are text. */
export function isText(contentType: string): boolean {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type.startsWith('text/') || /[/+](?:json|xml|yaml|javascript|sql)$/.test(type);
}

/** The code page of Hebrew: what is no Unicode does not tell in which it is written. */
const CODE_PAGE = 'windows-1255';

/** Text as its bytes say that it is written. @param isWhole whether the bytes are all; else they may end within a character */
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

/** Bytes of an answer beside the content: name, type, address. */
const FRAME = 4_000;

/** So many bytes fill an answer in base64. */
export const MOST_BASE64 = Math.floor(((RESULT_BYTES - FRAME) / 4) * 3);

/** As much of a text as an answer takes, written as JSON. */
export function fitting(text: string): string {
  let shown = text;
  for (;;) {
    const size = bytesOf(shown);
    if (size <= RESULT_BYTES - FRAME) return shown;
    shown = shown.slice(0, Math.floor((shown.length * (RESULT_BYTES - FRAME)) / size)).toWellFormed();
  }
}
