import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChange, emptySchema } from '../../schema/change.ts';
import { tableOf } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import { nameRoles, nameUsers } from './001-names.ts';

const text = (name: string) => ({ name, type: 'String' }) as const;
const schema = [
  { kind: 'createTable', className: '_Role', fields: [text('name')] } as const,
  { kind: 'createTable', className: '_User', fields: [text('_username_key'), text('_email_key')] } as const,
].reduce(applyChange, emptySchema);

/** The values that updates write, by objectId. */
const written = (mutations: Mutation[]) =>
  mutations.map((mutation) => {
    assert.ok(mutation.kind === 'update');
    const values = mutation.assignments.map((assignment) => (assignment.kind === 'set' ? assignment.value : assert.fail()));
    return [mutation.objectId, ...values];
  });

test('a name that several roles have is left to the first', () => {
  const roles = ['A', 'A 2', 'A', null, 'B', 'A'].map((name, at) => ({ objectId: `${at}`, name }));
  assert.deepEqual(written(nameRoles(tableOf(schema, '_Role'), roles)), [
    ['0', 'A'],
    ['1', 'A 2'],
    ['2', 'A 3'],
    ['4', 'B'],
    ['5', 'A 4'],
  ]);
});

test('a name or an address that several users have is left to the first', () => {
  const users = [
    { objectId: '1', username: ' Dana', email: 'D@x.y' },
    { objectId: '2', username: 'DANA', email: 'dana@x.y' },
    { objectId: '3', username: 'dana', email: 'no address' },
    { objectId: '4', username: '  ' },
    { objectId: '5', username: 'Eva', email: 'd@X.y' },
  ];
  assert.deepEqual(written(nameUsers(tableOf(schema, '_User'), users)), [
    ['1', 'dana', 'd@x.y'],
    ['2', null, 'dana@x.y'],
    ['5', 'eva', null],
  ]);
});
