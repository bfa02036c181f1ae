import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { configFlag } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { coerce } from './coercion/coerce.ts';
import { mayCreate } from './flag.ts';
import { setBoolean } from './input.ts';

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
