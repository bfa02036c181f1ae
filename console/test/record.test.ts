import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldModel, TableModel } from '../../src/console/protocol/protocol.ts';
import { copyOf, pageFields, titleOf } from '../src/model/record.ts';
import { groupsOf, parts } from '../src/search/groups.ts';

const field = (name: string, type: FieldModel['type'], isReadOnly = false): FieldModel => ({
  name,
  type,
  isReadOnly,
  isIndexed: false,
});
const table: TableModel = {
  name: 'Contacts',
  isListed: true,
  may: { find: true, get: true, create: true, update: true, delete: true },
  keepsHistory: false,
  titleFields: ['FirstName', 'AccountId'],
  fields: [
    field('objectId', 'String', true),
    field('Comment', 'HTML/XML'),
    field('City', 'String'),
    field('FirstName', 'String'),
    field('AccountId', 'Pointer'),
    field('Photo', 'File'),
    field('Number', 'Number', true),
  ],
};

test('a record is called by its title fields, Pointers by name', () => {
  const record = { FirstName: ' Avi ', AccountId: { __type: 'Pointer', className: 'Accounts', objectId: 'a' } };
  assert.equal(titleOf(table, record, { Accounts: { a: 'Acme' } }), 'Avi Acme');
  assert.equal(titleOf(table, record, {}), 'Avi');
  assert.equal(titleOf(table, {}, {}), '');
});

test('fields of the title come first, wide ones last, those of the service apart', () => {
  assert.deepEqual(
    pageFields(table).map(({ name }) => name),
    ['FirstName', 'AccountId', 'City', 'Number', 'Comment', 'Photo'],
  );
});

test('a copy has what a user may write, without files', () => {
  const record = { objectId: 'a', FirstName: 'Avi', City: '', Number: 4, Photo: { __type: 'File', name: 'x', url: '' } };
  assert.deepEqual(copyOf(table, record), { FirstName: 'Avi' });
});

test('results stand by table, in the order of the answer', () => {
  const groups = groupsOf([{ table: 'B' }, { table: 'A' }, { table: 'B' }]);
  assert.deepEqual(
    groups.map((group) => [group.table, group.results.length]),
    [
      ['B', 2],
      ['A', 1],
    ],
  );
});

test('what was searched for is marked as it is written, whatever signs it has', () => {
  assert.deepEqual(parts('Dana (VIP)', 'dana (v'), [
    { text: 'Dana', isMatch: true },
    { text: ' ', isMatch: false },
    { text: '(V', isMatch: true },
    { text: 'IP)', isMatch: false },
  ]);
  assert.deepEqual(parts('abc', ''), [{ text: 'abc', isMatch: false }]);
});
