import { fail } from '../../errors/fail.ts';
import { type JsonObject, own } from '../../kernel/json.ts';
import { createAtomically, readFirst, versionedCache } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { newIdFor } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';
import { coerce } from './coercion/coerce.ts';
import { pointerTo } from './coercion/coercion.ts';
import { accountByPhone, type ContactKeys, hasEmail, withContactLock } from './duplicates.ts';
import { requireFlag, requireRights } from './flag.ts';
import { answering, type FormFunction, isPresent, isValidEmail, isValidPhone, openTable, setBoolean, textOf } from './input.ts';

/**
 * Returns the objectId of the status of new or duplicate leads: the first created row of `LeadStatuses` with the `SystemKey`; `null` if there is
 * none. Cached until the table is written.
 * Reference: functions.md#getlead.
 */
const leadStatus: (store: Store, key: 'new' | 'duplicate') => Promise<string | null> = versionedCache(
  'LeadStatuses',
  async (store, value) => {
    const query = { className: 'LeadStatuses', field: 'SystemKey', value, fields: ['objectId'] };
    return (await readFirst<{ readonly objectId: string }>(store, query))?.objectId ?? null;
  },
);

/**
 * Creates a lead.
 * Reference: functions.md#getlead.
 * @throws formDisabled, missingInput; schemaMismatch and other errors of `values/` (111, 105, 121); classMissing (103)
 */
export const getlead: FormFunction = async (context, input) => {
  const { store } = context;
  const settings = await requireFlag(store, 'AcceptWebLeads');
  const phone = own(input, 'PhoneNumber');
  const email = own(input, 'Email');
  const isValidated = own(settings, 'ValidatePhoneOrEmail') === true;
  const isReachable = isValidated ? isValidPhone(phone) || isValidEmail(email) : isPresent(phone) || isPresent(email);
  if (!isReachable) fail('missingInput', '"PhoneNumber" or "Email"');
  const accounts = openTable(store, 'Accounts');
  const fields = coerce(accounts, 'lead', input);
  await requireRights(store, 'AcceptWebLeads', [{ table: accounts, fields }]);
  setBoolean(accounts, fields, 'IsAccount', false);
  setBoolean(accounts, fields, 'fromWeb2lead', true);
  const by = { phone: textOf(phone), email: isPresent(email) ? textOf(email) : null };
  const objectId = newIdFor('Accounts');
  const answer = { result: { success: true, leadId: objectId } };
  await withContactLock(context, by, async (forNew) => {
    const isTaken = await isDuplicate(store, by);
    const body = await withStatus(store, accounts, fields, isTaken);
    return createAtomically(answering(isTaken ? context : forNew, answer), [{ className: 'Accounts', body, objectId }]);
  });
  return answer;
};

/** Whether an account has the phone number or the e-mail address. */
async function isDuplicate(store: Store, { phone, email }: ContactKeys): Promise<boolean> {
  if (phone !== null && (await accountByPhone(store, phone)) !== null) return true;
  return email !== null && hasEmail(store, email);
}

/** Sets the status. A status that was sent is kept only if the lead is not a duplicate. */
async function withStatus(store: Store, accounts: TableSchema, sent: JsonObject, isDuplicate: boolean): Promise<JsonObject> {
  const { LeadStatusId: own, ...fields } = sent;
  if (!isDuplicate && own !== undefined) return sent;
  const field = accounts.fields.get('LeadStatusId');
  if (field?.type !== 'Pointer' || field.targetClass !== 'LeadStatuses') return fields;
  const status = await leadStatus(store, isDuplicate ? 'duplicate' : 'new');
  return status === null ? fields : { ...fields, LeadStatusId: pointerTo(field, status) };
}
