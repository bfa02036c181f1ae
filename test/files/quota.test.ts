/** Storage is measured per system, and an operator may set a quota. Reference: files.md#storage-quota. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertServed, deleteFile, upload, uploadFile } from '../support/files.ts';
import { assertRefused } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { allowLarge, askPolicy, newPolicy, sendForm, upload as sendLarge } from './large.ts';
import { addSystem, filesCommand, operate, usage } from './operator.ts';
import { onEachEngine, useUnusedFiles } from './stores.ts';

const full = { code: 140, error: 'The storage of this system is used up.' };

onEachEngine((files) => {
  const { service } = files;
  before(() => allowLarge(files));
  const quota = (...args: string[]) => operate(files, ['quota', '--system', service().appId, ...args]);
  const wanted = { ContentType: 'text/plain', ContentLength: 10 };
  const assertFull = async () => {
    for (const as of ['anonymous', 'apiKey', 'master'] as const)
      assertRefused(await upload(service(), 'a.txt', 'x', { as }), full);
    assertRefused(await askPolicy(service(), 'a.txt', wanted), full);
  };

  test('a new system has no quota; what files take is counted', async () => {
    const taken = () => usage(files);
    assert.deepEqual(await taken(), { files: 0, bytes: 0, quota: null, outOfStorage: false });
    await files.upload('a.txt', 'x'.repeat(1_000));
    const { name } = await files.upload('b.txt', 'x'.repeat(234));
    assert.deepEqual(await taken(), { files: 2, bytes: 1_234, quota: null, outOfStorage: false });
    await deleteFile(service(), name);
    assert.deepEqual(await taken(), { files: 1, bytes: 1_000, quota: null, outOfStorage: false });
  });

  test('a system that has reached its quota takes no uploads and policies: 400 code 140; reads go on', async () => {
    const file = await files.upload('a.txt', 'x'.repeat(1_000));
    const early = await newPolicy(service(), 'a.txt', 10);
    const { bytes } = await usage(files);
    assert.match(await quota('--bytes', '1.5GiB'), /^quota: 1610612736$/m);
    await quota('--bytes', String(bytes + 10));
    await soon(async () => assert.equal((await usage(files)).outOfStorage, false));
    const last = await files.upload('a.txt', 'the last one');
    const state = await usage(files);
    assert.deepEqual([state.quota, state.outOfStorage, state.bytes], [bytes + 10, true, bytes + 12]);
    await soon(assertFull);
    const place = await files.attached('File', file);
    await assertServed((await files.read(place.table, place.id)).F.url, 'x'.repeat(1_000));
    await assertServed(last.url, 'the last one');
    await deleteFile(service(), last.name);
    assert.equal((await usage(files)).outOfStorage, false);
    await sendLarge(early, 'y'.repeat(10));
    assert.equal((await usage(files)).outOfStorage, true);
    await soon(assertFull);
    await quota('--none');
    await soon(async () => assert.equal((await upload(service(), 'a.txt', 'x')).status, 201));
    assert.deepEqual([(await usage(files)).quota, (await usage(files)).outOfStorage], [null, false]);
  });

  test('policies that are not used yet count; of forms that come at once those are taken that fit', async () => {
    const early = await Promise.all(Array.from({ length: 5 }, () => newPolicy(service(), 'a.txt', 10)));
    const { bytes } = await usage(files);
    await quota('--bytes', String(bytes + 75));
    const ask = (size: number) => askPolicy(service(), 'a.txt', { ContentType: 'text/plain', ContentLength: size });
    await soon(async () => assert.equal((await ask(76)).status, 400));
    const [one, other] = [await ask(12), await ask(13)];
    assert.deepEqual([one.status, other.status], [200, 200]);
    assertRefused(await ask(1), full);
    await sendLarge(one.body, 'y'.repeat(12));
    assertRefused(await ask(1), full);
    await quota('--bytes', String(bytes + 12 + 25));
    await soon(async () => assert.equal((await usage(files)).quota, bytes + 37));
    const sent = await Promise.all(early.map((policy) => sendForm(policy, 'y'.repeat(10))));
    assert.deepEqual(sent.map(({ status }) => status).sort(), [204, 204, 400, 400, 400]);
    assert.equal((await usage(files)).bytes, bytes + 32);
    await quota('--none');
    await soon(async () => assert.equal((await upload(service(), 'a.txt', 'x')).status, 201));
    // A refused form can be sent again.
    const refused = early.filter((_, at) => sent[at]?.status === 400);
    for (const policy of refused) await sendLarge(policy, 'y'.repeat(10));
  });

  test('a quota of 0 takes nothing, and is of one system', async () => {
    const other = await addSystem(service());
    await quota('--bytes', '0');
    await soon(assertFull);
    const { url } = await uploadFile({ ...service(), ...other }, 'a.txt', 'theirs');
    await assertServed(url, 'theirs');
    const theirs = await usage(files, other.appId);
    assert.deepEqual(theirs, { files: 1, bytes: 6, quota: null, outOfStorage: false });
    await quota('--none');
    await soon(async () => assert.equal((await upload(service(), 'a.txt', 'x')).status, 201));
  });

  const refused = [
    ['quota'],
    ['quota', '--system', 'nobody', '--none'],
    ['quota', '--system', 'testapp'],
    ['quota', '--system', 'testapp', '--bytes', '-1'],
    ['quota', '--system', 'testapp', '--bytes', '1.5'],
    ['quota', '--system', 'testapp', '--bytes', 'much'],
    ['usage', '--system', 'nobody'],
    ['sweep', '--system', 'nobody'],
    ['sweep', '--days', '-1'],
    ['sweep', '--days', 'x'],
  ];
  for (const args of refused)
    test(`files ${args.join(' ')}: refused with a line, and changes nothing`, async () => {
      const before = await usage(files);
      const { code, stderr } = await filesCommand(files, args);
      assert.notEqual(code, 0);
      assert.notEqual(code, null);
      assert.ok(stderr.trim().length > 0);
      assert.doesNotMatch(stderr, /\n\s+at |node_modules/);
      assert.deepEqual(await usage(files), before);
    });
}, useUnusedFiles);
