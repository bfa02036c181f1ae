/** `getlead`: the flag, required inputs, fields of the lead, and exact answers. Reference: functions.md#getlead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, mismatch, send as sendRaw, unique } from '../support/records.ts';
import { newSession, signUp } from '../support/users.ts';
import {
  assertByService,
  assertError,
  disabled,
  type Fields,
  idForm,
  missingLead,
  newPhone,
  on,
  onEachEngine,
  statusPointer,
  type Way,
  ways,
} from './forms.ts';

const flag = 'AcceptWebLeads';
const email = () => `${unique('lead')}@example.com`;

onEachEngine((forms) => {
  const { send, lead, setFlag } = forms;

  /** Asserts that a call creates no lead. */
  async function refused(fields: Fields | undefined, error: string, way?: Way): Promise<void> {
    const before = await forms.count('Accounts');
    assertError(await send('getlead', fields, way), error);
    assert.equal(await forms.count('Accounts'), before, 'no lead is made');
  }

  test('Config: `AcceptWebLeads` is present and on in a new system', async () => {
    assert.deepEqual(
      (await forms.find('Config', { Name: flag })).map(({ Value }) => Value),
      [on(flag)],
    );
    await lead({ PhoneNumber: newPhone() });
  });

  for (const way of ways)
    test(`getlead/200: {result: {success: true, leadId}}, one row in Accounts with IsAccount false (${way})`, async () => {
      const PhoneNumber = newPhone();
      const sent = { Name: 'דנה כהן & sons + 1', F_name: 'דנה', L_name: 'כהן', PhoneNumber, Email: email() };
      const more = { Address: 'Herzl 1, דירה 2', City: 'חיפה', CompanyId: '512345678' };
      const before = await forms.count('Accounts');
      const answer = await send('getlead', { ...sent, ...more }, way);
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.deepEqual(answer.body, { result: { success: true, leadId: answer.body.result.leadId } });
      assert.match(answer.body.result.leadId, idForm);
      const record = await forms.read('Accounts', answer.body.result.leadId);
      const { objectId, createdAt, updatedAt, createdBy, updatedBy, ACL, ...fields } = record;
      const status = statusPointer(await forms.status('new'));
      assert.deepEqual(fields, { ...sent, ...more, IsAccount: false, fromWeb2lead: true, LeadStatusId: status });
      assertByService(record);
      assert.equal(await forms.count('Accounts'), before + 1);
    });

  test('getlead: any custom field of the schema', async () => {
    const [text, number] = [unique('Text'), unique('Number')];
    await forms.addFields('Accounts', { [text]: { type: 'String' }, [number]: { type: 'Number' } });
    const record = await lead({ PhoneNumber: newPhone(), [text]: 'שלום', [number]: '7' });
    assert.deepEqual([record[text], record[number]], ['שלום', 7]);
  });

  const inputs: [string, Fields | undefined][] = [
    ['no body', undefined],
    ['an empty object', {}],
    ['other fields alone', { Name: 'x', City: 'y' }],
    ['null', { PhoneNumber: null, Email: null }],
    ['empty texts', { PhoneNumber: '', Email: '' }],
    ['white space', { PhoneNumber: ' \t\n', Email: '\u00a0 ' }],
    ['names in another case', { phonenumber: '0501234567', email: 'a@example.com', phone: '0501234567' }],
  ];
  for (const [what, fields] of inputs)
    test(`getlead/400: missing "PhoneNumber" or "Email": ${what}`, async () => {
      await refused(fields, missingLead);
      if (what !== 'null') for (const way of ['form', 'query'] as const) await refused(fields, missingLead, way);
    });

  test('getlead: at least one of `PhoneNumber` or `Email`', async () => {
    const phone = newPhone();
    assert.equal((await lead({ PhoneNumber: phone })).PhoneNumber, phone);
    const address = email();
    const byMail = await lead({ Email: address, PhoneNumber: '' });
    assert.deepEqual([byMail.Email, byMail.PhoneNumber], [address, undefined]);
    assert.equal((await lead({ PhoneNumber: newPhone(), Email: null })).Email, undefined);
  });

  test('Limits: a string field converts a number silently: a phone that is a number is there', async () => {
    assert.equal((await lead({ PhoneNumber: 972501111222 })).PhoneNumber, '972501111222');
  });

  for (const [value, got] of [
    [true, 'Boolean'],
    [false, 'Boolean'],
    [{}, 'Object'],
    [['0501234567'], 'Array'],
  ] as const)
    test(`coercion: a phone or e-mail that is ${JSON.stringify(value)} fails the whole request with 111`, async () => {
      const before = await forms.count('Accounts');
      for (const name of ['PhoneNumber', 'Email'])
        assertRefused(
          await send('getlead', { PhoneNumber: newPhone(), Email: email(), [name]: value }),
          mismatch('Accounts', name, 'String', got),
        );
      assert.equal(await forms.count('Accounts'), before);
    });

  const closed: [string, unknown][] = [
    ['the row is missing', undefined],
    ['it says false', { [flag]: false }],
    ['it says nothing', {}],
    ['it says 1', { [flag]: 1 }],
    ['it says null', { [flag]: null }],
    ['it is an object', { [flag]: { on: true } }],
    ['the key is that of another flag', on('AcceptWebToTable')],
    ['the key is in another case', { acceptwebleads: true }],
    ['it lies deeper', { Value: { [flag]: true } }],
  ];
  for (const [what, value] of closed)
    test(`getlead/400: AcceptWebLeads is Disabled: ${what}`, async () => {
      await setFlag(flag, value);
      await refused({ PhoneNumber: newPhone() }, disabled(flag));
      await refused({ PhoneNumber: newPhone() }, disabled(flag), 'form');
      // The flag comes before required inputs and values.
      await refused({}, disabled(flag));
      await refused({ PhoneNumber: {}, IsAccount: 'x' }, disabled(flag));
      await setFlag(flag, on(flag));
      await lead({ PhoneNumber: newPhone() });
    });

  test('getlead: the flags of the other functions do not open it', async () => {
    await setFlag(flag);
    for (const name of ['AcceptWebToTable', 'AcceptWebToCaseLeads', 'AcceptWebToSaleLeads']) await setFlag(name, on(name));
    await refused({ PhoneNumber: newPhone() }, disabled(flag));
    await setFlag(flag, on(flag));
  });

  test('Config: if several rows share a `Name`, the one created first is used', async () => {
    await setFlag(flag, { [flag]: false });
    const second = await forms.create('Config', { objectId: '0000000000', Name: flag, Value: on(flag) });
    await refused({ PhoneNumber: newPhone() }, disabled(flag));
    const [first] = await forms.find('Config', { Name: flag });
    assert.notEqual(first.objectId, second);
    await forms.update('Config', first.objectId, { Value: on(flag) });
    await forms.update('Config', second, { Value: { [flag]: false } });
    await lead({ PhoneNumber: newPhone() });
    await forms.update('Config', first.objectId, { Name: 'Other' });
    await refused({ PhoneNumber: newPhone() }, disabled(flag));
    await setFlag('Other');
    await setFlag(flag, on(flag));
  });

  test('Config: a bare boolean `Value` is rejected at write time, and changes nothing', async () => {
    const [row] = await forms.find('Config', { Name: flag });
    assertRefused(await forms.put('Config', row.objectId, { Value: false }), mismatch('Config', 'Value', 'Object', 'Boolean'));
    await lead({ PhoneNumber: newPhone() });
  });

  test('getlead: a flag that is changed counts for the next call', async () => {
    const [row] = await forms.find('Config', { Name: flag });
    for (let n = 0; n < 10; n++) {
      await forms.update('Config', row.objectId, { Value: { [flag]: false } });
      await refused({ PhoneNumber: newPhone() }, disabled(flag));
      await forms.update('Config', row.objectId, { Value: on(flag) });
      await lead({ PhoneNumber: newPhone() });
    }
  });

  test('Config: `DefaultValues.Account` has no effect here', async () => {
    await setFlag(flag, on(flag, { DefaultValues: { Account: { City: 'default', Name: 'default', IsAccount: true } } }));
    const { City, Name, IsAccount } = await lead({ PhoneNumber: newPhone() });
    assert.deepEqual([City, Name, IsAccount], [undefined, undefined, false]);
    await setFlag(flag, on(flag));
  });

  test('Server-side functions: no credential is needed, and none decides anything', async () => {
    const user = await signUp(forms);
    const ended = await newSession(forms, user);
    await forms.call('POST', '/platform/logout', { session: ended });
    for (const headers of [
      {},
      { 'X-Platform-Application-Id': 'another' },
      { 'X-Platform-Master-Key': 'wrong' },
      { 'X-Platform-Master-Key': forms.service().masterKey },
      { 'X-Platform-Session-Token': user.token },
      { 'X-Platform-Session-Token': ended },
      { Authorization: 'Bearer nothing' },
    ]) {
      const answer = await send('getlead', { PhoneNumber: newPhone() }, 'json', headers as Record<string, string>);
      assert.equal(answer.status, 200, `${JSON.stringify(headers)} ${answer.text}`);
      assertByService(await forms.read('Accounts', answer.body.result.leadId));
    }
  });

  test('any other body is read as JSON, whatever its Content-Type', async () => {
    const { appId } = forms.service();
    for (const type of ['text/plain', 'application/json; charset=utf-8', 'application/vnd.api+json']) {
      const body = JSON.stringify({ PhoneNumber: newPhone() });
      const answer = await sendRaw(forms.service(), {
        path: `/functions/${appId}/getlead`,
        headers: { 'Content-Type': type },
        body,
      });
      assert.equal(answer.status, 200, `${type} ${answer.text}`);
    }
  });

  test('getlead/400: User function not found: wrong function name, in any case of letters', async () => {
    for (const name of ['web2lead', 'GetLead', 'getlead2', 'constructor', '__proto__', 'toString']) await refusedName(name);
  });

  async function refusedName(name: string): Promise<void> {
    for (const way of ways) assertError(await send(name, { PhoneNumber: newPhone() }, way), 'User function not found');
  }
});
