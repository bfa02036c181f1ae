import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { clientConfig } from './client-config.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-test-'));
after(() => rmSync(directory, { recursive: true }));
const file = join(directory, 'a b.crt');
writeFileSync(file, 'certificate');
const root = `sslrootcert=${encodeURIComponent(file)}`;

test('every part of an address is taken as it was meant', () => {
  assert.deepEqual(clientConfig('postgres://u:p@h:5433/d'), { host: 'h', port: 5433, user: 'u', password: 'p', database: 'd' });
  assert.deepEqual(clientConfig('postgresql://h'), { host: 'h' });
  assert.deepEqual(clientConfig('postgres:///d'), { database: 'd' });
  assert.deepEqual(clientConfig('postgres://[::1]:5433/d'), { host: '::1', port: 5433, database: 'd' });
  assert.deepEqual(clientConfig('postgres://a%40b:p%3A%2F%3F%23%25%C3%A9@h/x%2Fy%20z'), {
    host: 'h',
    user: 'a@b',
    password: 'p:/?#%é',
    database: 'x/y z',
  });
  assert.deepEqual(clientConfig('postgres://u:100%@h/d e'), { host: 'h', user: 'u', password: '100%', database: 'd e' });
  for (const socket of ['postgres:///d?host=/run/pg&port=5433&user=u', 'postgres://u@%2Frun%2Fpg:5433/d'])
    assert.deepEqual(clientConfig(socket), { host: '/run/pg', port: 5433, user: 'u', database: 'd' });
  const { application_name, options } = clientConfig('postgres://h/d?application_name=crm&options=-c%20geqo%3Doff') as {
    application_name: string;
    options: string;
  };
  assert.deepEqual([application_name, options], ['crm', '-c geqo=off']);
});

test('TLS is what PostgreSQL takes it for', () => {
  const tls = (query: string) => {
    const { ssl } = clientConfig(`postgres://h/d?${query}`);
    if (typeof ssl !== 'object') return ssl;
    const { checkServerIdentity, ...rest } = ssl;
    return { ...rest, ...(checkServerIdentity && { anyName: checkServerIdentity('h', {} as never) === undefined }) };
  };
  assert.equal(tls(''), undefined);
  assert.equal(tls('sslmode=disable'), false);
  assert.deepEqual(tls('sslmode=require'), { rejectUnauthorized: false });
  assert.deepEqual(tls('sslmode=no-verify'), { rejectUnauthorized: false });
  assert.deepEqual(tls(`sslmode=require&${root}`), { ca: 'certificate', anyName: true });
  assert.deepEqual(tls(`sslmode=verify-ca&${root}`), { ca: 'certificate', anyName: true });
  assert.deepEqual(tls('sslmode=verify-full'), {});
  assert.deepEqual(tls(`sslmode=verify-full&${root}`), { ca: 'certificate' });
  assert.deepEqual(tls('sslmode=require&sslrootcert=system'), {});
  assert.deepEqual(tls('ssl=true'), {});
  assert.equal(tls('ssl=false'), false);
  assert.deepEqual(tls(`sslmode=verify-full&sslcert=${file}&sslkey=${file}`), { cert: 'certificate', key: 'certificate' });
});

test('what cannot be is refused in one line', () => {
  const refused = (query: string, line: RegExp) =>
    assert.throws(
      () => clientConfig(`postgres://u:hush@h/d?${query}`),
      (error) => error instanceof OperatorError && line.test(error.message) && !/hush|\n/.test(error.message),
    );
  refused('sslmode=prefer', /sslmode must be/);
  refused('sslmode=', /sslmode must be/);
  refused('sslmode=verify-ca', /needs sslrootcert/);
  refused('sslmode=verify-full&sslrootcert=/nowhere/x.crt', /sslrootcert: "\/nowhere\/x\.crt" cannot be read \(ENOENT\)/);
  refused('port=many', /port must be a number/);
});
