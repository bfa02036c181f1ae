import type { Service } from '../../test/support/service.ts';
import type { BenchContext } from '../support/context.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { LoadClient, type LoadResult } from '../support/load-client.ts';
import { spread, table } from '../support/records.ts';
import { count, median, milliseconds, note, printTable, ratio, verdict } from '../support/report.ts';
import { type Prepared, send, type Target } from '../support/target.ts';

const connections = 32;
/** Minimum share of the master key's rate for a session with roles: permissions may cost up to 15 %. */
const MIN_RATE_SHARE = 0.85;
const rate = 400;
const password = 'Bench1Password';
const users = 20;
const path = `/platform/classes/${table}`;

/** Compares the same table under the master key and under a session with roles; then logins, and their effect on reads. */
export async function access({ records = 20_000, seconds, rounds, scratch }: BenchContext): Promise<void> {
  const service = await scratch.service(await scratch.directory());
  await declareTable(service);
  const ids = await fill(serviceTarget(service), records);
  const half = ids.length >> 1;
  await guard(service, ids.slice(half));
  const tokens = await signUp(service);
  const session = await withRoles(service, tokens);
  const master = target(service, 'master key', { 'X-Platform-Master-Key': service.masterKey });

  const load = new LoadClient(scratch);
  const rates = new Map<string, number[]>();
  const kinds = [
    ['records without an ACL', ids.slice(0, half)],
    ['records with an ACL for roles', ids.slice(half)],
  ] as const;
  for (let round = 1; round <= rounds; round++) {
    for (const [kind, of] of kinds)
      for (const caller of round % 2 === 1 ? [master, session] : [session, master]) {
        const { perSecond } = await load.run(caller, reads(of), { connections, seconds, warmup: 0.5 });
        const key = `${kind}/${caller.name}`;
        rates.set(key, [...(rates.get(key) ?? []), perSecond]);
      }
    note(`round ${round} of ${rounds} done`);
  }
  const rows = kinds.map(([kind]) => {
    const [key, own] = [master, session].map(({ name }) => median(rates.get(`${kind}/${name}`) ?? [])) as [number, number];
    return [
      `read one, ${kind}`,
      count(key),
      count(own),
      ratio(own / key),
      `≥ ${ratio(MIN_RATE_SHARE)}`,
      verdict(own / key >= MIN_RATE_SHARE),
    ];
  });
  const heading = `access: ${count(records)} records, ${connections} connections, medians of ${rounds} × ${seconds} s`;
  printTable(heading, ['', 'master key req/s', 'session req/s', 'ratio', 'target', ''], rows);

  const other = new LoadClient(scratch);
  await logins(service, session, reads(ids), load, other, { seconds, rounds });
  await wrongLogins(service);
}

function target({ url, appId }: Service, name: string, credentials: Record<string, string>): Target {
  return { name, url, headers: { 'X-Platform-Application-Id': appId, ...credentials } };
}

export const reads = (ids: readonly string[]): Prepared[] =>
  Array.from({ length: 5000 }, (_, index) => ({ method: 'GET', path: `${path}/${ids[spread(index, ids.length)]}` }));

/** Gives records an ACL that names roles. */
export async function guard(service: Service, ids: readonly string[]): Promise<void> {
  const ACL = { 'role:BenchOuter': { read: true }, 'role:Admin': { read: true, write: true } };
  for (let at = 0; at < ids.length; at += 500) {
    const requests = ids.slice(at, at + 500).map((id) => ({ method: 'PUT', path: `${path}/${id}`, body: { ACL } }));
    await send(serviceTarget(service), { method: 'POST', path: '/platform/batch', body: { requests } });
  }
}

/** Creates the users. @returns their session tokens */
export async function signUp(service: Service): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < users; n++) {
    const body = { username: `bench${n}@example.com`, password };
    tokens.push((await send(serviceTarget(service), { method: 'POST', path: '/platform/users', body })).sessionToken);
  }
  return tokens;
}

