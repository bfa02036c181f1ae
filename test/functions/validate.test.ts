/** `ValidatePhoneOrEmail`: a request is rejected if both values are invalid. Reference: functions.md#getlead. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertError, type Fields, missingLead, newPhone, on, onAnyEngine, ways } from './forms.ts';

const flag = 'AcceptWebLeads';
const ofLength = (length: number) => `a@b.${'c'.repeat(length - 4)}`;

/** Valid phones have 7 to 14 digits after removal of non-digits. */
const phones: [sent: unknown, isValid: boolean][] = [
  ['1', false],
  ['123456', false],
  ['1234567', true],
  ['12345678901234', true],
  ['123456789012345', false],
  ['1-2-3-4-5-6', false],
  ['(123) 45-67', true],
  ['+1 (234) 567-890-12 34', true],
  ['+1 (234) 567-890-12 345', false],
  ['tel. 123456', false],
  ['tel. 1234567', true],
  ['no digits', false],
  ['-------', false],
  // Digits are counted as sent: 972 are three.
  ['+972-123', false],
  ['+972-1234', true],
  ['972123', false],
  ['97250123456789', true],
  ['972501234567890', false],
  [123456, false],
  [1234567, true],
];

/** Valid addresses have 6 to 80 characters, with `@` and `.`. */
const addresses: [sent: string, isValid: boolean][] = [
  [ofLength(5), false],
  [ofLength(6), true],
  [ofLength(80), true],
  [ofLength(81), false],
  ['abcdefgh', false],
  ['abc@example', false],
  ['abc.example', false],
  ['a.b@example', true],
  ['@....x', true],
  ['דנה@דואר.ישראל', true],
];

onAnyEngine((forms) => {
  const { send, lead } = forms;
  const validate = (ValidatePhoneOrEmail: unknown) => forms.setFlag(flag, on(flag, { ValidatePhoneOrEmail }));
  before(() => validate(true));

  async function refused(fields: Fields): Promise<void> {
    const count = await forms.count('Accounts');
    for (const way of ways) assertError(await send('getlead', fields, way), missingLead);
    assert.equal(await forms.count('Accounts'), count, 'no lead is made');
  }

  for (const [sent, isValid] of phones)
    test(`ValidatePhoneOrEmail: the phone ${JSON.stringify(sent)} is ${isValid ? 'valid' : 'rejected'}`, async () => {
      if (isValid) assert.equal((await lead({ PhoneNumber: sent })).PhoneNumber, String(sent));
      else await refused({ PhoneNumber: sent });
    });

  for (const [sent, isValid] of addresses)
    test(`ValidatePhoneOrEmail: the e-mail ${sent} is ${isValid ? 'valid' : 'rejected'}`, async () => {
      if (isValid) assert.equal((await lead({ Email: sent })).Email, sent);
      else await refused({ Email: sent });
    });

  test('ValidatePhoneOrEmail: one valid value suffices; the other is stored as it was sent', async () => {
    const byPhone = await lead({ PhoneNumber: newPhone(), Email: 'none' });
    assert.equal(byPhone.Email, 'none');
    const byMail = await lead({ PhoneNumber: '12', Email: 'a@b.example' });
    assert.equal(byMail.PhoneNumber, '12');
  });

  test('getlead/400: both invalid, or both absent', async () => {
    await refused({ PhoneNumber: '12', Email: 'none' });
    await refused({ PhoneNumber: '12', Email: '' });
    await refused({ PhoneNumber: ' ', Email: 'none' });
    await refused({});
  });

  test('getlead: what is invalid for the form still matches what is stored', async () => {
    const [fresh, duplicate] = [await forms.status('new'), await forms.status('duplicate')];
    const phone = newPhone().slice(-6);
    assert.equal((await lead({ PhoneNumber: phone, Email: 'a@b.first' })).LeadStatusId.objectId, fresh);
    const spelled = `${phone.slice(0, 3)}-${phone.slice(3)}`;
    assert.equal((await lead({ PhoneNumber: spelled, Email: 'a@b.second' })).LeadStatusId.objectId, duplicate);
  });

  test('ValidatePhoneOrEmail applies to `getlead` alone', async () => {
    await forms.setFlag('AcceptWebToTable', on('AcceptWebToTable', { ValidatePhoneOrEmail: true }));
    const phone = newPhone().slice(-6);
    const { accountId } = await forms.link({ table: 'Tasks', phone, email: 'x' });
    const { PhoneNumber, Email } = await forms.read('Accounts', accountId);
    assert.deepEqual([PhoneNumber, Email], [phone, 'x']);
  });

  for (const value of [undefined, false, null])
    test(`ValidatePhoneOrEmail: ${value}: anything goes`, async () => {
      await validate(value);
      for (const [sent] of phones) await lead({ PhoneNumber: sent });
      for (const [sent] of addresses) await lead({ Email: sent });
      assertError(await send('getlead', { PhoneNumber: ' ' }), missingLead);
    });

  test('ValidatePhoneOrEmail: a change counts for the next call', async () => {
    await validate(true);
    await refused({ PhoneNumber: '1' });
    await validate(false);
    await lead({ PhoneNumber: '1' });
  });
});
