import { z } from 'zod';
import { authorize } from '../../../access/index.ts';
import { ServiceError } from '../../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { updateSchema } from '../../../records/index.ts';
import { tableOf } from '../../../schema/model.ts';
import { settledType } from '../../../schema/system-tables.ts';
import { advise } from '../../errors/advice.ts';
import { badArguments, createRow, getRow, updateRow } from '../../kit/records.ts';
import { flag, objectId, text } from '../parameters.ts';
import { tell } from '../schema.ts';
import { defineTool, type ToolCall } from '../tool.ts';

/** A text that may be empty, to take what is there away. */
const words = () => tell(z.string().max(1_000), { type: 'string' }).optional();

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
    const fields = Object.fromEntries(
      Object.entries(sent).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined),
    );
    try {
      return id === undefined ? await create(call, fields) : await change(call, id, fields);
    } catch (error) {
      throw error instanceof ServiceError && (error.key === 'usernameTaken' || error.key === 'emailTaken')
        ? advise(error, { expected: 'To change that user send his objectId', next: 'Get-all-Users' })
        : error;
    }
  },
});

/** Some fields of users come to be when they are first written (SPEC "`_User`"), which permissions to write users do not give. */
async function addMissing({ context }: ToolCall, action: 'create' | 'update', fields: JsonObject): Promise<void> {
  const table = tableOf(context.store.schema(), '_User');
  if (authorize(context.principal, action, table).mayAddField) return;
  const missing = Object.keys(fields).flatMap((name) => {
    const type = table.fields.has(name) ? undefined : settledType('_User', name);
    return type === undefined ? [] : [[name, { type }] as const];
  });
  if (missing.length > 0) await updateSchema(context, '_User', { fields: Object.fromEntries(missing) });
}

async function create(call: ToolCall, fields: JsonObject): Promise<JsonValue> {
  await addMissing(call, 'create', fields);
  const { objectId: id, createdAt } = await createRow(call, '_User', fields);
  return { objectId: id, createdAt, hint: 'Without a role the user may read and write nothing: Set-User-Roles.' };
}

async function change(call: ToolCall, id: string, fields: JsonObject): Promise<JsonValue> {
  const changed = Object.keys(fields);
  if (changed.length === 0) badArguments('nothing is to be changed', { expected: 'objectId and one field at least' });
  await getRow(call, '_User', id, { keys: ['objectId'] });
  await addMissing(call, 'update', fields);
  const { updatedAt = null } = await updateRow(call, '_User', id, fields);
  return { objectId: id, updatedAt, changed };
}
