import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { phoneKey } from '../../kernel/phone-key.ts';
import { configFlag, createRecord, createTogether, type RecordContext } from '../../records/index.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { newIdFor } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';
import { coerce } from './coercion/coerce.ts';
import { pointerTo } from './coercion/coercion.ts';
import { accountByPhone, withContactLock } from './duplicates.ts';
import { type FormFlag, mayCreate, requireFlag, requireRights } from './flag.ts';
import { type FormFunction, isThere, openTable, setBoolean, textOf } from './input.ts';

/**
 * A form that creates a record, and links it to a contact that it finds by telephone number or creates. SPEC "`web2table`".
 * @param table that it creates records in; left out: the one that its input names
 * @returns a function that throws formDisabled, missingInput, classMissing (103); schemaMismatch and other errors of `values/`
 *   (111, 105, 121); unknownFile (1)
 */
export function tableForm(flag: FormFlag, table?: string): FormFunction {
  return async (context, input) => {
    const { store } = context;
    await requireFlag(store, flag);
    const phone = own(input, 'phone');
    if (!isThere(phone)) return fail('missingInput', '"phone"');
    const target = openTable(store, table ?? namedTable(input));
    const accounts = openTable(store, 'Accounts');
    const contact = contactOf(accounts, input);
    const row = coerce(target, 'row', input, 'table_');
    await requireRights(store, flag, [
      { table: accounts, fields: contact },
      { table: target, fields: row },
    ]);
    const { accountId, Id } = await createLinked(context, { accounts, contact, target, row, phone: textOf(phone) ?? '' });
    return { success: true, accountId, Id };
  };
}

function namedTable(input: JsonObject): string {
  const table = own(input, 'table');
  return typeof table === 'string' && isThere(table) ? table : fail('missingInput', '"table" in request body');
}

/** What a form is to write, its values as the record pipeline takes them. */
interface LinkedRow {
  readonly accounts: TableSchema;
  /** Of a contact that is created. */
  readonly contact: JsonObject;
  readonly target: TableSchema;
  readonly row: JsonObject;
  /** As sent. */
  readonly phone: string;
}

interface Written {
  readonly accountId: string;
  readonly Id: string;
}

/** Creates the row, and its contact where nobody has the telephone number. */
async function createLinked(context: RecordContext, form: LinkedRow): Promise<Written> {
  const { store } = context;
  const { phone } = form;
  if (phoneKey(phone) === null) return createBoth(context, form);
  // Only while the contact may be new, so that rows of a known one do not wait for each other.
  const by = { phone, email: null };
  const found = await withContactLock(
    context,
    by,
    async (forNew) => (await accountByPhone(store, phone)) ?? createBoth(forNew, form),
  );
  if (typeof found !== 'string') return found;
  const { objectId } = await createRecord(context, form.target.className, linked(form, found));
  return { accountId: found, Id: objectId };
}

async function createBoth(context: RecordContext, form: LinkedRow): Promise<Written> {
  const { accounts, contact, target } = form;
  const accountId = newIdFor(accounts.className);
  const [, row] = await createTogether(context, [
    { className: accounts.className, body: await newContact(context.store, accounts, contact), objectId: accountId },
    { className: target.className, body: linked(form, accountId) },
  ]);
  return { accountId, Id: (row as { readonly objectId: string }).objectId };
}

/** CONTRACT "Forms and files": the row is linked by `AccountId`, where its table has it. */
function linked({ target, row }: LinkedRow, accountId: string): JsonObject {
  const field = target.fields.get('AccountId');
  return isLink(field) ? { ...row, AccountId: pointerTo(field, accountId) } : row;
}

const isLink = (field: Field | undefined): field is Field => field?.type === 'Pointer' && field.targetClass === 'Accounts';

/**
 * What a form says of its contact: the key inputs `phone`, `email` and `idnum`, and the `account_` fields, which win over them.
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
 * A contact as it is created: a lead unless it says otherwise, with the defaults of `DefaultValues.Account` (SPEC "`Config`") for what was
 * not sent. They are in the row of `AcceptWebLeads`, whether that is on or off, and count as far as who wrote it could set them himself.
 * @throws schemaMismatch and other errors of `values/` (111, 105, 121) for defaults that the fields do not take
 */
export async function newContact(store: Store, accounts: TableSchema, sent: JsonObject): Promise<JsonObject> {
  const settings = await configFlag(store, 'AcceptWebLeads');
  const defaults = settings && own(settings, 'DefaultValues');
  const ofAccount = isJsonObject(defaults) ? own(defaults, 'Account') : undefined;
  const values = isJsonObject(ofAccount) ? coerce(accounts, 'account', ofAccount) : {};
  const isHis = await mayCreate(store, 'AcceptWebLeads', { table: accounts, fields: values });
  const fields: JsonObject = {};
  setBoolean(accounts, fields, 'IsAccount', false);
  return Object.assign(fields, isHis ? values : {}, sent);
}
