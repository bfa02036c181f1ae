import { grantFor } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { type JsonObject, own } from '../../kernel/json.ts';
import { configRow } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { userCaller } from '../../users/index.ts';

/** A row of `Config` that enables a form (system-tables.md#config). */
export type FormFlag = 'AcceptWebLeads' | 'AcceptWebToTable' | 'AcceptWebToCaseLeads' | 'AcceptWebToSaleLeads';

/** A table that a form writes to, and the fields that it sets. */
export interface FormTarget {
  readonly table: TableSchema;
  readonly fields: JsonObject;
}

/** Returns the `Value` of a flag that is on. @throws formDisabled */
export async function requireFlag(store: Store, flag: FormFlag): Promise<JsonObject> {
  const value = (await configRow(store, flag))?.value ?? null;
  return value !== null && own(value, flag) === true ? value : fail('formDisabled', flag);
}

/**
 * Checks the rights of the user who enabled the form. Forms write with full rights, but one that a user has enabled or changed may do no more than
 * that user (adr/0015).
 * @throws formDisabled
 */
export async function requireRights(store: Store, flag: FormFlag, targets: readonly FormTarget[]): Promise<void> {
  for (const target of targets) if (!(await mayCreate(store, flag, target))) fail('formDisabled', flag);
}

/**
 * Returns whether the last writer of a flag may create such a record, by current roles and field permissions. Whether the user is still active does
 * not count, so that forms stay open after the user has left.
 */
export async function mayCreate(store: Store, flag: FormFlag, { table, fields }: FormTarget): Promise<boolean> {
  const writer = (await configRow(store, flag))?.writer ?? null;
  if (writer === null) return true;
  const grant = grantFor(await userCaller(store, writer), 'create', table, store.schema());
  return grant !== null && !Object.keys(fields).some((name) => grant.hiddenFields.has(name));
}
