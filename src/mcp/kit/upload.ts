import { ServiceError } from '../../errors/fail.ts';
import { advise } from '../errors/advice.ts';
import { text } from '../tools/parameters.ts';
import type { ToolCall } from '../tools/tool.ts';
import { bytesOf } from './base64.ts';
import type { FileName } from './file-fields.ts';

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
  try {
    return await services.files.upload(system, fileName, contentType, bytesOf(base64));
  } catch (error) {
    throw error instanceof ServiceError ? withAdvice(error) : error;
  }
}

function withAdvice(error: ServiceError): ServiceError {
  if (error.key === 'invalidFileType')
    return advise(error, {
      expected: 'The extension of fileName has to fit the bytes; programs and unknown types are not taken',
    });
  if (error.key === 'fileTooLarge') return advise(error, { expected: 'A file of at most 32 MB' });
  return error.key === 'badUpload' ? advise(error, { expected: 'The bytes of the file in base64' }) : error;
}
