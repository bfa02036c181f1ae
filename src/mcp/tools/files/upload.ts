import { attach, type FileName, requireFileField } from '../../../crm/commands/attach-file.ts';
import { isRefusal } from '../../../errors/fail.ts';
import { decodeBase64 } from '../../../files/index.ts';
import { objectId, table, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';

/** Arguments of tools that take a file. The upload enforces the limit of 32 MiB. Reference: agents.md#uploads-by-agents. */
export const uploadInput = () => ({ fileName: text(2_000), contentType: text(200), base64: text(60_000_000) });

/** A file as sent by an agent. */
interface SentFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly base64: string;
}

/**
 * Uploads a file. Reference: files.md#upload.
 * @throws badUpload (107), badFileName (122), emptyFile (130), outOfStorage (140), invalidFileType (403), fileTooLarge (413)
 */
export async function takeFile({ system, services }: ToolCall, { fileName, contentType, base64 }: SentFile): Promise<FileName> {
  await services.files.admit(system);
  return services.files.upload(system, fileName, contentType, decodeBase64(base64));
}

/** The file becomes public once a File field holds it. Reference: tools.md#upload-public-file. */
export const uploadPublicFile = defineTool({
  name: 'Upload-Public-File',
  group: 'files',
  description: 'Upload bytes (up to 32 MB) and get {name,url} to attach to a File field.',
  input: uploadInput(),
  needs: ['mcp:create'],
  effect: 'add',
  about: '_StoredFile',
  async run(call, file) {
    return { ...(await takeFile(call, file)), next: 'Attach-File' };
  },
});

/** If the record refuses the file, it is deleted again. Reference: tools.md#upload-private-file. */
export const uploadPrivateFile = defineTool({
  name: 'Upload-Private-File',
  group: 'files',
  description: 'Upload bytes straight into a PrivateFile field of a record.',
  input: { table: table(), objectId: objectId(), field: text(128), ...uploadInput() },
  needs: ['mcp:create', 'mcp:update'],
  effect: 'change',
  async run(call, { table: className, objectId: id, field, ...file }) {
    const place = { table: className, objectId: id, field };
    requireFileField(call, place, 'update', ['PrivateFile']);
    const uploaded = await takeFile(call, file);
    try {
      return await attach(call, place, uploaded);
    } catch (error) {
      // After other errors it is unknown whether the record took the file; `files sweep` deletes files that no record holds.
      if (!isRefusal(error)) throw error;
      const { files, conditions } = call.services;
      await files
        .remove(call.system, uploaded.name)
        .catch((fault: unknown) => conditions.met('an upload was left behind', { app: call.system.appId }, fault));
      throw error;
    }
  },
});

/** Reference: tools.md#attach-file, files.md#attach-a-file. */
export const attachFile = defineTool({
  name: 'Attach-File',
  group: 'files',
  description: 'Put an uploaded file into a File or PrivateFile field.',
  input: { table: table(), objectId: objectId(), field: text(128), name: text(4_000), url: text(8_000) },
  needs: ['mcp:update'],
  effect: 'change',
  isIdempotent: true,
  async run(call, { table: className, objectId: id, field, name, url }) {
    const place = { table: className, objectId: id, field };
    requireFileField(call, place, 'update', ['File', 'PrivateFile']);
    return attach(call, place, { name, url });
  },
});
