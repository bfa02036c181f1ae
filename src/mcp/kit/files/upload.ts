import { decodeBase64 } from '../../../files/index.ts';
import { text } from '../../definition/parameters.ts';
import type { ToolCall } from '../../definition/tool.ts';
import type { FileName } from './fields.ts';

/** What a tool that takes a file asks for. SPEC "Limits": 32 MiB, which the upload itself sees to. */
export const uploadInput = () => ({ fileName: text(2_000), contentType: text(200), base64: text(60_000_000) });

/** A file as an agent sends it. */
interface SentFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly base64: string;
}

/**
 * Takes a file (SPEC "Files: Upload").
 * @throws badUpload (107), badFileName (122), emptyFile (130), outOfStorage (140), invalidFileType (403), fileTooLarge (413)
 */
export async function takeFile({ system, services }: ToolCall, { fileName, contentType, base64 }: SentFile): Promise<FileName> {
  await services.files.admit(system);
  return services.files.upload(system, fileName, contentType, decodeBase64(base64));
}
