import assert from 'node:assert/strict';
import { test } from 'node:test';
import { similarTo } from './similar.ts';

test('the name that is perhaps meant differs in case and underscores, or in a letter or two', () => {
  const known = ['Name', 'PhoneNumber', 'StatusId', 'City', 'n'];
  const cases: [string, string | undefined][] = [
    ['name', 'Name'],
    ['phone_number', 'PhoneNumber'],
    ['Nmae', 'Name'],
    ['Nam', 'Name'],
    ['PhoneNumbre', 'PhoneNumber'],
    ['StatusID', 'StatusId'],
    ['Statis', undefined],
    ['Total', undefined],
    ['x', undefined],
    ['Name', undefined],
    ['q'.repeat(128), undefined],
  ];
  for (const [name, meant] of cases) assert.equal(similarTo(name, known), meant, name);
});
