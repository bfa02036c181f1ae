import { z } from 'zod';
import { ServiceError } from '../../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { advise } from '../../errors/advice.ts';
import { badArguments, createRow, updateRow } from '../../kit/records.ts';
import { flag, objectId, text } from '../parameters.ts';
import { defineTool, type ToolCall } from '../tool.ts';

/** A text that may be empty, to take what is there away. */
const words = () => z.string().max(1_000).optional();

/** SPEC "`_User`", "Users and sessions". Nobody is signed in, and no password is ever answered. */
export const createOrUpdateUser = defineTool({
  name: 'Create-or-Update-User',
  group: 'users',
  description: 'Create a user or change one; active=false blocks sign-in.',
  input: {
    objectId: objectId().optional(),
    username: text(1_000).optional(),
    password: text(1_000).optional(),
    name: words(),
    email: words(),
    phone: words(),
    extension: words(),
    job: words(),
    language: words(),
    active: flag().optional(),
    isPortalUser: flag().optional(),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  about: '_User',
  async run(call, { objectId: id, ...sent }) {
    const fields = Object.fromEntries(Object.entries(sent).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined));
    try {
      return id === undefined ? await create(call, fields) : await change(call, id, fields);
    } catch (error) {
      throw error instanceof ServiceError && (error.key === 'usernameTaken' || error.key === 'emailTaken')
        ? advise(error, { expected: 'To change that user send his objectId', next: 'Get-all-Users' })
        : error;
    }
  },
});

async function create(call: ToolCall, fields: JsonObject): Promise<JsonValue> {
  const { objectId: id, createdAt } = await createRow(call, '_User', fields);
  return { objectId: id, createdAt, hint: 'Without a role the user may read and write nothing: Set-User-Roles.' };
}

async function change(call: ToolCall, id: string, fields: JsonObject): Promise<JsonValue> {
  const changed = Object.keys(fields);
  if (changed.length === 0) badArguments('nothing is to be changed', { expected: 'objectId and one field at least' });
  const { updatedAt = null } = await updateRow(call, '_User', id, fields);
  return { objectId: id, updatedAt, changed };
}