/** Adds the first user to a role inside another role, which may read the table. @returns the user's session */
export async function withRoles(service: Service, [token]: string[]): Promise<Target> {
  const own = serviceTarget(service);
  const session = target(service, 'session', { 'X-Platform-Session-Token': token ?? '' });
  const { objectId } = await send(session, { method: 'GET', path: '/platform/users/me' });
  const role = async (name: string, relation: string, className: string, id: string): Promise<string> => {
    const objects = [{ __type: 'Pointer', className, objectId: id }];
    const body = { name, [relation]: { __op: 'AddRelation', objects } };
    return (await send(own, { method: 'POST', path: '/platform/roles', body })).objectId;
  };
  await role('BenchOuter', 'roles', '_Role', await role('BenchInner', 'users', '_User', objectId));
  const body = { classLevelPermissions: { get: { 'role:BenchOuter': true }, find: { 'role:BenchOuter': true } } };
  const { status, text } = await service.call('PUT', `/platform/schemas/${table}`, { body });
  if (status !== 200) throw new Error(`the permissions of ${table}: ${status} ${text}`);
  return session;
}

const login = (username: string, secret: string): Prepared => ({
  method: 'POST',
  path: '/platform/login',
  body: { username, password: secret },
});

/** Measures logins per second, and point reads at a fixed rate with and without them. */
async function logins(
  service: Service,
  session: Target,
  points: Prepared[],
  load: LoadClient,
  other: LoadClient,
  { seconds, rounds }: Pick<BenchContext, 'seconds' | 'rounds'>,
): Promise<void> {
  const nobody = target(service, 'logins', {});
  const asked = Array.from({ length: users }, (_, n) => login(`bench${n}@example.com`, password));
  const options = { connections: 8, seconds, warmup: 0.5 };
  const alone: LoadResult[] = [];
  const quiet: LoadResult[] = [];
  const beside: LoadResult[] = [];
  for (let round = 1; round <= rounds; round++) {
    alone.push(await load.run(nobody, asked, options));
    quiet.push(await load.run(session, points, { ...options, rate }));
    const hammered = other.run(nobody, asked, { ...options, seconds: seconds + 0.5 });
    beside.push(await load.run(session, points, { ...options, rate }));
    await hammered;
  }
  const middle = (results: LoadResult[], name: 'perSecond' | 'p50' | 'p99') => median(results.map((result) => result[name]));
  const row = (name: string, results: LoadResult[]) => [
    name,
    count(middle(results, 'perSecond')),
    milliseconds(middle(results, 'p50')),
    milliseconds(middle(results, 'p99')),
  ];
  const rows = [
    row('logins, 8 connections', alone),
    row(`reads at ${rate}/s, quiet`, quiet),
    row(`reads at ${rate}/s beside 8 connections that log in`, beside),
  ];
  printTable(`access: logins, medians of ${rounds} × ${seconds} s`, ['', 'req/s', 'p50', 'p99'], rows);
}

/**
 * Measures the duration of failing logins, alternately for known and unknown names: it must not reveal which accounts exist. Stays below the lockout.
 */
async function wrongLogins(service: Service): Promise<void> {
  const known: number[] = [];
  const unknown: number[] = [];
  const time = async (username: string) => {
    const { method, path: at, body } = login(username, 'Wrong1Password');
    const started = performance.now();
    const { status } = await service.call(method, at, { as: 'anonymous', body });
    if (status !== 404) throw new Error(`a wrong login answered ${status}`);
    return performance.now() - started;
  };
  for (let n = 0; n < users * 5; n++) {
    known.push(await time(`bench${n % users}@example.com`));
    unknown.push(await time(`nobody${n}@example.com`));
  }
  const share = median(unknown) / median(known);
  const times = [median(known), median(unknown)].map(milliseconds);
  const cells = ['wrong login', ...times, ratio(share), '0.90–1.10×', verdict(share >= 0.9 && share <= 1.1)];
  printTable(
    `access: wrong logins, medians of ${known.length}`,
    ['', 'known name', 'unknown name', 'ratio', 'target', ''],
    [cells],
  );
}
