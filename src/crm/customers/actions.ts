import type { JsonObject } from '../../kernel/json.ts';
import { eachItem, type ItemOutcome, reporter } from '../commands/items.ts';
import { createRow, updateRow } from '../commands/records.ts';
import type { CrmContext } from '../context.ts';
import { grantOn, visibleFields } from '../queries/field-visibility.ts';
import { ownerField, requireUser, userPointer } from '../queries/owners.ts';
import { getRow, requireField, tableNamed } from '../queries/records.ts';
import { statusPointer } from '../queries/statuses.ts';
import { linksTo } from './links.ts';

export const ACCOUNTS = 'Accounts';
export const NOTES = 'Notes';

/** A note on a record. */
export interface Note {
  readonly table: string;
  readonly objectId: string;
  readonly comment: string;
  readonly name?: string | undefined;
}

/**
 * Adds a note to a record, and to the account that the record belongs to.
 * @throws classMissing (103), objectNotFound (101), invalidArguments (107) if notes cannot be linked to the table; permissionDenied (119)
 */
export async function addNote(context: CrmContext, { table, objectId, comment, name }: Note): Promise<JsonObject> {
  tableNamed(context, table);
  const links = await linksTo(context, tableNamed(context, NOTES), { table, objectId });
  const { objectId: created, createdAt } = await createRow(context, NOTES, {
    ...links,
    Comment: comment,
    ...(name !== undefined && { Name: name }),
  });
  return { objectId: created, createdAt, linkedBy: Object.keys(links) };
}

/** The conversion of a lead into a customer. */
export interface Conversion {
  readonly objectId: string;
  readonly statusId?: string | undefined;
  readonly ownerId?: string | undefined;
}

/**
 * Turns a lead into a customer: sets `IsAccount` to true, with a status and an owner if given.
 * @throws objectNotFound (101), invalidArguments (107) for a status or user that does not exist; permissionDenied (119)
 */
export async function convertLead(context: CrmContext, { objectId, statusId, ownerId }: Conversion): Promise<JsonObject> {
  const accounts = tableNamed(context, ACCOUNTS);
  requireField(accounts, 'IsAccount', 'Boolean');
  const lead = await getRow(context, ACCOUNTS, objectId, {
    keys: ['objectId', ...visibleFields(context, accounts, ['IsAccount'])],
  });
  if (lead.IsAccount === true) return { objectId: lead.objectId, converted: false, alreadyCustomer: true };
  const data: JsonObject = { IsAccount: true };
  if (statusId !== undefined) data.StatusId = await statusPointer(context, accounts, 'StatusId', statusId);
  if (ownerId !== undefined) {
    await requireUser(context, 'ownerId', ownerId);
    data[ownerField(context, accounts)] = userPointer(ownerId);
  }
  const { updatedAt = null } = await updateRow(context, ACCOUNTS, objectId, data);
  return { objectId: lead.objectId, converted: true, updatedAt };
}

/** Records to be assigned to an owner. */
export interface Assignment {
  readonly table: string;
  readonly objectIds: readonly string[];
  readonly userId: string;
  /** The Pointer to the owner; `OwnerId` if absent. */
  readonly field?: string | undefined;
}

/**
 * Assigns records to a user.
 * @returns the field, and the result of each record
 * @throws invalidArguments (107) if the table has no such field or the user does not exist; permissionDenied, fieldDenied (119)
 */
export async function assignOwner(
  context: CrmContext,
  { table: className, objectIds, userId, field }: Assignment,
): Promise<{ readonly field: string; readonly outcomes: readonly ItemOutcome[] }> {
  const { table } = grantOn(context, className, 'update', objectIds[0]);
  const owner = ownerField(context, table, field);
  await requireUser(context, 'userId', userId);
  const outcomes = await eachItem(objectIds, reporter(context.services.conditions), async (id) => {
    await updateRow(context, className, id, { [owner]: userPointer(userId) });
    return { objectId: id };
  });
  return { field: owner, outcomes };
}
