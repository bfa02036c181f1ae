/** Every case of form values, in each place, as JSON, and as a form if a text can express it. Reference: functions.md#form-values. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertClean, assertRefused, type Json, mismatch, pointer } from '../support/records.ts';
import type { Answer } from '../support/service.ts';
import { cases, missing, operators, type Place, places, Refused, type Type, types } from './coercion-cases.ts';
import { newPhone, onAnyEngine, type Way } from './forms.ts';

const all = Object.keys(types) as Type[];
const nameOf = (type: Type): string => `Own${type.replace('/', '')}`;

onAnyEngine((forms) => {
  const { send } = forms;
  let table = '';
  before(async () => {
    await forms.openForms();
    const fields = Object.fromEntries(
      all.map((type) => [nameOf(type), { type, ...(/Pointer|Relation/.test(type) && { targetClass: 'LeadSource' }) }]),
    );
    await forms.addFields('Accounts', fields);
    table = await forms.table({ ...fields, AccountId: { type: 'Pointer', targetClass: 'Accounts' } });
  });

  const tableOf = (place: Place): string => (place === 'row' ? table : 'Accounts');
  const counts = () => Promise.all([forms.count('Accounts'), forms.count(table)]);

  /** Sends a value for a field in a place. */
  function sent(place: Place, field: string, value: unknown, way: Way = 'json'): Promise<Answer> {
    if (place === 'lead') return send('getlead', { PhoneNumber: newPhone(), [field]: value }, way);
    return send('web2table', { table, phone: newPhone(), [`${place === 'row' ? 'table' : place}_${field}`]: value }, way);
  }

  /** Returns the record that the request created. */
  function record(place: Place, { status, body, text }: Answer): Promise<Json> {
    assert.equal(status, 200, text);
    if (place === 'lead') return forms.read('Accounts', body.result.leadId);
    return forms.read(tableOf(place), place === 'row' ? body.Id : body.accountId);
  }

  async function check(place: Place, type: Type, value: unknown, result: unknown, way: Way): Promise<void> {
    const field = nameOf(type);
    const before = result instanceof Refused ? await counts() : [];
    const answer = await sent(place, field, value, way);
    if (result instanceof Refused) {
      assertRefused(answer, mismatch(tableOf(place), field, types[type], result.got));
      assert.deepEqual(await counts(), before, 'nothing is written');
      return;
    }
    const stored = (await record(place, answer))[field];
    if (type !== 'Relation') assert.deepEqual(stored, result === missing ? undefined : result);
    else assert.deepEqual(stored, { __type: 'Relation', className: 'LeadSource' });
  }

  const says = (result: unknown) =>
    result === missing ? 'missing' : result instanceof Refused ? `111 ${result.got}` : JSON.stringify(result);
  const short = (value: unknown) => JSON.stringify(value).slice(0, 60);
  const isText = (value: unknown): value is string => typeof value === 'string';

  for (const type of all)
    for (const place of places)
      for (const [value, result, ...only] of cases[type])
        if (only.length === 0 || only.includes(place))
          test(`coercion, ${place}: ${type} ${short(value)}: ${says(result)}`, async () => {
            await check(place, type, value, result, 'json');
            if (isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText))) {
              await check(place, type, value, result, 'form');
              await check(place, type, value, result, 'query');
            }
          });

  for (const type of all)
    for (const place of places)
      test(`coercion, ${place}: what the records API would carry out is no value of ${type}`, async () => {
        let before = await counts();
        for (const value of operators) {
          const answer = await sent(place, nameOf(type), value);
          const isPassedOver =
            type === 'Relation' || (/File$/.test(type) && place !== 'row') || (type === 'Pointer' && place === 'row');
          if (isPassedOver) {
            const stored = (await record(place, answer))[nameOf(type)];
            assert.equal(stored?.objectId, undefined);
            before = await counts();
            continue;
          }
          assertClean(answer);
          assert.equal(answer.status, 400, `${JSON.stringify(value)} ${answer.text}`);
          assert.equal(answer.body.code, 111, `${JSON.stringify(value)} ${answer.text}`);
          assert.match(
            answer.body.error,
            /^schema mismatch for \w+\.\w+; expected .+ but got .+$|^This is not a valid (Date|Pointer)$/,
          );
          assert.deepEqual(await counts(), before);
        }
        if (type === 'Relation') assert.deepEqual(await forms.find('LeadSource', { objectId: 'abcdefghij' }), []);
      });

  // In `IsAccount` and `account_IsAccount` a string returns 111.
  for (const place of ['lead', 'account'] as const)
    test(`coercion, ${place}: IsAccount takes no string`, async () => {
      for (const [value, got] of [
        ['true', 'String'],
        ['false', 'String'],
        ['yes', 'String'],
        [1, 'Number'],
        [0, 'Number'],
        [[], 'Array'],
      ] as const) {
        const before = await counts();
        assertRefused(await sent(place, 'IsAccount', value), mismatch('Accounts', 'IsAccount', 'Boolean', got));
        if (got === 'String')
          for (const way of ['form', 'query'] as const)
            assertRefused(await sent(place, 'IsAccount', value, way), mismatch('Accounts', 'IsAccount', 'Boolean', 'String'));
        assert.deepEqual(await counts(), before);
      }
      for (const value of [true, false, '', null])
        assert.equal(
          (await record(place, await sent(place, 'IsAccount', value))).IsAccount,
          place === 'account' && value === true,
        );
    });

  test('coercion: a multi-select array of the product, and a real record as target', async () => {
    const objectId = await forms.create('Languages', { Name: 'עברית' });
    const source = await forms.create('LeadSource', { Name: 'site' });
    const field = 'array_languages_Pointer_Languages';
    const made = await record(
      'lead',
      await send('getlead', { PhoneNumber: newPhone(), [field]: [pointer('Languages', objectId)], LeadSourceId: source }),
    );
    assert.deepEqual([made[field], made.LeadSourceId], [[pointer('Languages', objectId)], pointer('LeadSource', source)]);
    for (const name of ['account', 'table'])
      for (const value of [[pointer('Languages', objectId)], [objectId]]) {
        const answer = await send('web2table', { table: 'Accounts', phone: newPhone(), [`${name}_${field}`]: value });
        const { body } = answer;
        assert.deepEqual((await forms.read('Accounts', name === 'table' ? body.Id : body.accountId))[field], value);
      }
    const bare = await send('web2table', `table=Accounts&phone=${newPhone()}&account_${field}=a&account_${field}=b`, 'form');
    assert.deepEqual((await forms.read('Accounts', bare.body.accountId))[field], ['a', 'b']);
  });

  test('coercion: an array for a field of one value, by a form: 111', async () => {
    for (const place of places)
      for (const type of ['String', 'Number', 'Boolean', 'Date'] as const)
        for (const value of [['a', 'b'], ['a']])
          assertRefused(await sent(place, nameOf(type), value, 'form'), mismatch(tableOf(place), nameOf(type), type, 'Array'));
  });

  test('coercion: a non-empty wrongly typed value fails the whole request, whatever else is right', async () => {
    const before = await counts();
    const good = { PhoneNumber: newPhone(), Name: 'x', OwnNumber: '5', OwnDate: '2026-06-01' };
    assertRefused(await send('getlead', { ...good, OwnBoolean: 1 }), mismatch('Accounts', 'OwnBoolean', 'Boolean', 'Number'));
    assertRefused(await send('getlead', { OwnBoolean: 1, ...good }), mismatch('Accounts', 'OwnBoolean', 'Boolean', 'Number'));
    assert.deepEqual(await counts(), before);
  });

  test('coercion: keys that records refuse inside a value are refused in forms too', async () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"a":{"constructor":1}}', '{"$set":1}', '{"a.b":1}', '{"a":{"$x":1}}']) {
      const before = await counts();
      for (const [field, value] of [
        ['OwnObject', text],
        ['OwnArray', `[${text}]`],
      ]) {
        const answer = await send('getlead', `{"PhoneNumber":"${newPhone()}","${field}":${value}}`);
        assert.equal(answer.status, 400, answer.text);
        assert.ok([105, 121].includes(answer.body.code), answer.text);
      }
      assert.deepEqual(await counts(), before);
    }
  });
});
