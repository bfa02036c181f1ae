import type { JsonObject } from '../../../kernel/json.ts';
import { objectId } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { statusPointer } from '../../kit/crm/statuses.ts';
import { ownerField, requireUser, userPointer } from '../../kit/people/users.ts';
import { getRow } from '../../kit/reading/records.ts';
import { requireField, tableNamed } from '../../kit/reading/tables.ts';
import { seen } from '../../kit/reading/visible.ts';
import { updateRow } from '../../kit/writing/records.ts';

const TABLE = 'Accounts';

/** SPEC "States and transitions": a lead becomes a customer when `IsAccount` is written true. */
export const convertLead = defineTool({
  name: 'Convert-Lead',
  group: 'crm',
  description: 'Turn a lead into a customer (IsAccount true); statusId is one of AccountStatuses.',
  input: { objectId: objectId(), statusId: objectId().optional(), ownerId: objectId().optional() },
  needs: ['mcp:update'],
  effect: 'change',
  isIdempotent: true,
  about: TABLE,
  listedBy: 'Search-Records',
  async run(call, { objectId: id, statusId, ownerId }) {
    const accounts = tableNamed(call, TABLE);
    requireField(accounts, 'IsAccount', 'Boolean');
    const lead = await getRow(call, TABLE, id, { keys: ['objectId', ...seen(call, accounts, ['IsAccount'])] });
    if (lead.IsAccount === true) return { objectId: lead.objectId, converted: false, alreadyCustomer: true };
    const data: JsonObject = { IsAccount: true };
    if (statusId !== undefined) data.StatusId = await statusPointer(call, accounts, 'StatusId', statusId);
    if (ownerId !== undefined) {
      await requireUser(call, 'ownerId', ownerId);
      data[ownerField(call, accounts)] = userPointer(ownerId);
    }
    const { updatedAt = null } = await updateRow(call, TABLE, id, data);
    return { objectId: lead.objectId, converted: true, updatedAt };
  },
});
