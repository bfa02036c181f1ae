import { grantFor } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { type JsonObject, own } from '../../kernel/json.ts';
import { configRow } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { userCaller } from '../../users/index.ts';

/** A row of `Config` that opens a form (SPEC "`Config`"). */
export type FormFlag = 'AcceptWebLeads' | 'AcceptWebToTable' | 'AcceptWebToCaseLeads' | 'AcceptWebToSaleLeads';

/** A table that a form writes to, and the fields that it sets there. */
export interface FormTarget {
  readonly table: TableSchema;
  readonly fields: JsonObject;
}

/** The `Value` of a flag that is on. @throws formDisabled */
export async function requireFlag(store: Store, flag: FormFlag): Promise<JsonObject> {
  const value = (await configRow(store, flag))?.value ?? null;
  return value !== null && own(value, flag) === true ? value : fail('formDisabled', flag);
}

/**
 * Forms write with full rights. One that a user has opened, or changed, does no more than he may do himself (docs/adr/0015).
 * @throws formDisabled
 */
export async function requireRights(store: Store, flag: FormFlag, targets: readonly FormTarget[]): Promise<void> {
  for (const target of targets) if (!(await mayCreate(store, flag, target))) fail('formDisabled', flag);
}

/**
 * Whether who wrote a row of `Config` last may create such a record: his roles of now may, in fields that they see. Whether he is still active
 * does not count, so that forms do not close behind who leaves.
 */
export async function mayCreate(store: Store, flag: FormFlag, { table, fields }: FormTarget): Promise<boolean> {
  const writer = (await configRow(store, flag))?.writer ?? null;
  if (writer === null) return true;
  const grant = grantFor(await userCaller(store, writer), 'create', table, store.schema());
  return grant !== null && !Object.keys(fields).some((name) => grant.hiddenFields.has(name));
}
