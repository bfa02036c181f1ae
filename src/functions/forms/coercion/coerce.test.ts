import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../kernel/json.ts';
import { newTable } from '../../../schema/defaults.ts';
import type { Field, FieldType, TableSchema } from '../../../schema/model.ts';
import { coerce } from './coerce.ts';
import { valueSources } from './coercion.ts';

function table(className: string, fields: Readonly<Record<string, FieldType>>): TableSchema {
  const made = Object.entries(fields).map(([name, type]): [string, Field] => [
    name,
    { name, type, column: name, ...(type === 'Pointer' ? { targetClass: 'CityList' } : {}) },
  ]);
  const empty = newTable(className, className);
  return { ...empty, fields: new Map([...empty.fields, ...made]) };
}

const accounts = table('Accounts', {
  ...{ Name: 'String', PhoneNumber: 'String', Score: 'Number', IsAccount: 'Boolean', fromWeb2lead: 'Boolean' },
  ...{ _phone_key: 'String', dontRunPlatformTriggers: 'Boolean' },
});

test('fields that the schema has are taken, all other keys are passed over', () => {
  const sent = JSON.parse(
    '{"Name":"Dana","name":"x","Name.x":1,"__proto__":{"Name":"x"},"constructor":"x","__op":"Delete","$set":1,"":1,"toString":"x"}',
  );
  for (const place of valueSources) assert.deepEqual(coerce(accounts, place, sent), { Name: 'Dana' });
});

test('system fields, secrets and silencing flags are never taken', () => {
  const sent: JsonObject = {
    ...{ objectId: 'abcdefghij', createdAt: 5, updatedAt: 5, createdBy: 5, updatedBy: 5, ACL: 5 },
    ...{ _phone_key: '1', dontRunPlatformTriggers: true, dontUpdatePlatformTimeline: true, _MasterKey: 'x' },
  };
  for (const place of valueSources) assert.deepEqual(coerce(accounts, place, sent), {});
});

test('empty texts and null are not written; white space and nothing that is a number are', () => {
  assert.deepEqual(coerce(accounts, 'lead', { Name: '', Score: null, IsAccount: '' }), {});
  assert.deepEqual(coerce(accounts, 'lead', { Name: ' ', Score: ' ' }), { Name: ' ', Score: null });
});

test('keys of another prefix speak of another record', () => {
  const sent = { Name: 'a', account_Name: 'b', account_account_Name: 'c', table_Name: 'd', account_: 'e' };
  assert.deepEqual(coerce(accounts, 'account', sent, 'account_'), { Name: 'b' });
  assert.deepEqual(coerce(accounts, 'row', sent, 'table_'), { Name: 'd' });
});

test('what the server sets is checked, then passed over', () => {
  assert.deepEqual(coerce(accounts, 'lead', { IsAccount: true, fromWeb2lead: false }), {});
  assert.throws(() => coerce(accounts, 'lead', { IsAccount: 1 }), { message: /expected Boolean but got Number/ });
  assert.throws(() => coerce(accounts, 'account', { fromWeb2lead: [] }), { message: /expected Boolean but got Array/ });
  assert.deepEqual(coerce(accounts, 'account', { IsAccount: true, fromWeb2lead: true }), { IsAccount: true });
  assert.deepEqual(coerce(table('Leads', { fromWeb2lead: 'Boolean' }), 'row', { fromWeb2lead: true }), { fromWeb2lead: true });
});

test('SaleStatusId of Sales is always dropped', () => {
  const fields = { SaleStatusId: 'Pointer' } as const;
  assert.deepEqual(coerce(table('Sales', fields), 'row', { SaleStatusId: 5 }), {});
  assert.throws(() => coerce(table('Cases', fields), 'row', { SaleStatusId: 5 }), { code: 111 });
});

test('a table that changed takes its new fields', () => {
  assert.deepEqual(coerce(table('T', { A: 'String' }), 'row', { A: 1, B: 1 }), { A: '1' });
  assert.deepEqual(coerce(table('T', { A: 'Number', B: 'String' }), 'row', { A: 1, B: 1 }), { A: 1, B: '1' });
});
