import { defineTool } from '../../definition/tool.ts';
import { takeFile, uploadInput } from '../../kit/files/upload.ts';

/** SPEC "Files: Upload". Everybody may read the file once a File field holds it. */
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
