import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { createRecord, deleteRecord, readRows, updateRecord, updateSchema } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { Store } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../../systems/provision.ts';
import { forms } from './index.ts';

let directory: string;
let engine: SqliteEngine;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rds-forms-'));
  engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
  store = await openAnyway(engine, 'app');
  await provision(store);
  for (const flag of ['AcceptWebToTable', 'AcceptWebToCaseLeads', 'AcceptWebToSaleLeads'])
    await createRecord(masterContext(store), 'Config', { Name: flag, Value: { [flag]: true } });
});
afterEach(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

const call = async (name: string, input: JsonObject) => (await forms.get(name)?.(masterContext(store), input)) as JsonObject;

const lead = async (input: JsonObject) => ((await call('getlead', input)).result as { leadId: string }).leadId;

function rows(className: string): Promise<JsonObject[]> {
  const fields = [...(store.schema().tables.get(className)?.fields.keys() ?? [])];
  return readRows<JsonObject>(store, { className, fields, filter: () => ({ kind: 'always' }) });
}

async function row(className: string, objectId: JsonValue | undefined): Promise<JsonObject> {
  return (await rows(className)).find((each) => each.objectId === objectId) as JsonObject;
}

async function statusKey(objectId: string): Promise<JsonValue | undefined> {
  const { LeadStatusId } = await row('Accounts', objectId);
  const status = await row('LeadStatuses', (LeadStatusId as JsonObject | undefined)?.objectId);
  return status?.SystemKey ?? (LeadStatusId as JsonObject | undefined)?.objectId;
}

const change = (className: string, body: JsonObject) => updateSchema(masterContext(store), className, body);
const gone = { __op: 'Delete' };

test('a lead is new or a duplicate by its telephone number or its e-mail address', async () => {
  assert.equal(await statusKey(await lead({ PhoneNumber: '050-1234567', Email: 'a@example.com' })), 'new');
  assert.equal(await statusKey(await lead({ PhoneNumber: '+972 50 123 4567', LeadStatusId: 'abcdefghij' })), 'duplicate');
  assert.equal(await statusKey(await lead({ PhoneNumber: '052-0000000', Email: 'a@example.com' })), 'duplicate');
  assert.equal(await statusKey(await lead({ PhoneNumber: '053-0000000', Email: 'A@example.com' })), 'new');
  assert.equal(await statusKey(await lead({ PhoneNumber: '054-0000000', LeadStatusId: 'abcdefghij' })), 'abcdefghij');
  assert.equal(await statusKey(await lead({ PhoneNumber: 'none', Email: ' ' })), 'new');
  assert.equal(await statusKey(await lead({ PhoneNumber: 'none', Email: ' ' })), 'new');
});

test('the statuses are read again when they change', async () => {
  assert.equal(await statusKey(await lead({ PhoneNumber: '1' })), 'new');
  const [first] = await rows('LeadStatuses');
  await updateRecord(masterContext(store), 'LeadStatuses', first?.objectId as string, { SystemKey: null });
  assert.equal(await statusKey(await lead({ PhoneNumber: '2' })), undefined);
  const added = await createRecord(masterContext(store), 'LeadStatuses', { SystemKey: 'new' });
  const leadId = await lead({ PhoneNumber: '3' });
  assert.equal(await statusKey(leadId), 'new');
  await deleteRecord(masterContext(store), 'Accounts', leadId, {});
  await deleteRecord(masterContext(store), 'LeadStatuses', added.objectId, {});
  assert.equal(await statusKey(await lead({ PhoneNumber: '4' })), undefined);
});

test('forms make no fields, also where the table lacks what the server sets', async () => {
  await change('Accounts', { fields: { IsAccount: gone, fromWeb2lead: gone, LeadStatusId: gone } });
  await change('Accounts', { fields: { IsAccount: { type: 'String' } } });
  const before = store.schema();
  const leadId = await lead({ PhoneNumber: '1', fromWeb2lead: 'x', Unknown: 1, LeadStatusId: 'abcdefghij' });
  const { accountId } = await call('web2table', { table: 'Notes', phone: '2', account_Unknown: 1, table_Unknown: 1 });
  assert.equal(store.schema(), before);
  for (const id of [leadId, accountId]) assert.equal((await row('Accounts', id)).IsAccount, undefined);
});

test('a table that is not there, or the service’s own, is 103', async () => {
  for (const table of ['_User', 'Config', '_StoredFile', 'Nothing', '__proto__', 'x y'])
    await assert.rejects(call('web2table', { table, phone: '1' }), { code: 103, message: `Class ${table} does not exist.` });
  await assert.rejects(call('web2table', { table: 'x'.repeat(1000), phone: '1' }), {
    message: `Class ${'x'.repeat(128)} does not exist.`,
  });
  assert.deepEqual(await rows('Accounts'), []);
});

test('posts at once make one contact, and each its row', async () => {
  const inputs = ['050-7654321', '0507654321', '+972507654321', '972-50-7654321'];
  const answers = await Promise.all(inputs.map((phone) => call('web2table', { table: 'Cases', phone, account_Name: phone })));
  assert.equal(new Set(answers.map(({ accountId }) => accountId)).size, 1);
  assert.equal((await rows('Accounts')).length, 1);
  assert.deepEqual(
    (await rows('Cases')).map(({ AccountId }) => (AccountId as JsonObject).objectId),
    answers.map(({ accountId }) => accountId),
  );
});

test('a row that cannot be written leaves no contact, and lets the next post go on', async () => {
  const unknown = { __type: 'File', name: `${'0'.repeat(32)}_a.png` };
  const failing = { table: 'Cases', phone: '1', table_Attachment: unknown };
  const [, , later] = await Promise.allSettled([
    call('web2table', { ...failing, table_Number: true }),
    call('web2table', { ...failing, table_Attachment: 'http://localhost/a.png' }),
    call('web2table', { table: 'Cases', phone: '1' }),
  ]);
  assert.equal(later?.status, 'fulfilled');
  assert.equal((await rows('Accounts')).length, 1);
});

test('a new contact has the key inputs, the defaults and the fields of its own, in rising order', async () => {
  const [flag] = await rows('Config');
  const defaults = { City: 'Haifa', CompanyId: '9', Address: 'x', objectId: 'a', Nope: 1 };
  const Value = { AcceptWebLeads: false, DefaultValues: { Account: defaults } };
  await updateRecord(masterContext(store), 'Config', flag?.objectId as string, { Value });
  const input = {
    phone: 501234567,
    email: 'a@b.c',
    idnum: 5,
    account_Email: 'c@d.e',
    account_Address: '',
    account_City: 'Eilat',
  };
  const { accountId } = await call('web2case', { ...input, table: 'Sales' });
  const { PhoneNumber, Email, CompanyId, City, Address, IsAccount, fromWeb2lead, objectId } = await row('Accounts', accountId);
  assert.deepEqual(
    [PhoneNumber, Email, CompanyId, City, Address, IsAccount, fromWeb2lead, objectId],
    ['501234567', 'c@d.e', '5', 'Eilat', 'x', false, undefined, accountId],
  );
  await call('web2case', { phone: '501234567', account_City: 'Acre', account_IsAccount: true });
  assert.equal((await row('Accounts', accountId)).City, 'Eilat');
  await assert.rejects(call('web2case', { phone: '501234567', account_IsAccount: 'true' }), { code: 111 });
  assert.equal((await rows('Cases')).length, 2);
  await assert.rejects(call('getlead', { PhoneNumber: '1' }), { message: 'AcceptWebLeads is Disabled' });
});

test('a row is linked by a Pointer to Accounts alone', async () => {
  await createRecord(masterContext(store), 'Linked', {});
  await change('Linked', { fields: { AccountId: { type: 'Pointer', targetClass: 'Contacts' } } });
  const other = await call('web2table', { table: 'Linked', phone: '1', table_AccountId: 'abcdefghij' });
  assert.deepEqual((await row('Linked', other.Id)).AccountId, {
    __type: 'Pointer',
    className: 'Contacts',
    objectId: 'abcdefghij',
  });
  const sale = await call('web2sale', { phone: '1', table_AccountId: 'abcdefghij', table_SaleStatusId: 'abcdefghij' });
  const { AccountId, SaleStatusId } = await row('Sales', sale.Id);
  assert.deepEqual([(AccountId as JsonObject).objectId, SaleStatusId], [sale.accountId, undefined]);
});
