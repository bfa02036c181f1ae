import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConsoleAddresses } from './addresses.ts';
import { ConsoleCookies } from './cookies.ts';

const cookies = new ConsoleCookies(new ConsoleAddresses({ base: 'http://localhost:1337', isConfigured: false }));
const token = `c:${'0'.repeat(64)}`;
const header = (count: number, value: string) =>
  Array.from({ length: count }, (_, at) => `console.session.app${at}=${encodeURIComponent(value)}`).join('; ');

test('systems of cookies are looked at where these may be sessions, and not in masses: each may have to be opened', () => {
  assert.equal(cookies.systemsOf(header(300, token)).length, 20);
  assert.equal(cookies.systemsOf(`${header(300, token)}; console.system=app299`)[0], 'app299');
  assert.deepEqual(cookies.systemsOf(header(300, 'x')), []);
  assert.equal(cookies.sessionOf(header(1, token), 'app0'), token);
  assert.equal(cookies.sessionOf(header(1, `r:${'0'.repeat(32)}`), 'app0'), undefined);
});
