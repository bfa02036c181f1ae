import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { parseTrigger, readDefinition } from './definition.ts';

const mail = { _id: 'aaaaaaaaaa', type: 'e-mail', actionData: { to: 'a@b.test', subject: '', html: '' } };
const whole: JsonObject = { objectId: 'tttttttttt', Name: 'n', table: 'Accounts', events: ['create'], actions: [mail] };
const withAction = (action: JsonValue): JsonObject => ({ ...whole, actions: [mail, action] });
const withData = (type: string, actionData: JsonValue): JsonObject => withAction({ _id: 'bbbbbbbbbb', type, actionData });
const json = (text: string): JsonObject => JSON.parse(text);

describe('definitions', () => {
  test('one is read with what it leaves out', () => {
    assert.deepEqual(readDefinition(whole), {
      id: 'tttttttttt',
      name: 'n',
      table: 'Accounts',
      events: new Set(['create']),
      criteria: null,
      changedFields: [],
      schedule: null,
      actions: [
        {
          id: 'aaaaaaaaaa',
          type: 'e-mail',
          isActive: true,
          data: { to: 'a@b.test', cc: null, bcc: null, subject: '', html: '' },
        },
      ],
      isActive: true,
      author: null,
    });
  });

  test('changed fields are the fields of the places that are named, each once', () => {
    const { changedFields } = readDefinition({ ...whole, changedFields: ['Name', 'Value.a.b', 'Value.c', 'Name'] });
    assert.deepEqual(changedFields, ['Name', 'Value']);
  });

  test('every type of action is read', () => {
    const data: Record<string, [JsonObject, JsonObject]> = {
      'create-object': [
        { table: 'T', fields: { F: '{{G}}', 'O.k': 1 } },
        { table: 'T', fields: { F: '{{G}}', 'O.k': 1 } },
      ],
      'update-object': [
        { target: 'self', fields: {} },
        { target: 'self', fields: {} },
      ],
      'e-mail': [
        { to: 'a', cc: 'b', bcc: null, subject: 's', html: 'h' },
        { to: 'a', cc: 'b', bcc: null, subject: 's', html: 'h' },
      ],
      notification: [
        { user: 'u', content: 'c' },
        { user: 'u', content: 'c', icon: null },
      ],
      'server-side-code': [{ functionName: 'f' }, { functionName: 'f', useQueue: false }],
    };
    for (const [type, [sent, read]] of Object.entries(data))
      assert.deepEqual(readDefinition(withData(type, sent)).actions[1]?.data, read, type);
  });

  test('addresses may be a list, the user of a notification a Pointer, ids of actions more than objectIds', () => {
    const sent = { to: ['a@b.test', '{{Email}}', ''], cc: [], bcc: ['c@b.test'], subject: '', html: '' };
    const read = { ...sent, to: 'a@b.test, {{Email}}', cc: '', bcc: 'c@b.test' };
    assert.deepEqual(readDefinition(withData('e-mail', sent)).actions[1]?.data, read);
    const user = { __type: 'Pointer', className: '_User', objectId: 'any id' };
    assert.deepEqual(readDefinition(withData('notification', { user, content: '' })).actions[1]?.data, {
      ...{ user: 'any id', isPointer: true, content: '', icon: null },
    });
    assert.equal(readDefinition(withAction({ ...mail, _id: '_bb-Bbbb0b' })).actions[1]?.id, '_bb-Bbbb0b');
  });

  const noUser = 'actions[1].actionData.user is no Pointer to _User';
  const refused: [JsonObject, string][] = [
    [{ ...whole, objectId: 'a,b' }, 'objectId is not 10 letters and digits'],
    [{ ...whole, Name: true }, 'Name is not a text'],
    [{ ...whole, Name: 'n'.repeat(1_001) }, 'Name is longer than 1,000 characters'],
    [{ ...whole, table: null }, 'table is missing'],
    [{ ...whole, table: ['Accounts'] }, 'table is not a text'],
    [{ ...whole, events: null }, 'events is missing'],
    [{ ...whole, events: 'create' }, 'events is not an array'],
    [{ ...whole, events: [] }, 'events are empty'],
    [{ ...whole, events: ['create', 'read'] }, 'events[1] is unknown: read'],
    [{ ...whole, events: [{ a: 1 }] }, 'events[0] is unknown: {"a":1}'],
    [{ ...whole, criteria: 'x' }, 'criteria are not an object'],
    [{ ...whole, criteria: [] }, 'criteria are not an object'],
    [{ ...whole, changedFields: 'Name' }, 'changedFields is not an array'],
    [{ ...whole, changedFields: [1] }, 'changedFields[0] is not a name'],
    [{ ...whole, schedule: { cron: '* * * * *' } }, 'schedule is there, but events have no schedule'],
    [{ ...whole, events: ['schedule'] }, 'schedule is missing'],
    [{ ...whole, Active: 'yes' }, 'Active is not true or false'],
    [{ ...whole, actions: null }, 'actions is missing'],
    [{ ...whole, actions: {} }, 'actions is not an array'],
    [{ ...whole, actions: Array(101).fill(mail) }, 'actions has more than 100 elements'],
    [{ ...whole, actions: [mail, mail] }, 'two actions have the same _id'],
    [withAction(5), 'actions[1] is not an object'],
    [withAction(null), 'actions[1] is missing'],
    [withAction({ type: 'e-mail' }), 'actions[1]._id is not 10 letters, digits, _ or -'],
    [withAction({ _id: 'bbbbbbbbb.', type: 'e-mail' }), 'actions[1]._id is not 10 letters, digits, _ or -'],
    [withAction({ _id: 'bbbbbbbbbb' }), 'actions[1].type is missing'],
    [withAction({ _id: 'bbbbbbbbbb', type: 'constructor' }), 'actions[1].type is unknown: constructor'],
    [withAction({ _id: 'bbbbbbbbbb', type: 'e-mail' }), 'actions[1].actionData is missing'],
    [withAction({ ...mail, _id: 'bbbbbbbbbb', Active: 1 }), 'actions[1].Active is not true or false'],
    [withAction({ ...mail, _id: 'bbbbbbbbbb', name: 'x' }), 'actions[1].name is unknown'],
    [withData('e-mail', { subject: '', html: '' }), 'actions[1].actionData.to is missing'],
    [withData('e-mail', { to: ' ', subject: '', html: '' }), 'actions[1].actionData.to is empty'],
    [withData('e-mail', { to: { a: 1 }, subject: '', html: '' }), 'actions[1].actionData.to is not a text'],
    [withData('e-mail', { to: ['a', 5], subject: '', html: '' }), 'actions[1].actionData.to[1] is not a text'],
    [withData('e-mail', { to: ['', ' '], subject: '', html: '' }), 'actions[1].actionData.to is empty'],
    [
      withData('e-mail', { to: 'a', cc: Array(2_000).fill('a@b.test'), subject: '', html: '' }),
      'actions[1].actionData.cc is longer than 10,000 characters',
    ],
    [withData('e-mail', { to: 'a', html: '' }), 'actions[1].actionData.subject is missing'],
    [
      withData('e-mail', { to: 'a', subject: 's'.repeat(1_001), html: '' }),
      'actions[1].actionData.subject is longer than 1,000 characters',
    ],
    [
      withData('e-mail', { to: 'a', subject: '', html: 'h'.repeat(1_000_001) }),
      'actions[1].actionData.html is longer than 1,000,000 characters',
    ],
    [withData('e-mail', { to: 'a', subject: '', html: '', text: '' }), 'actions[1].actionData.text is unknown'],
    [withData('notification', { content: '' }), 'actions[1].actionData.user is missing'],
    [withData('notification', { user: { __type: 'Pointer', className: 'Tags', objectId: 'x' }, content: '' }), noUser],
    [withData('notification', { user: { __type: 'Pointer', className: '_User' }, content: '' }), noUser],
    [
      withData('notification', { user: { __type: 'Pointer', className: '_User', objectId: '' }, content: '' }),
      'actions[1].actionData.user.objectId is empty',
    ],
    [withData('notification', { user: 'u' }), 'actions[1].actionData.content is missing'],
    [withData('server-side-code', {}), 'actions[1].actionData.functionName is missing'],
    [withData('server-side-code', { functionName: 'f', useQueue: 'no' }), 'actions[1].actionData.useQueue is not true or false'],
    [withData('create-object', { fields: {} }), 'actions[1].actionData.table is missing'],
    [withData('create-object', { table: 'T' }), 'actions[1].actionData.fields is missing'],
    [withData('create-object', { table: 'T', fields: [] }), 'actions[1].actionData.fields is not an object'],
    [withData('create-object', { table: 'T', fields: { 'a b': 1 } }), 'actions[1].actionData.fields has an invalid name: a b'],
    [
      withData('update-object', { target: 'self', fields: { 'a.$b': 1 } }),
      'actions[1].actionData.fields has an invalid name: a.$b',
    ],
    [withData('update-object', { fields: {} }), 'actions[1].actionData.target is missing'],
  ];
  for (const [row, why] of refused)
    test(`refused: ${why}`, () => {
      assert.throws(() => readDefinition(row), { code: 107, message: `Invalid trigger: ${why}` });
      assert.equal(parseTrigger(row).isActive, false);
    });

  test('rows of any shape are read, and are switched off', () => {
    for (const row of [{}, { objectId: 5 }, json('{"__proto__":{"table":"Accounts"}}'), { events: 1, actions: 'x', table: 5 }]) {
      const { isActive, actions, events } = parseTrigger(row as JsonObject);
      assert.deepEqual([isActive, actions, events], [false, [], new Set()]);
    }
    assert.deepEqual(
      [parseTrigger(whole).isActive, parseTrigger({ ...whole, Active: false, lastRun: 5, Other: {} }).isActive],
      [true, false],
    );
  });
});
