/** Duplicate detection and the status of a lead; spellings of phones are in phones.test.ts. Reference: functions.md#getlead. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { unique } from '../support/records.ts';
import { type Fields, newPhone, onEachEngine, statusPointer } from './forms.ts';

const email = () => `${unique('lead')}@example.com`;

onEachEngine((forms) => {
  const { lead } = forms;
  let fresh = '';
  let duplicate = '';
  let other = '';
  before(async () => {
    [fresh, duplicate] = [await forms.status('new'), await forms.status('duplicate')];
    other = await forms.create('LeadStatuses', { Name: 'other' });
  });

  /** Asserts the status of the lead that a form creates. */
  async function assertStatus(fields: Fields, status: string | undefined, what = ''): Promise<string> {
    const record = await lead(fields);
    assert.deepEqual(
      record.LeadStatusId,
      status === undefined ? undefined : statusPointer(status),
      `${what} ${JSON.stringify(fields)}`,
    );
    return record.objectId;
  }

  test('States: no match: new lead row with the new-lead status', async () => {
    await assertStatus({ PhoneNumber: newPhone() }, fresh);
    await assertStatus({ Email: email() }, fresh);
    await assertStatus({ PhoneNumber: newPhone(), Email: email() }, fresh);
  });

  test('States: phone or e-mail matches an existing account: new lead row with the duplicate-lead status', async () => {
    const [phone, address] = [newPhone(), email()];
    await forms.create('Accounts', { PhoneNumber: phone, Email: address });
    await assertStatus({ PhoneNumber: phone }, duplicate);
    await assertStatus({ Email: address }, duplicate);
    await assertStatus({ PhoneNumber: phone, Email: email() }, duplicate);
    await assertStatus({ PhoneNumber: newPhone(), Email: address }, duplicate);
  });

  test('getlead: a match never blocks creation: a new row is always created', async () => {
    const fields = { PhoneNumber: newPhone(), Email: email(), Name: 'again' };
    const ids = new Set<string>();
    for (let n = 0; n < 4; n++) ids.add(await assertStatus(fields, n === 0 ? fresh : duplicate));
    assert.equal(ids.size, 4);
    assert.equal((await forms.find('Accounts', { Email: fields.Email })).length, 4);
  });

  test('who matches may be a lead or a customer', async () => {
    for (const IsAccount of [true, false, undefined]) {
      const [phone, address] = [newPhone(), email()];
      await forms.create('Accounts', { PhoneNumber: phone, IsAccount });
      await forms.create('Accounts', { Email: address, IsAccount });
      await assertStatus({ PhoneNumber: phone }, duplicate);
      await assertStatus({ Email: address }, duplicate);
    }
  });

  test('getlead: the supplied `LeadStatusId` is honoured for a non-duplicate only', async () => {
    const [phone, address] = [newPhone(), email()];
    for (const LeadStatusId of [other, statusPointer(other)]) {
      await assertStatus({ PhoneNumber: newPhone(), LeadStatusId }, other);
      await assertStatus({ PhoneNumber: newPhone(), Email: email(), LeadStatusId }, other);
    }
    await assertStatus({ PhoneNumber: phone, Email: address, LeadStatusId: other }, other);
    for (const LeadStatusId of [other, statusPointer(other), fresh, 'dangling00']) {
      await assertStatus({ PhoneNumber: phone, LeadStatusId }, duplicate);
      await assertStatus({ Email: address, LeadStatusId }, duplicate);
    }
  });

  test('coercion: an empty `LeadStatusId` is not written, an unknown well-formed one is a dangling Pointer', async () => {
    await assertStatus({ PhoneNumber: newPhone(), LeadStatusId: '' }, fresh);
    await assertStatus({ PhoneNumber: newPhone(), LeadStatusId: null }, fresh);
    await assertStatus({ PhoneNumber: newPhone(), LeadStatusId: 'dangling00' }, 'dangling00');
  });

  test('e-mail addresses match where they are equal, case included', async () => {
    const name = unique('Mixed');
    await forms.create('Accounts', { Email: `${name}@Example.com` });
    for (const address of [
      `${name}@example.com`,
      `${name.toLowerCase()}@Example.com`,
      `${name}@Example.com `,
      `x${name}@Example.com`,
    ])
      await assertStatus({ Email: address }, fresh, 'not equal');
    await assertStatus({ Email: `${name}@Example.com` }, duplicate);
  });

  test('getlead: an e-mail address is no pattern', async () => {
    const name = unique('pattern');
    await forms.create('Accounts', { Email: `${name}@example.com` });
    for (const address of [`${name}@example%`, `${name}_example.com`, '%', `.*${name}.*`, `${name}@example.com' OR '1'='1`])
      await assertStatus({ Email: address }, fresh);
  });

  test('getlead: the phone is not looked for among the addresses, nor the other way round', async () => {
    const [phone, second] = [newPhone(), newPhone()];
    await forms.create('Accounts', { Email: phone, Name: second, CompanyId: second });
    await assertStatus({ PhoneNumber: phone }, fresh);
    await assertStatus({ PhoneNumber: second }, fresh);
  });

  test('getlead: an account without phone and e-mail matches nothing', async () => {
    await forms.create('Accounts', { Name: 'neither' });
    await forms.create('Accounts', { PhoneNumber: '', Email: '' });
    await assertStatus({ PhoneNumber: newPhone() }, fresh);
    await assertStatus({ Email: email() }, fresh);
    await assertStatus({ PhoneNumber: newPhone(), Email: ' ' }, fresh);
  });

  test('getlead: an e-mail that was changed, cleared or deleted no longer matches', async () => {
    const [first, second] = [email(), email()];
    const id = await forms.create('Accounts', { Email: first });
    await forms.update('Accounts', id, { Email: second });
    await assertStatus({ Email: first }, fresh);
    await forms.update('Accounts', id, { Email: { __op: 'Delete' } });
    await assertStatus({ Email: second }, fresh);
    const third = email();
    const gone = await forms.create('Accounts', { Email: third });
    await forms.remove('Accounts', gone);
    await assertStatus({ Email: third }, fresh);
  });

  test('getlead: leads that come at once: each has a row, and the first is new', async () => {
    const numbers = [newPhone(), newPhone(), newPhone()];
    const addresses = [email(), email(), email()];
    const sent = numbers.flatMap((PhoneNumber, n) => [
      { PhoneNumber },
      { PhoneNumber: `+972-${PhoneNumber.slice(1)}`, Email: addresses[n] },
      { PhoneNumber, Email: addresses[n] },
    ]);
    const records = await Promise.all([...sent, ...sent].map((fields) => lead(fields)));
    assert.equal(new Set(records.map(({ objectId }) => objectId)).size, sent.length * 2);
    const statuses = records.map(({ LeadStatusId }) => LeadStatusId.objectId);
    assert.equal(statuses.filter((status) => status === fresh).length, numbers.length);
    assert.equal(statuses.filter((status) => status === duplicate).length, records.length - numbers.length);
    // The same for one address with different numbers.
    const [Email] = [email()];
    const same = await Promise.all(Array.from({ length: 4 }, () => lead({ PhoneNumber: newPhone(), Email })));
    assert.equal(same.filter(({ LeadStatusId }) => LeadStatusId.objectId === fresh).length, 1);
  });

  describe('the statuses are the first created rows of `LeadStatuses` whose `SystemKey` is `new` and `duplicate`', () => {
    const setKey = (id: string, SystemKey: unknown) => forms.update('LeadStatuses', id, { SystemKey });
    after(async () => {
      await setKey(fresh, 'new');
      await setKey(duplicate, 'duplicate');
    });

    test('a later row with the key counts for nothing, whatever its name and id', async () => {
      const id = await forms.create('LeadStatuses', { objectId: '0000000000', Name: 'ליד חדש', SystemKey: 'new' });
      await assertStatus({ PhoneNumber: newPhone() }, fresh);
      // Without the first row, the next one counts at once.
      await setKey(fresh, null);
      await assertStatus({ PhoneNumber: newPhone() }, id);
      await setKey(fresh, 'new');
      await assertStatus({ PhoneNumber: newPhone() }, fresh);
      await setKey(id, { __op: 'Delete' });
    });

    test('the name of a status may change', async () => {
      await forms.update('LeadStatuses', duplicate, { Name: 'כפילות', Active: false });
      const PhoneNumber = newPhone();
      await forms.create('Accounts', { PhoneNumber });
      await assertStatus({ PhoneNumber }, duplicate);
    });

    test('where there is none, a duplicate has no status, another lead the supplied one or none', async () => {
      await setKey(fresh, 'was-new');
      await setKey(duplicate, 'Duplicate');
      const PhoneNumber = newPhone();
      await assertStatus({ PhoneNumber }, undefined);
      await assertStatus({ PhoneNumber, LeadStatusId: other }, undefined);
      await assertStatus({ PhoneNumber: newPhone(), LeadStatusId: other }, other);
    });
  });
});
