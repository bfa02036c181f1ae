import { fail } from '../../errors/fail.ts';
import { type JsonObject, own } from '../../kernel/json.ts';
import { configFlag } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';

/** A row of `Config` that opens a form (SPEC "`Config`"). */
export type FormFlag = 'AcceptWebLeads' | 'AcceptWebToTable' | 'AcceptWebToCaseLeads' | 'AcceptWebToSaleLeads';

/** The `Value` of a flag that is on. @throws formDisabled */
export async function requireFlag(store: Store, flag: FormFlag): Promise<JsonObject> {
  const value = await configFlag(store, flag);
  return value !== null && own(value, flag) === true ? value : fail('formDisabled', flag);
}
