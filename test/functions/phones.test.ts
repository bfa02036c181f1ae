/**
 * Duplicate detection: spellings of a phone that is posted against spellings that are stored. A phone is normalised by removing non-digits and
 * replacing a leading 972 by 0; spellings with the same digits match. Reference: functions.md#getlead.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { path } from '../support/records.ts';
import { signUp } from '../support/users.ts';
import { succeed } from '../systems/cli.ts';
import { type Forms, newLandline, newPhone, onEachEngine } from './forms.ts';

/** Spellings of a phone, made of its national digits with the leading 0. */
const spellings: [string, (national: string) => string][] = [
  ['national', (phone) => phone],
  ['972', (phone) => `972${phone.slice(1)}`],
  ['+972', (phone) => `+972${phone.slice(1)}`],
  ['a hyphen', (phone) => `${area(phone)}-${local(phone)}`],
  ['hyphens', (phone) => `${area(phone)}-${local(phone).slice(0, 3)}-${local(phone).slice(3)}`],
  ['+972 with hyphens', (phone) => `+972-${area(phone).slice(1)}-${local(phone)}`],
  ['972 with a hyphen', (phone) => `972-${phone.slice(1)}`],
  ['spaces', (phone) => ` ${area(phone)} ${local(phone).slice(0, 3)}\t${local(phone).slice(3)} `],
  ['brackets', (phone) => `(${area(phone)}) ${local(phone)}`],
  ['brackets and +972', (phone) => `(+972) ${area(phone).slice(1)}/${local(phone)}`],
  ['dots', (phone) => `${area(phone)}.${local(phone).slice(0, 3)}.${local(phone).slice(3)}`],
  ['letters around', (phone) => `Tel: ${area(phone)}-${local(phone)} (דנה)`],
  ['a no-break space and a dash', (phone) => `${area(phone)}\u00a0${local(phone).slice(0, 3)}–${local(phone).slice(3)}`],
];

/** Returns an objectId for a create with an own id. */
const ownId = (start: string, phone: string) => start + phone.replace(/\D/g, '').slice(-8);

const area = (phone: string) => phone.slice(0, -7);
const local = (phone: string) => phone.slice(-7);

const kinds: [string, () => string][] = [
  ['a mobile phone of 10 digits', newPhone],
  ['a landline of 9 digits', newLandline],
];

/** Spellings of another number. */
const others: [string, (national: string) => string][] = [
  ['one digit less', (phone) => phone.slice(0, -1)],
  ['one digit more', (phone) => `${phone}0`],
  ['without the leading 0', (phone) => phone.slice(1)],
  ['another last digit', (phone) => `${phone.slice(0, -1)}1`],
  ['972 and the leading 0', (phone) => `972${phone}`],
  ['972 twice', (phone) => `972972${phone.slice(1)}`],
  ['972 at the end', (phone) => `${phone.slice(1)}972`],
  ['an extension', (phone) => `${phone} ext. 5`],
  ['the digits reversed', (phone) => [...phone].reverse().join('')],
  ['another country', (phone) => `+1${phone.slice(1)}`],
  ['a pattern', (phone) => `${phone.slice(0, -1)}%`],
  ['a pattern of one letter', (phone) => `${phone.slice(0, -1)}_`],
];

