/** A backup with a member missing, repeated or added: `verify` refuses what `restore` refuses. Reference: backup.md#verify. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileObject, uploadFile } from '../support/files.ts';
import { createMany, defineTable, pointer } from '../support/query.ts';
import { anyEngine, type Service, startService } from '../support/service.ts';
import { shortened } from './backup-lies.ts';
import {
  archived,
  assertRefused,
  backUp,
  done,
  folderForTest,
  type Member,
  manifestOf,
  member,
  membersOf,
  partOf,
  run,
} from './backups.ts';

const manifestName = 'manifest.json';

/** Returns members with a manifest. @param parts what the manifest says; by default the truth */
function withManifest(first: Member, rest: readonly Member[], parts = rest.map(partOf)): Member[] {
  return [member(manifestName, { ...manifestOf([first]), parts }), ...rest];
}

interface Case {
  readonly what: string;
  readonly members: readonly Member[];
  /** The refusal of both commands; `null`: both accept it. */
  readonly says: RegExp | null;
}

/** Returns the cases of one member of an archive. */
function casesOf(members: readonly Member[], at: number): Case[] {
  const [first, ...rest] = members as [Member, ...Member[]];
  const { name } = members[at] as Member;
  const without = members.toSpliced(at, 1);
  const named = new RegExp(name.replaceAll('.', '[.]'));
  if (name === manifestName)
    return [
      { what: 'no manifest', members: without, says: /no backup of this service/ },
      { what: 'the manifest twice', members: [first, ...members], says: /is not in it/ },
      { what: 'the manifest last', members: [...rest, first], says: /no backup of this service/ },
    ];
  const others = rest.toSpliced(at - 1, 1);
  const asSaid = name === 'schema.json' ? /schema/ : named;
  return [
    // Files may be left out.
    { what: `no ${name}`, members: withManifest(first, others), says: name.startsWith('files/') ? null : asSaid },
    { what: `no ${name}, which is in the manifest`, members: without, says: /is not in it/ },
    {
      what: `${name}, which is not in the manifest`,
      members: withManifest(first, rest, others.map(partOf)),
      says: /is not in it|knows nothing/,
    },
    { what: `${name} twice`, members: withManifest(first, [...rest, members[at] as Member]), says: /manifest.json is damaged/ },
    { what: `${name} twice, once in the manifest`, members: [...members, members[at] as Member], says: /knows nothing/ },
  ];
}

const unknown = ['more', 'rows/Other.ndjson', 'members/Lies.other.ndjson', 'files/no-id', 'registry.json.bak'];

for (const engine of anyEngine)
  describe(`members of backups: ${engine}`, () => {
    let service: Service;
    let good: readonly Member[];
    before(async () => {
      service = await startService({ engine });
      await defineTable(service, 'Lies', { n: 'Number', f: 'File', all: 'Relation:Lies' });
      const f = fileObject(await uploadFile(service, 'a.txt', 'of a file'));
      await createMany(service, 'Lies', [{ objectId: 'a', n: 1, f }, { objectId: 'b' }]);
      const objects = [pointer('Lies', 'a')];
      await service.call('PUT', '/platform/classes/Lies/b', { body: { all: { __op: 'AddRelation', objects } } });
      good = shortened(await membersOf(await readFile(await backUp(service, await folderForTest(), service.appId))));
    });
    after(() => service.stop());

    test('without one, with one twice, with one more: verify and restore agree', async () => {
      const folder = await folderForTest();
      const [first, ...rest] = good as [Member, ...Member[]];
      const cases = [
        { what: 'all of it', members: good, says: null },
        ...good.flatMap((_, at) => casesOf(good, at)),
        ...unknown.map((name) => ({
          what: `${name} more`,
          members: withManifest(first, [...rest, member(name, '')]),
          says: new RegExp(`${name} is of no table`),
        })),
      ];
      assert.ok(cases.length > 30, `${cases.length} cases`);
      for (const { what, members, says } of cases) {
        const file = join(folder, randomBytes(4).toString('hex'));
        await writeFile(file, await archived(members));
        const verified = await run(service, ['backup', 'verify', file]);
        const restored = await run(service, ['restore', file, '--as', 'Never']);
        if (says === null) {
          assert.deepEqual([verified.code, restored.code], [0, 0], `${what}: ${verified.stderr}${restored.stderr}`);
          await done(service, ['system', 'remove', 'Never', '--now']);
        } else {
          assertRefused(verified, says, `verify: ${what}`);
          assert.equal(restored.stderr, verified.stderr, `restore: ${what}`);
          assertRefused(restored, says, `restore: ${what}`);
        }
      }
    });
  });
