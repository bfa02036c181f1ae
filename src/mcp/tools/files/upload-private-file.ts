import { isRefusal } from '../../../errors/fail.ts';
import { objectId, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { attach, requireFileField } from '../../kit/files/fields.ts';
import { takeFile, uploadInput } from '../../kit/files/upload.ts';

/** SPEC "Files" rule 5. A file that its record does not take is removed again. */
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
      // Else nobody knows whether the record took it: `files sweep` finds the ones that none did.
      if (!isRefusal(error)) throw error;
      const { files, conditions } = call.services;
      await files
        .remove(call.system, uploaded.name)
        .catch((fault: unknown) => conditions.met('an upload was left behind', { app: call.system.appId }, fault));
      throw error;
    }
  },
});