onEachEngine((forms) => {
  const { lead, link } = forms;
  let duplicate = '';
  before(async () => {
    await forms.openForms();
    duplicate = await forms.status('duplicate');
  });

  const isDuplicate = async (PhoneNumber: unknown): Promise<boolean> =>
    (await lead({ PhoneNumber: PhoneNumber as string })).LeadStatusId.objectId === duplicate;
  /** Returns the account that `web2table` links. */
  const contactOf = async (phone: unknown): Promise<string> => (await link({ table: 'Tasks', phone })).accountId;

  for (const [kind, make] of kinds)
    for (const [at, [stored, store]] of spellings.entries()) {
      test(`web2table: forms with and without the 972 prefix match the same contact: ${kind} stored as ${stored}`, async () => {
        const phone = make();
        const PhoneNumber = store(phone);
        const id = await forms.create('Accounts', { PhoneNumber });
        for (const [posted, post] of spellings) assert.equal(await contactOf(post(phone)), id, `posted as ${posted}`);
        assert.equal((await forms.read('Accounts', id)).PhoneNumber, PhoneNumber, 'the contact stays as it is');
      });

      test(`getlead: the search against the variants: ${kind} stored as ${stored}`, async () => {
        // Both functions search by the same normalised key. The test above has all pairs of spellings, so here each meets three others.
        for (const next of [0, 4, 9]) {
          const [posted, post] = spellings[(at + next) % spellings.length] ?? assert.fail();
          const phone = make();
          await forms.create('Accounts', { PhoneNumber: store(phone) });
          assert.equal(await isDuplicate(post(phone)), true, `posted as ${posted}`);
        }
      });
    }

  for (const [what, change] of others)
    test(`Forms: another number does not match: ${what}`, async () => {
      for (const [, make] of kinds) {
        const phone = make();
        const id = await forms.create('Accounts', { PhoneNumber: phone });
        assert.notEqual(await contactOf(change(phone)), id);
        const second = make();
        await forms.create('Accounts', { PhoneNumber: change(second) });
        assert.equal(await isDuplicate(second), false);
      }
    });

  test('a phone without digits matches nothing', async () => {
    for (const phone of ['none', '+', '-', '( )', 'טלפון']) {
      const id = await forms.create('Accounts', { PhoneNumber: phone });
      assert.notEqual(await contactOf(phone), id);
      assert.notEqual(await contactOf(phone), await contactOf(phone));
      assert.equal(await isDuplicate(phone), false);
    }
  });

  test('Limits: a phone that is a number', async () => {
    const phone = newPhone();
    const id = await forms.create('Accounts', { PhoneNumber: Number(`972${phone.slice(1)}`) });
    assert.equal(await contactOf(phone), id);
    assert.equal(await contactOf(Number(`972${phone.slice(1)}`)), id);
    assert.equal(await isDuplicate(Number(`972${phone.slice(1)}`)), true);
  });

  /** Ways to create an account with a phone, stored as `+972-…`. Each returns the objectId. */
  const writes: [string, (PhoneNumber: string) => Promise<string>][] = [
    ['POST with the master key', (PhoneNumber) => forms.create('Accounts', { PhoneNumber })],
    [
      'POST with the API key and an own id',
      (PhoneNumber) => forms.create('Accounts', { objectId: ownId('ab', PhoneNumber), PhoneNumber }, { as: 'apiKey' }),
    ],
    ['POST of a session user', (PhoneNumber) => forms.create('Accounts', { PhoneNumber }, { session })],
    [
      'POST with an operator',
      (PhoneNumber) => forms.create('Accounts', { PhoneNumber: { __op: 'SetOnInsert', amount: PhoneNumber } }),
    ],
    ['PUT', (PhoneNumber) => changed({ PhoneNumber }, { as: 'apiKey' })],
    ['PUT of a session user', (PhoneNumber) => changed({ PhoneNumber }, { session })],
    [
      'PUT after a PUT',
      async (PhoneNumber) => {
        const id = await changed({ PhoneNumber: newPhone() }, {});
        await forms.update('Accounts', id, { PhoneNumber, Name: 'x' });
        await forms.update('Accounts', id, { Name: 'y' });
        return id;
      },
    ],
    ['a batch', async (PhoneNumber) => (await batch({ method: 'POST', path: path('Accounts'), body: { PhoneNumber } })).objectId],
    [
      'a PUT in a batch',
      async (PhoneNumber) => {
        const id = await forms.create('Accounts', {});
        await batch({ method: 'PUT', path: path('Accounts', id), body: { PhoneNumber } });
        return id;
      },
    ],
    ['`getlead`', async (PhoneNumber) => (await lead({ PhoneNumber })).objectId],
    ['`getlead` by a form', async (PhoneNumber) => (await lead({ PhoneNumber }, 'form')).objectId],
    ['`web2table`', contactOf],
    [
      '`account_PhoneNumber`',
      async (PhoneNumber) => (await link({ table: 'Tasks', phone: newPhone(), account_PhoneNumber: PhoneNumber })).accountId,
    ],
    [
      '`record-service import`',
      async (PhoneNumber) => {
        const file = join(forms.service().dataDir, 'phones.ndjson');
        await writeFile(file, `${JSON.stringify({ PhoneNumber, Name: 'imported' })}\n`);
        await succeed(forms.service(), 'import', '--system', forms.service().appId, '--table', 'Accounts', '--file', file);
        const [row] = await forms.find('Accounts', { PhoneNumber });
        return row.objectId;
      },
    ],
  ];
  let session = '';
  before(async () => {
    session = (await signUp(forms)).token;
    const all = { requiresAuthentication: true };
    const classLevelPermissions = { find: all, get: all, create: all, update: all, delete: all };
    const { status, text } = await forms.call('PUT', '/platform/schemas/Accounts', { body: { classLevelPermissions } });
    assert.equal(status, 200, text);
  });

  async function changed(fields: object, by: Parameters<Forms['update']>[3]): Promise<string> {
    const id = await forms.create('Accounts', { Name: 'before' });
    await forms.update('Accounts', id, fields, by);
    return id;
  }

  async function batch(item: object) {
    const { body, text } = await forms.call('POST', '/platform/batch', { body: { requests: [item] } });
    assert.ok(body[0].success, text);
    return body[0].success;
  }

  for (const [how, write] of writes)
    test(`Forms: an account matches whatever way its phone came by: ${how}`, async () => {
      for (const [, make] of kinds) {
        const phone = make();
        const id = await write(`+972-${phone.slice(1)}`);
        assert.equal(await contactOf(phone), id);
        assert.equal(await contactOf(`972${phone.slice(1)}`), id);
        assert.equal(await isDuplicate(phone), true);
      }
    });

  /** Writes that end a match. */
  const ends: [string, (id: string) => Promise<unknown>][] = [
    ['changed', (id) => forms.update('Accounts', id, { PhoneNumber: newPhone() })],
    ['changed by a session user', (id) => forms.update('Accounts', id, { PhoneNumber: newPhone() }, { session })],
    ['changed in a batch', (id) => batch({ method: 'PUT', path: path('Accounts', id), body: { PhoneNumber: newPhone() } })],
    ['emptied', (id) => forms.update('Accounts', id, { PhoneNumber: '' })],
    ['set to null', (id) => forms.update('Accounts', id, { PhoneNumber: null })],
    ['deleted', (id) => forms.update('Accounts', id, { PhoneNumber: { __op: 'Delete' } })],
    ['gone with its account', (id) => forms.remove('Accounts', id)],
  ];
  for (const [what, end] of ends)
    test(`Forms: a phone that was ${what} no longer matches`, async () => {
      const phone = newPhone();
      const id = await forms.create('Accounts', { PhoneNumber: `+972${phone.slice(1)}` });
      await end(id);
      assert.equal(await isDuplicate(phone), false);
      const second = newPhone();
      const other = await forms.create('Accounts', { PhoneNumber: second });
      await end(other);
      assert.notEqual(await contactOf(second), other);
    });

  test('`web2table` links the first created of the accounts with the phone', async () => {
    const phone = newPhone();
    const ids: string[] = [];
    for (const [objectId, form] of [
      ['zz', 2],
      ['mm', 0],
      ['00', 5],
    ] as const) {
      const [, spell] = spellings[form] ?? [];
      ids.push(await forms.create('Accounts', { objectId: ownId(objectId, phone), PhoneNumber: spell?.(phone) }));
    }
    const [first = '', second = '', third = ''] = ids;
    for (const [, spell] of spellings) assert.equal(await contactOf(spell(phone)), first);
    await forms.update('Accounts', first, { Name: 'changed' });
    await forms.update('Accounts', third, { Name: 'changed', PhoneNumber: phone });
    assert.equal(await contactOf(phone), first);
    await forms.update('Accounts', first, { PhoneNumber: newPhone() });
    assert.equal(await contactOf(phone), second);
    // The oldest account has the phone again.
    await forms.update('Accounts', first, { PhoneNumber: `972${phone.slice(1)}` });
    assert.equal(await contactOf(phone), first);
  });

  test('web2table: customers and leads alike, and no other field', async () => {
    const [phone, second] = [newPhone(), newPhone()];
    const id = await forms.create('Accounts', { PhoneNumber: phone, IsAccount: true });
    assert.equal(await contactOf(phone), id);
    const other = await forms.create('Accounts', { Name: second, CompanyId: second, Email: second });
    assert.notEqual(await contactOf(second), other);
  });

  test('web2table: only `phone` detects', async () => {
    const [phone, second] = [newPhone(), newPhone()];
    const Email = `${phone}@example.com`;
    const id = await forms.create('Accounts', { PhoneNumber: phone, Email, CompanyId: '512345678' });
    const fields = { table: 'Tasks', phone: second, email: Email, idnum: '512345678', account_PhoneNumber: phone };
    const { accountId } = await link(fields);
    assert.notEqual(accountId, id);
    // `account_PhoneNumber` is stored, but not used for detection.
    assert.equal((await forms.read('Accounts', accountId)).PhoneNumber, phone);
    assert.notEqual((await link(fields)).accountId, accountId);
  });
});
