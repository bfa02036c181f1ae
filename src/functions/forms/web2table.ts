import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { phoneKey } from '../../kernel/phone-key.ts';
import { configFlag, createAtomically, type RecordContext } from '../../records/index.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { newIdFor } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';
import { coerce } from './coercion/coerce.ts';
import { pointerTo } from './coercion/coercion.ts';
import { accountByPhone, withContactLock } from './duplicates.ts';
import { type FormFlag, mayCreate, requireFlag, requireRights } from './flag.ts';
import { answering, type FormFunction, isPresent, openTable, setBoolean, textOf } from './input.ts';

/**
 * Makes a form that creates a record and links it to a contact, which it finds by phone number or creates.
 * Reference: functions.md#web2table.
 * @param table the table of the records; omitted: the input names it
 * @returns a function that throws formDisabled, missingInput, classMissing (103); schemaMismatch and other errors of `values/` (111, 105, 121);
 *   unknownFile (1)
 */
export function tableForm(flag: FormFlag, table?: string): FormFunction {
  return async (context, input) => {
    const { store } = context;
    await requireFlag(store, flag);
    const phone = own(input, 'phone');
    if (!isPresent(phone)) return fail('missingInput', '"phone"');
    const target = openTable(store, table ?? namedTable(input));
    const accounts = openTable(store, 'Accounts');
    const contact = contactOf(accounts, input);
    const row = coerce(target, 'row', input, 'table_');
    await requireRights(store, flag, [
      { table: accounts, fields: contact },
      { table: target, fields: row },
    ]);
    return createLinked(context, { accounts, contact, target, row, phone: textOf(phone) ?? '' });
  };
}

function namedTable(input: JsonObject): string {
  const table = own(input, 'table');
  return typeof table === 'string' && isPresent(table) ? table : fail('missingInput', '"table" in request body');
}

/** The records that a form writes, as wire values. */
interface LinkedRow {
  readonly accounts: TableSchema;
  /** The contact, if it must be created. */
  readonly contact: JsonObject;
  readonly target: TableSchema;
  readonly row: JsonObject;
  /** As sent. */
  readonly phone: string;
}

/** The answer of a form. */
interface LinkedIds extends JsonObject {
  success: true;
  accountId: string;
  Id: string;
}

/** Creates the row, and its contact if no account has the phone number. */
async function createLinked(context: RecordContext, form: LinkedRow): Promise<LinkedIds> {
  const { store } = context;
  const { phone } = form;
  if (phoneKey(phone) === null) return createBoth(context, form);
  // Locks only the search and the creation of a contact, so that rows for a known contact do not wait for each other.
  const by = { phone, email: null };
  const found = await withContactLock(
    context,
    by,
    async (forNew) => (await accountByPhone(store, phone)) ?? createBoth(forNew, form),
  );
  if (typeof found !== 'string') return found;
  const { className } = form.target;
  const answer: LinkedIds = { success: true, accountId: found, Id: newIdFor(className) };
  await createAtomically(answering(context, answer), [{ className, body: withAccount(form, found), objectId: answer.Id }]);
  return answer;
}

async function createBoth(context: RecordContext, form: LinkedRow): Promise<LinkedIds> {
  const { accounts, contact, target } = form;
  const accountId = newIdFor(accounts.className);
  const answer: LinkedIds = { success: true, accountId, Id: newIdFor(target.className) };
  await createAtomically(answering(context, answer), [
    { className: accounts.className, body: await newContact(context.store, accounts, contact), objectId: accountId },
    { className: target.className, body: withAccount(form, accountId), objectId: answer.Id },
  ]);
  return answer;
}

/** Links the row by `AccountId`, if its table has that field (functions.md#web2table). */
function withAccount({ target, row }: LinkedRow, accountId: string): JsonObject {
  const field = target.fields.get('AccountId');
  return isLink(field) ? { ...row, AccountId: pointerTo(field, accountId) } : row;
}

const isLink = (field: Field | undefined): field is Field => field?.type === 'Pointer' && field.targetClass === 'Accounts';

/**
 * Returns the contact's fields: the key inputs `phone`, `email` and `idnum`, overridden by the `account_` fields.
 * @throws schemaMismatch and other errors of `values/` (111, 105, 121)
 */
export function contactOf(accounts: TableSchema, input: JsonObject): JsonObject {
  const keys = {
    PhoneNumber: own(input, 'phone') ?? null,
    Email: own(input, 'email') ?? null,
    CompanyId: own(input, 'idnum') ?? null,
  };
  return { ...coerce(accounts, 'account', keys), ...coerce(accounts, 'account', input, 'account_') };
}

/**
 * Returns the fields of a new contact: a lead unless sent otherwise, with the defaults of `DefaultValues.Account` for fields that were not sent. The
 * defaults are stored in the row of `AcceptWebLeads`, whether that is on or off, and apply only if the row's writer could set them
 * (system-tables.md#config).
 * @throws schemaMismatch and other errors of `values/` (111, 105, 121) for defaults that do not fit their fields
 */
export async function newContact(store: Store, accounts: TableSchema, sent: JsonObject): Promise<JsonObject> {
  const settings = await configFlag(store, 'AcceptWebLeads');
  const defaults = settings && own(settings, 'DefaultValues');
  const ofAccount = isJsonObject(defaults) ? own(defaults, 'Account') : undefined;
  const values = isJsonObject(ofAccount) ? coerce(accounts, 'account', ofAccount) : {};
  const mayUseDefaults = await mayCreate(store, 'AcceptWebLeads', { table: accounts, fields: values });
  const fields: JsonObject = {};
  setBoolean(accounts, fields, 'IsAccount', false);
  return Object.assign(fields, mayUseDefaults ? values : {}, sent);
}
