import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClpAction, clpActions } from '../schema/model.ts';
import { authorize, permissionEffect, refuseOutright } from './authorize.ts';
import { callers, tableWith } from './testing/tables.ts';

const reads: readonly ClpAction[] = ['find', 'get', 'count'];
const writes = clpActions.filter((action) => !reads.includes(action));
const signIn = 'user needs to be authenticated. Permission denied.';
const captcha = 'This action is not allowed without a valid CAPTCHA';
const systemTable = 'Action is denied for system tables';
const denied = 'Permission denied for action ACTION on class TABLE';

/** Table, caller, actions, and the text of the error; `null` if nothing refuses outright. */
type Case = [className: string, caller: string, actions: readonly ClpAction[], error: string | null];

const cases: readonly Case[] = [
  // Reference: permissions.md#who-is-asking.
  ['T', 'invalid', clpActions, denied],
  ['_User', 'invalid', clpActions, denied],
  ['T', 'anonymous', writes, captcha],
  ['T', 'anonymous', reads, null],
  ['T', 'u1', clpActions, null],
  // Reference: users.md#change-a-user.
  ['_User', 'anonymous', reads, signIn],
  ['_User', 'anonymous', writes, captcha],
  ['_User', 'u1', reads, null],
  ['_User', 'u1 in Sales', ['create', 'delete', 'addField'], denied],
  ['_User', 'u1 in Sales', ['update'], 'Cannot modify user x.'],
  ['_User', 'apiKey', clpActions, null],
  ['_User', 'master', clpActions, null],
  // Reference: permissions.md#system-tables.
  ['_RequestLog', 'master', clpActions, null],
  ['_RequestLog', 'apiKey', clpActions, denied],
  ['_RequestLog', 'u1', clpActions, denied],
  ['_RequestLog', 'anonymous', reads, denied],
  ['_RequestLog', 'anonymous', writes, captcha],
  // Reference: system-tables.md#_adminlog.
  ['_AdminLog', 'master', reads, null],
  ['_AdminLog', 'master', writes, denied],
  ['_AdminLog', 'apiKey', clpActions, denied],
  ['_AdminLog', 'u1', clpActions, denied],
  ['_AdminLog', 'anonymous', reads, denied],
  ['_AdminLog', 'anonymous', writes, captcha],
  // Reference: system-tables.md#hidden-tables.
  ...['_StoredFile', '_StorageUsage', '_TriggerQueue'].flatMap((hidden): Case[] => [
    ...['master', 'apiKey', 'u1', 'invalid'].map((caller): Case => [hidden, caller, clpActions, denied]),
    [hidden, 'anonymous', reads, denied],
    [hidden, 'anonymous', writes, captcha],
  ]),
  // Reference: system-tables.md#_syslogtriggers.
  ['_syslogTriggers', 'master', ['delete'], systemTable],
  ['_syslogTriggers', 'apiKey', ['delete'], systemTable],
  ['_syslogSMS', 'master', ['delete'], systemTable],
  ['_syslogTriggers', 'master', ['create', 'update', 'find'], null],
  ['_Timeline', 'apiKey', clpActions, null],
  ['Config', 'apiKey', clpActions, null],
  // Sessions belong to users.
  ['_Session', 'anonymous', reads, denied],
  ['_Session', 'u1', clpActions, null],
];

for (const [className, name, actions, error] of cases)
  for (const action of actions)
    test(`${action} on ${className} by ${name}: ${error ?? 'is not refused outright'}`, () => {
      const caller = callers.get(name);
      assert.ok(caller);
      const ask = () => refuseOutright(caller, action, className, 'x');
      if (error === null) assert.doesNotThrow(ask);
      else
        assert.throws(ask, {
          message: error.replace('ACTION', action).replace('TABLE', className),
          status: error === signIn ? 404 : 400,
        });
    });

test('permissions open nothing that is refused outright', () => {
  const open = Object.fromEntries(clpActions.map((action) => [action, { '*': true, requiresAuthentication: true, u1: true }]));
  for (const [className, name, actions, error] of cases)
    for (const action of actions)
      if (error !== null)
        assert.throws(() => authorize(callers.get(name) as never, action, tableWith(open, className)), `${className} ${name}`);
});

test('permissions have an effect where naming a user changes what they may do', () => {
  for (const className of ['T', '_User', '_Session', '_RequestLog', '_AdminLog', '_syslogTriggers', '_Role', '_Notification'])
    for (const action of clpActions) {
      const outcome = (grants: Record<string, boolean>): string => {
        try {
          const table = tableWith({ [action]: grants }, className);
          return `may add fields: ${authorize(callers.get('u1 in Sales') as never, action, table).mayAddField}`;
        } catch (error) {
          return (error as Error).message;
        }
      };
      const isOpen = outcome({ u1: true }) !== outcome({});
      assert.equal(isOpen, permissionEffect(className, action) === 'counts', `${action} ${className}`);
    }
});
