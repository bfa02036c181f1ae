import { setTablePermissions } from '../../../crm/schema/permissions.ts';
import { type JsonObject, jsonBytes } from '../../../kernel/json.ts';
import { flag, object, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';

export const setTablePermissionsTool = defineTool({
  name: 'Set-Table-Permissions',
  group: 'schema',
  description:
    'Set which roles may find, get, create, update, delete and addField {action: [roles]}; actions not sent stay, [] is nobody.',
  input: { className: table(), permissions: object(), dryRun: flag().default(false) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  async run(call, { className, permissions, dryRun }) {
    const change = await setTablePermissions(call, className, permissions, dryRun);
    const { before, after, given, taken, warnings } = change;
    return {
      className,
      ...(dryRun && { dryRun }),
      ...shownWithin({ before, after }, { given, taken }),
      ...(warnings.length > 0 && { warnings: [...warnings] }),
    };
  },
});

/** Maximum size of each permission map in the answer; longer ones (lists of users) are omitted. */
const MAX_BYTES = 20_000;

const shownWithin = (...parts: readonly JsonObject[]): JsonObject =>
  Object.assign({}, ...parts.filter((part) => jsonBytes(part) <= MAX_BYTES)) as JsonObject;
