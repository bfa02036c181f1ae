import type { JsonObject } from '../../../kernel/json.ts';
import { ownerField, requireUser, userPointer } from '../../kit/people.ts';
import { badArguments, getRow, pointer, tableNamed, unless, updateRow } from '../../kit/records.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { seen } from '../../kit/visible.ts';
import { objectId } from '../parameters.ts';
import { defineTool, type ToolCall } from '../tool.ts';

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
  async run(call, { objectId: id, statusId, ownerId }) {
    const accounts = tableNamed(call, TABLE);
    if (accounts.fields.get('IsAccount')?.type !== 'Boolean')
      badArguments(`${TABLE} has no Boolean field IsAccount in this system`, { next: 'Get-Schema' });
    const lead = await getRow(call, TABLE, id, { keys: ['objectId', ...seen(call, accounts, ['IsAccount', 'Name'])] });
    const { objectId: found, Name = null, IsAccount } = lead;
    if (IsAccount === true) return { objectId: found, Name, converted: false, alreadyCustomer: true };
    const data: JsonObject = { IsAccount: true };
    if (statusId !== undefined) data.StatusId = await statusPointer(call, accounts, statusId);
    if (ownerId !== undefined) {
      await requireUser(call, 'ownerId', ownerId);
      data[ownerField(accounts)] = userPointer(ownerId);
    }
    const { updatedAt = null } = await updateRow(call, TABLE, id, data);
    return { objectId: found, Name, converted: true, updatedAt };
  },
});

async function statusPointer(call: ToolCall, { fields }: TableSchema, statusId: string): Promise<JsonObject> {
  const { type, targetClass } = fields.get('StatusId') ?? {};
  if (type !== 'Pointer' || targetClass === undefined)
    badArguments(`${TABLE} has no Pointer StatusId in this system`, { next: 'Get-Schema' });
  const status = await unless(['objectNotFound'], null, () => getRow(call, targetClass, statusId, { keys: ['objectId'] }));
  if (!status)
    badArguments(`statusId: ${targetClass} has no such record`, {
      expected: `The objectId of a record of ${targetClass}`,
      next: 'Get-Lookup-Values',
    });
  return pointer(targetClass, statusId);
}
