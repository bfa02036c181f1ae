import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldLabel, readableName, tableLabel } from '../src/model/labels.ts';

test('a technical name becomes words', () => {
  const cases: [string, string][] = [
    ['FirstName', 'First name'],
    ['F_name', 'F name'],
    ['SMSTemplates', 'SMS templates'],
    ['fromWeb2lead', 'From Web2lead'],
    ['_syslogSMS', 'Syslog SMS'],
    ['AccountStatuses', 'Account statuses'],
    ['Line2Total', 'Line2 total'],
    ['שם', 'שם'],
    ['_', '_'],
  ];
  for (const [name, words] of cases) assert.equal(readableName(name), words);
});

test('labels come first, then words of the service, then the name', () => {
  assert.equal(tableLabel({ name: 'Accounts', label: ' לקוחות ' }), 'לקוחות');
  assert.equal(tableLabel({ name: 'Accounts', label: '  ' }), 'Accounts');
  assert.equal(fieldLabel({ name: 'createdAt', type: 'Date' }, { createdAt: 'Created' }), 'Created');
  assert.equal(fieldLabel({ name: 'AccountId', type: 'Pointer' }), 'Account');
  assert.equal(fieldLabel({ name: 'Id', type: 'Pointer' }), 'Id');
  assert.equal(fieldLabel({ name: 'array_tags_Pointer_Tags', type: 'Array' }), 'Tags');
  assert.equal(fieldLabel({ name: 'toString', type: 'String' }, {}), 'To string');
});

test('a label cannot turn the text after it around', () => {
  assert.equal(tableLabel({ name: 'T', label: '\u202egnp.exe' }), 'gnp.exe');
});

test('a label that nobody could read is cut', () => {
  const label = 'L'.repeat(10_000);
  for (const shown of [tableLabel({ name: 'T', label }), fieldLabel({ name: 'F', type: 'String', label })])
    assert.equal(shown, `${'L'.repeat(199)}…`);
});
