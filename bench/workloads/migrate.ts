import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { testServer } from '../../src/storage/postgres/testing/server.ts';
import type { Service } from '../../test/support/service.ts';
import { reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { listening } from '../support/listening.ts';
import { installParseServer, runParseProgram, succeeded } from '../support/parse-server.ts';
import { count, note, printTable, verdict } from '../support/report.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects are read field by field
type Json = any;

/** Compares the SDK's view of a Parse Server with that of the service after a migration: the same objects, for every user. */
export async function migrate({ records = 2_500, scratch }: BenchContext): Promise<void> {
  const server = await testServer();
  scratch.keep(server);
  const directory = await installParseServer(scratch);
  const source = (await server.database()).url;
  note('filling Parse Server');
  await listening(runParseProgram(scratch, directory, 'fill.mjs', [source, directory, String(records)]), 'Parse Server');
  const before = JSON.parse(await readFile(join(directory, 'before.json'), 'utf8'));
  const rows: string[][] = [];
  for (const database of [undefined, await server.database()]) {
    const dataDir = await scratch.directory();
    const service = await scratch.service(dataDir, database);
    const args = ['migrate', 'parse', '--from', source, '--system', service.appId, '--files-from', join(directory, 'files')];
    const run = await runCommand(scratch, dataDir, args, service.settings);
    if (run.code !== 0) throw new Error(`the migration ended with ${reason(run)}`);
    note(run.output.trim());
    const wrong = differences(before, await readings(service), service.url);
    for (const one of wrong.slice(0, 5)) note(one);
    const files = await servedFiles(service, before);
    rows.push([
      database ? 'PostgreSQL' : 'embedded',
      count(objectsOf(before).length / run.seconds),
      String(wrong.length),
      verdict(wrong.length === 0),
      String(files),
    ]);
  }
  const heading = `migrate: ${count(objectsOf(before).length)} objects of a Parse Server, read by its SDK as master and as 40 users`;
  printTable(heading, ['', 'objects/s, start included', 'differences', '', 'files served'], rows);

  async function readings(service: Service): Promise<Json> {
    const file = join(directory, 'after.json');
    const args = [`${service.url}/platform`, service.appId, service.masterKey, file];
    await succeeded(runParseProgram(scratch, directory, 'read.mjs', args), 'the reading');
    return JSON.parse(await readFile(file, 'utf8'));
  }
}

const classes = ['Post', 'Place', 'Letter', '_User', '_Role'] as const;
const objectsOf = (reading: Json): Json[] => classes.flatMap((className) => reading[className]);

/**
 * Returns differences between the two readings, apart from expected ones (migration.md#migration-from-parse-server). Excludes the system's own users
 * and roles.
 */
function differences(before: Json, after: Json, url: string): string[] {
  const known = new Set(objectsOf(before).map(({ objectId }) => objectId));
  const ours = (ids: string[]) => ids.filter((id) => known.has(id));
  const found: string[] = [];
  const compare = (what: string, a: unknown, b: unknown) => {
    if (!isDeepStrictEqual(a, b))
      found.push(`${what}: ${JSON.stringify(a)?.slice(0, 300)} and ${JSON.stringify(b)?.slice(0, 300)}`);
  };
  for (const className of classes) {
    const objects = new Map<string, Json>(after[className].map((object: Json) => [object.objectId, object]));
    for (const object of before[className])
      compare(`${className} ${object.objectId}`, plain(objects.get(object.objectId), url), expected(className, object, url));
  }
  compare('readers', after.readers, before.readers);
  for (const [n, seen] of before.signedIn.entries())
    for (const key of Object.keys(seen)) {
      const read = after.signedIn[n][key];
      compare(`user ${n}: ${key}`, Array.isArray(read) ? ours(read) : read, seen[key]);
    }
  return found;
}

/** Returns an object as expected in this service. */
function expected(className: string, object: Json, url: string): Json {
  const { authData: _, ...rest } = structuredClone(object);
  if (rest.ACL && Object.keys(rest.ACL).length === 0) rest.ACL = { '*': {} };
  if (className === 'Place') for (const name of ['at', 'raw', 'area']) delete rest[name].__type;
  return plain({ ACL: {}, ...rest }, url);
}

/** Normalises the addresses of files, which change. */
function plain(object: Json, url: string): Json {
  if (!object?.cover) return object;
  const { name, url: address, public: isPublic } = object.cover;
  return { ...object, cover: { name, isHere: isPublic === true ? address.startsWith(url) : true } };
}

/** Returns how many files named by objects are served with their content. */
async function servedFiles(service: Service, before: Json): Promise<number> {
  const named = before.Post.filter(({ cover }: Json) => cover);
  const [first] = named;
  if (!first) return 0;
  const { body } = await service.call('GET', `/platform/classes/Post/${first.objectId}`);
  const answer = await fetch(body.cover.url);
  return (await answer.text()) === 'bytes of a photo' ? named.length : 0;
}
