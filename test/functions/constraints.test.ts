/** Forms on tables with unique indexes, required fields and defaults. Reference: functions.md#forms, schemas.md#unique-indexes. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { unique } from '../support/records.ts';
import { newPhone, onEachEngine } from './forms.ts';

onEachEngine((forms) => {
  const { send } = forms;
  const put = async (table: string, body: object) => {
    const answer = await forms.call('PUT', `/platform/schemas/${table}`, { body });
    assert.equal(answer.status, 200, answer.text);
  };
  const link = { AccountId: { type: 'Pointer', targetClass: 'Accounts' } };
  const duplicate = (field: string, index: string) => ({
    code: 137,
    error: `Another record has this value of ${field} (unique index ${index})`,
    fields: [field],
  });
  before(() => forms.openForms());
  const counts = (table: string) => Promise.all([forms.count('Accounts'), forms.count(table)]);

  test('web2table: a row that contradicts a unique index is 137, and its new contact is not made', async () => {
    const table = await forms.table({ ...link, Code: 'String' });
    await put(table, { uniqueIndexes: { code: { fields: ['Code'], as: 'nocase' } } });
    await forms.link({ table, phone: newPhone(), table_Code: 'a' });
    const before = await counts(table);
    const answer = await send('web2table', { table, phone: newPhone(), table_Code: 'A' });
    assert.deepEqual([answer.status, answer.body], [400, duplicate('Code', 'code')], answer.text);
    assert.deepEqual(await counts(table), before);
  });

  test('web2table: a contact that contradicts a unique index is 137, and its row is not made', async () => {
    const table = await forms.table({ ...link, Name: 'String' });
    const field = unique('F');
    await forms.addFields('Accounts', { [field]: { type: 'String' } });
    await put('Accounts', { uniqueIndexes: { [field]: { fields: [field] } } });
    const input = { table, phone: newPhone(), [`account_${field}`]: 'x' };
    await forms.link(input);
    const before = await counts(table);
    const answer = await send('web2table', { ...input, phone: newPhone() });
    assert.deepEqual([answer.status, answer.body], [400, duplicate(field, field)], answer.text);
    assert.deepEqual(await counts(table), before);
    // The contact of a known phone is not written again.
    await forms.link(input);
    await put('Accounts', { fields: { [field]: { __op: 'Delete' } } });
  });

  test('getlead: a lead that contradicts a unique index is 137 and none is made, although a duplicate lead would be', async () => {
    const field = unique('F');
    await forms.addFields('Accounts', { [field]: { type: 'String' } });
    await put('Accounts', { uniqueIndexes: { [field]: { fields: [field] } } });
    const lead = { PhoneNumber: newPhone(), [field]: 'x' };
    await forms.lead(lead);
    const before = await forms.count('Accounts');
    const answer = await send('getlead', lead);
    assert.deepEqual([answer.status, answer.body], [400, duplicate(field, field)], answer.text);
    assert.equal(await forms.count('Accounts'), before);
    await forms.lead({ ...lead, [field]: 'y' });
    await put('Accounts', { fields: { [field]: { __op: 'Delete' } } });
  });

  test('required fields and defaults hold for forms', async () => {
    const table = await forms.table(link);
    await put(table, { fields: { N: { type: 'Number', required: true }, D: { type: 'String', defaultValue: 'by default' } } });
    const before = await counts(table);
    const answer = await send('web2table', { table, phone: newPhone() });
    assert.deepEqual([answer.status, answer.body], [400, { code: 142, error: 'N is required' }], answer.text);
    assert.deepEqual(await counts(table), before);
    const { Id } = await forms.link({ table, phone: newPhone(), table_N: '5' });
    const { N, D } = await forms.read(table, Id);
    assert.deepEqual([N, D], [5, 'by default']);
  });
});
