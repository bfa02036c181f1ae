import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advise } from '../../crm/refusals.ts';
import { serviceError } from '../../errors/fail.ts';
import { describeError, errorText } from './describe.ts';

test('code and message come first, unchanged; then the form that is expected and the tool to call next', () => {
  const error = serviceError('schemaMismatch', 'Accounts', 'StatusId', 'Pointer<AccountStatuses>', 'String');
  const told = describeError(error);
  assert.deepEqual([told.code, told.error, told.next], [111, error.message, 'Get-Lookup-Values']);
  assert.ok(errorText(told).startsWith(`${error.message} (code 111). Send {"__type":"Pointer","className":"AccountStatuses"`));
  assert.ok(errorText(told).endsWith('Next: Get-Lookup-Values.'));
});

test('every type that a field may have has a form', () => {
  for (const type of ['String', 'Number', 'Boolean', 'Date', 'Array', 'Object', 'File', 'PrivateFile', 'HTML/XML', 'ACL'])
    assert.match(String(describeError(serviceError('schemaMismatch', 'T', 'f', type, 'String')).expected), /^Send /, type);
});

test('advice of a tool counts before the general one', () => {
  const error = advise(serviceError('objectNotFound'), { expected: 'No such page', next: 'Get-Site-Pages' });
  assert.deepEqual(describeError(error), {
    code: 101,
    error: 'Object not found.',
    expected: 'No such page',
    next: 'Get-Site-Pages',
  });
});

test('an error without a code is described by its status; a fault shows nothing of itself', () => {
  assert.equal(describeError(serviceError('masterKeyRequired')).code, 403);
  assert.deepEqual(describeError(new TypeError('SELECT secret FROM place')), { code: 1, error: 'server error' });
});
