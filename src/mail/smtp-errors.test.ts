import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailFault } from './smtp-errors.ts';

for (const [error, permanent, why, isServerFault = false] of [
  [
    { code: 'EENVELOPE', response: '550 5.1.1 no such\r\n user', responseCode: 550, permanent: true },
    true,
    '550 5.1.1 no such user',
  ],
  [{ code: 'EENVELOPE', response: '451 later', responseCode: 451, permanent: false }, false, '451 later'],
  [{ code: 'EMESSAGE', response: '554 spam', responseCode: 554, permanent: true }, true, '554 spam'],
  [{ code: 'EENVELOPE' }, true, 'The message has no recipient whom mail can be sent to.'],
  [{ code: 'EMESSAGE' }, true, 'The message is larger than the mail server takes.'],
  // The server's state, not the message's.
  [{ code: 'EPROTOCOL', response: '554 closed', responseCode: 554, permanent: true }, false, '554 closed', true],
  [
    { code: 'EAUTH', response: '535 secret is wrong', responseCode: 535, permanent: true },
    false,
    'The mail server does not let the service sign in.',
    true,
  ],
  [{ code: 'ESOCKET', message: 'connect ECONNREFUSED 10.0.0.1:25' }, false, 'The mail server cannot be reached.', true],
  [new Error('whatever'), false, 'The message could not be sent.'],
  [{ code: 'EMESSAGE', response: 'x'.repeat(600), responseCode: 550, permanent: true }, true, `${'x'.repeat(500)}…`],
] as const)
  test(`${'code' in error ? error.code : 'no code'}: ${why.slice(0, 60)}`, () =>
    assert.deepEqual(mailFault(error), { permanent, why, ...(isServerFault && { isServerFault }) }));
