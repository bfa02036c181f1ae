import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, type ErrorKey } from '../../errors/catalogue.ts';
import { ServiceError } from '../../errors/fail.ts';
import { describeError } from './describe.ts';

/** Errors that no tool raises: of other endpoints, of callers without a credential, of operations that no tool has. */
const unmet: ReadonlySet<ErrorKey> = new Set([
  ...([
    'needsAuthentication',
    'badLogin',
    'userInactive',
    'accountLocked',
    'captcha',
    'invalidSession',
    'emailMissing',
    'metricsTokenRequired',
  ] as const),
  ...([
    'invalidParameter',
    'classNameMismatch',
    'batchNoArray',
    'batchPath',
    'batchRoute',
    'batchItemBody',
    'pointedAt',
    'noUniqueIndex',
    'invalidUpsert',
  ] as const),
  ...(['badSnapshot', 'destructiveChanges', 'brokenReferences', 'schemaChangedSince', 'badTransaction', 'badBatchItem'] as const),
  ...(['badIdempotencyKey', 'requestUnderWay', 'keyReused', 'duplicateRequest', 'otherCount', 'recordExists'] as const),
  ...(['tooLarge', 'functionNotFound', 'largeUploadUnauthorized', 'largeUploadsOff', 'userFunctionNotFound'] as const),
  ...(['formDisabled', 'formTooLarge', 'missingInput', 'functionFailed', 'functionTimeout', 'tooManyRequests'] as const),
  ...(['badRequest', 'badAddress', 'badRow', 'rowTooLong', 'notFound', 'unauthorized', 'bodyTooSlow'] as const),
] as const);

/** `internal` reveals nothing; `invalidArguments` lists the tool's parameters. */
const clear: ReadonlySet<ErrorKey> = new Set(['internal', 'invalidArguments']);

test('every error that a tool may meet comes with advice', () => {
  for (const key of Object.keys(catalogue) as ErrorKey[]) {
    if (unmet.has(key) || clear.has(key)) continue;
    const text = (catalogue[key].text as (...args: string[]) => string)('a', 'b', 'Date', 'd');
    const { expected, next, error } = describeError(new ServiceError(key, text));
    assert.ok(expected !== undefined || next !== undefined, key);
    assert.notEqual(error, '', key);
    assert.doesNotMatch(expected ?? '', /\.$/, key);
  }
});

test('where the form depends on the message, it is made of that', () => {
  const cases: [ErrorKey, string, RegExp, string | undefined][] = [
    ['badQuery', 'bad constraint: $foo', /\$eq.*\$nin.*\$regex/, undefined],
    ['badQuery', 'Invalid regular expression: (', /\\/, 'Search-Records'],
    ['badQuery', 'Cannot query on ACL.', /ACL/, undefined],
    ['badConstraint', 'bad $in value', /\[.*\]/, undefined],
    ['badConstraint', 'bad $relativeTime: x', /ago/, undefined],
    ['notAType', 'This is not a valid Pointer', /"__type":"Pointer"/, 'Get-Schema'],
    ['notAType', 'This is not a valid File', /"__type":"File"/, 'Upload-Public-File'],
    ['permissionDenied', 'Permission denied for action addField on class T', /not in the schema of T/, 'Get-Schema'],
    ['permissionDenied', 'Permission denied for action find on class T', /^$/, 'Get-My-Access'],
    ['invalidTrigger', 'Invalid trigger: events are empty', /create, update, delete, schedule/, 'Get-Triggers'],
    ['invalidTrigger', 'Invalid trigger: actions[0].type is unknown: x', /server-side-code \{/, 'Get-Triggers'],
    ['invalidTrigger', 'Invalid trigger: schedule.cron cannot be read: x', /5 fields/, 'Get-Triggers'],
  ];
  for (const [key, message, form, next] of cases) {
    const told = describeError(new ServiceError(key, message));
    assert.equal(told.error, message);
    assert.match(told.expected ?? '', form, message);
    assert.equal(told.next, next ?? told.next, message);
  }
});
