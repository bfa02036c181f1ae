import { settings } from '../../../src/config/settings.ts';
import * as signIn from '../../../src/console/api/sign-in.ts';
import * as rows from '../../../src/console/data/rows/rows.ts';
import * as search from '../../../src/console/data/search.ts';
import * as views from '../../../src/console/data/views/views.ts';
import { limits } from '../../../src/kernel/limits.ts';
import * as loginKey from '../../../src/kernel/login-key.ts';
import * as lockout from '../../../src/users/accounts/lockout.ts';
import * as consoleSession from '../../../src/users/console-session.ts';
import * as password from '../../../src/users/passwords/password.ts';
import * as resetToken from '../../../src/users/passwords/reset-token.ts';
import { newToken } from '../../../src/users/sessions/token.ts';
import { acceptedLengths, bytes, characters, count, duration, type LimitGroup } from './limit.ts';

const passwords = acceptedLengths((length) => password.meetsPolicy('aA1'.padEnd(length, 'a').slice(0, length)), 2_000);

export const userLimits: readonly LimitGroup[] = [
  {
    heading: '## Users',
    limits: [
      {
        of: 'failed logins in a row; time of the lockout',
        value: `${lockout.MAX_FAILURES}; ${lockout.LOCK_MINUTES} minutes`,
        beyond: '404, code 101',
        see: 'users.md#account-lockout',
      },
      {
        of: 'password',
        value: `${count(passwords.min)} to ${characters(passwords.max)}, with a lower-case letter, an upper-case letter and a digit`,
        beyond: '400, code 142',
        see: 'users.md#password-policy',
      },
      {
        of: 'passwords of a process that wait for their hash',
        value: count(password.MAX_WAITING),
        beyond: '503 for the system or address with most',
        see: 'users.md#log-in',
      },
      {
        of: 'lifetime of a session',
        value: `\`SESSION_DAYS\`, ${settings.SESSION_DAYS.read.parse(undefined)} days by default`,
        beyond: '400, code 209',
        see: 'users.md#sessions',
      },
      { of: 'session token', value: characters(newToken().length), beyond: '400, code 209', see: 'users.md#sessions' },
      {
        of: 'lifetime of a link that resets a password',
        value: duration(resetToken.LINK_LIFETIME_MS),
        beyond: 'the user requests another',
        see: 'users.md#password-reset',
      },
      {
        of: 'e-mail address',
        value: characters(loginKey.MAX_ADDRESS_LENGTH),
        beyond: '400, code 125',
        see: 'users.md#create-a-user',
      },
      {
        of: 'user name or address that is compared without regard to case',
        value: characters(loginKey.MAX_NORMALISED_LENGTH),
        beyond: 'it is compared as it is',
        see: 'users.md#create-a-user',
      },
    ],
  },
  {
    heading: '### Console',
    limits: [
      {
        of: 'session of the console, unused; in all',
        value: `${duration(consoleSession.MAX_IDLE_MS)}; ${duration(consoleSession.MAX_CONSOLE_SESSION_MS)}`,
        beyond: 'the user signs in again',
        see: 'console.md#sign-in-to-the-console',
      },
      {
        of: 'sign-ins a minute from one network, if `RATE_LIMIT_LOGIN` is 0',
        value: count(signIn.DEFAULT_SIGN_INS_PER_MINUTE),
        beyond: '429',
        see: 'console.md#sign-in-to-the-console',
      },
      { of: 'rows of a block', value: count(rows.MAX_LIMIT), beyond: 'code 107', see: 'console.md#console-data' },
      {
        of: 'values of a record that is written',
        value: bytes(limits.consoleRecordBytes),
        beyond: '413',
        see: 'console.md#console-data',
      },
      { of: 'search text', value: characters(search.MAX_QUERY_LENGTH), beyond: 'code 107', see: 'console.md#console-data' },
      { of: 'saved views that are listed', value: count(views.MAX_VIEWS), beyond: 'they are left out', see: 'console.md#views' },
    ],
  },
];
